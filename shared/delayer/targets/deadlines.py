"""Connections are cut at their deadlines, whatever they wait for then: by one thread for all of them.

The timeout of a socket starts again with each byte: a whole batch would wait for a target that answers byte by byte.
"""

import socket
from contextlib import suppress
from functools import cache
from threading import Condition, Thread
from time import monotonic
from typing import Final

from attrs import define, field

NAME: Final = "deadlines"  # of the thread


@define(eq=False)
class Deadlines:
    """Of the connections that are open. The thread is started with the first."""

    _open: dict[int, tuple[float, socket.socket]] = field(factory=dict, init=False)
    _looks_at: float = field(default=float("inf"), init=False)  # when the thread looks next
    _count: int = field(default=0, init=False)
    _thread: Thread | None = field(default=None, init=False)
    _changed: Condition = field(factory=Condition, init=False)

    def watch(self, connected: socket.socket, deadline: float) -> int:
        """Cuts it as soon as the deadline (monotonic) has passed; a number, by which that can be changed.

        A duplicate of the socket is cut: TLS may use the original at that moment. Raises OSError, or RuntimeError if
        there can be no thread.
        """
        guard = connected.dup()
        try:
            with self._changed:
                self._see_to_thread()
                self._count += 1
                self._set(self._count, deadline, guard)
                return self._count
        except RuntimeError:
            guard.close()
            raise

    def move(self, number: int, deadline: float) -> None:
        """Another deadline takes the place of the one before."""
        with self._changed:
            self._set(number, deadline, self._open[number][1])

    def forget(self, number: int) -> None:
        """It is not cut any more: by now its own number may be another file's."""
        with self._changed:
            self._open.pop(number)[1].close()

    def _set(self, number: int, deadline: float, guard: socket.socket) -> None:
        self._open[number] = (deadline, guard)
        if deadline < self._looks_at:  # mostly a later one comes: then the thread sleeps on
            self._changed.notify()

    def _see_to_thread(self) -> None:
        """Raises RuntimeError if there can be none now. The next connection tries again."""
        if self._thread is None or not self._thread.is_alive():
            thread = Thread(target=self._cut_forever, name=NAME, daemon=True)
            thread.start()
            self._thread = thread

    def _cut_forever(self) -> None:
        with self._changed:
            while True:
                self._looks_at = min((deadline for deadline, _ in self._open.values()), default=float("inf"))
                left = self._looks_at - monotonic()
                if left > 0:
                    self._changed.wait(None if left == float("inf") else left)
                self._cut_what_is_over(monotonic())

    def _cut_what_is_over(self, now: float) -> None:
        for number, (deadline, guard) in self._open.items():
            if deadline <= now:
                with suppress(OSError):
                    guard.shutdown(socket.SHUT_RDWR)
                self._open[number] = (float("inf"), guard)


@cache
def deadlines() -> Deadlines:
    """Of this process."""
    return Deadlines()
