"""How long an attempt may take, whatever it waits for: its neighbours in the batch have a deadline (ADR 0020).

Python cannot end a thread. One that hangs is left behind; when there are many, the next invocation begins in a new
execution environment.

A thread that has made an attempt makes the next one, too: to start one costs more than many an attempt does.
"""

import os
from collections.abc import Callable
from contextvars import Context
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any, Final, TypeVar

from attrs import define, field

Outcome = TypeVar("Outcome")

NAME: Final = "attempt"  # of its threads
MOST_LEFT_BEHIND: Final = 100  # Lambda allows 1,024 threads
MOST_IDLE: Final = 20  # threads that wait for another attempt; a batch has ten


class TookTooLong(Exception):
    """A call that has not ended in time. Nobody knows whether it still does something."""


class AttemptThread:
    """Makes one attempt after the other."""

    def __init__(self) -> None:
        self._orders: SimpleQueue[Callable[[], Any] | None] = SimpleQueue()
        self._end = Lock()  # the attempt that ends lets it go, and whoever waits for it takes it: cheaper than an event
        self._end.acquire()
        self._outcome: tuple[Any, BaseException | None] = (None, None)
        self.thread = Thread(target=self._work, name=NAME, daemon=True)
        self.thread.start()

    def begin(self, do: Callable[[], Any]) -> None:
        """In this thread."""
        self._orders.put(do)

    def wait(self, seconds: float) -> bool:
        """For the end of the attempt, so long at most. Whether it has come; to be asked until then."""
        return self._end.acquire(timeout=seconds)

    def result(self) -> Any:
        """Returns the result, or raises the error."""
        (outcome, error), self._outcome = self._outcome, (None, None)
        try:
            if error:
                raise error
            return outcome
        finally:
            del error  # or it and this frame would hold each other, with all that the attempt had

    def end(self) -> None:
        """After the attempt that it makes now."""
        self._orders.put(None)

    def _work(self) -> None:
        while do := self._orders.get():
            try:
                self._outcome = (Context().run(do), None)  # what an attempt sets there is its own
            except BaseException as error:  # noqa: BLE001 - it is raised where it is waited for
                self._outcome = (None, error)
            del do  # the next one may be long in coming
            self._end.release()


@define
class TimeLimit:
    """Of each attempt in this execution environment."""

    leave: Callable[[int], object] = os._exit  # the messages of the batch come again; nothing has begun with them
    _idle: list[AttemptThread] = field(factory=list, init=False)
    _left_behind: list[Thread] = field(factory=list, init=False)
    _lock: Lock = field(factory=Lock, init=False)

    def within(self, seconds: float, do: Callable[[], Outcome]) -> Outcome:
        """Returns the result, or raises the error. Raises TookTooLong."""
        one = self._thread()
        one.begin(do)
        if not one.wait(seconds):
            one.end()
            with self._lock:
                self._left_behind.append(one.thread)
            raise TookTooLong
        try:
            outcome: Outcome = one.result()
            return outcome
        finally:
            self._keep(one)

    def _thread(self) -> AttemptThread:
        with self._lock:
            if self._idle:
                return self._idle.pop()
        return AttemptThread()

    def _keep(self, one: AttemptThread) -> None:
        with self._lock:
            if len(self._idle) < MOST_IDLE:
                self._idle.append(one)
                return
        one.end()

    def begin(self) -> None:
        """An invocation begins. If too many threads of earlier ones still hang, this process ends instead."""
        with self._lock:
            self._left_behind = [thread for thread in self._left_behind if thread.is_alive()]
            if len(self._left_behind) >= MOST_LEFT_BEHIND:
                self.leave(1)
