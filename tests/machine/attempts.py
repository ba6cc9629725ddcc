"""Attempts in virtual time: each is a greenlet, so that it can take its time, and end with its process."""

from collections import deque
from collections.abc import Callable
from typing import Any

from attrs import define, field
from greenlet import GreenletExit, getcurrent, greenlet

from delayer.schedule.instants import Millis
from delayer.serve.turns.attempts import Attempts, Pool
from tests.machine.disk import Killed

Do = Callable[[], Any]
At = Callable[[Millis, Do], None]


@define(kw_only=True, eq=False)
class VirtualPool(Pool):
    """As the real one: so many at a time, the others wait for their turn."""

    soon: At  # lets something happen in so many milliseconds, between two turns
    latency: Callable[[], Millis]  # until a thread begins what it was given
    killed: Do  # told if the process is killed within an attempt
    commits: Callable[[], int]  # how many there were
    begun: int = field(default=0, init=False)  # after how many commits the attempt was begun that runs now
    _waiting: deque[tuple[Attempts, int, Do, int]] = field(factory=deque, init=False)
    _running: dict[greenlet, None] = field(factory=dict, init=False)
    _is_closed: bool = field(default=False, init=False)

    def start(self, of: Attempts, number: int, do: Do) -> None:
        self.under_way += 1
        self._waiting.append((of, number, do, self.commits()))
        self.soon(self.latency(), self._next)

    def _next(self) -> None:
        if self._waiting and len(self._running) < self.size and not self._is_closed:
            of, number, do, self.begun = self._waiting.popleft()
            thread = greenlet(lambda: self._run(of, number, do))
            self._running[thread] = None
            self._go_on(thread)

    def _run(self, of: Attempts, number: int, do: Do) -> None:
        try:
            outcome = do()
        except (Killed, GreenletExit):
            raise
        except BaseException as error:  # noqa: BLE001 - it is raised where it is waited for
            outcome = error
        of.come_back.put((number, outcome))

    def _go_on(self, thread: greenlet) -> None:
        if self._is_closed:
            return
        try:
            thread.switch()
        except Killed:
            self.killed()
            return
        if thread.dead:
            self._running.pop(thread, None)
            self.soon(0, self._next)
            self.wake()

    def wait(self, time: Millis) -> None:
        """Of an attempt: its target takes so long."""
        thread = getcurrent()
        self.soon(time, lambda: self._go_on(thread))
        assert thread.parent
        thread.parent.switch()

    def close(self) -> None:
        """The process is no more, and what it did with it."""
        self._is_closed = True
        threads, self._running = self._running, {}
        for thread in threads:
            if thread and thread is not getcurrent():
                thread.throw(GreenletExit)
