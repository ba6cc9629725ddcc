"""Threads that do things side by side for one that leads (ADR 0180).

Python cannot end a thread. One that hangs is left behind; when there are many, the next invocation begins in a new
execution environment. A thread that has done something does the next thing, too: to start one costs more than many an
attempt does.
"""

import os
import time
from collections.abc import Callable
from contextvars import Context
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, Final

from attrs import define, field

from delayer.schedule.instants import SECOND, Millis

NAME: Final = "worker"  # of its threads
MOST_LEFT_BEHIND: Final = 100  # Lambda allows 1,024 threads
MOST_IDLE: Final = 20  # threads that wait for something to do; a batch has ten messages

Do = Callable[[], Any]


class Worker:
    """Does one thing after the other."""

    def __init__(self, ended: "SimpleQueue[tuple[Worker | None, int, Any]]") -> None:
        self._orders: SimpleQueue[tuple[int, Do] | None] = SimpleQueue()
        self._ended = ended
        self.thread = Thread(target=self._work, name=NAME, daemon=True)
        self.thread.start()

    def begin(self, number: int, do: Do) -> None:
        """In this thread."""
        self._orders.put((number, do))

    def end(self) -> None:
        """After what it does now."""
        self._orders.put(None)

    def _work(self) -> None:
        while order := self._orders.get():
            number, do = order
            self._ended.put((self, number, outcome_of(do)))
            del order, do  # the next one may be long in coming


def outcome_of(do: Do) -> Any:
    """The result, or what was raised. What it sets in its context is its own."""
    try:
        return Context().run(do)
    except BaseException as error:  # noqa: BLE001 - it is raised where it is waited for
        return error


@define
class WorkerThreads:
    """Port Workers, with threads."""

    leave: Callable[[int], object] = os._exit  # the messages of the batch come again; nothing has begun with them
    _idle: list[Worker] = field(factory=list, init=False)
    _busy: dict[int, Worker | None] = field(factory=dict, init=False)
    _left_behind: list[Thread] = field(factory=list, init=False)
    _ended: "SimpleQueue[tuple[Worker | None, int, Any]]" = field(factory=SimpleQueue, init=False)

    def begin(self) -> None:
        """If too many threads of earlier invocations still hang, this process ends instead.

        What an invocation that failed has begun is left behind: its end is nobody's any more.
        """
        if self._busy:
            self._begin_anew()
        self._left_behind = [thread for thread in self._left_behind if thread.is_alive()]
        if len(self._left_behind) >= MOST_LEFT_BEHIND:
            self.leave(1)

    def _begin_anew(self) -> None:
        for number in [number for number, worker in self._busy.items() if worker]:
            self.leave_behind(number)
        for worker in self._idle:
            worker.end()
        self._busy.clear()
        self._idle.clear()
        self._ended = SimpleQueue()

    def start(self, number: int, do: Do) -> None:
        worker = self._busy[number] = self._idle.pop() if self._idle else Worker(self._ended)
        worker.begin(number, do)

    def do(self, number: int, do: Do) -> None:
        self._busy[number] = None
        self._ended.put((None, number, outcome_of(do)))

    def ended(self, until: Millis | None) -> list[tuple[int, Any]]:
        found: list[tuple[int, Any]] = []
        try:
            self._take(found, None if until is None else max(until - time.time_ns() // 1_000_000, 0) / SECOND)
            while True:
                self._take(found, 0)
        except Empty:
            return found

    def leave_behind(self, number: int) -> None:
        worker = self._busy.pop(number)
        assert worker
        worker.end()
        self._left_behind.append(worker.thread)

    def _take(self, found: list[tuple[int, Any]], seconds: float | None) -> None:
        """One that has ended and was not left behind, if there is one in time. Raises Empty."""
        worker, number, outcome = self._ended.get(timeout=seconds)
        if self._busy.get(number, self) is not worker:
            return  # left behind
        del self._busy[number]
        found.append((number, outcome))
        if worker and len(self._idle) < MOST_IDLE:
            self._idle.append(worker)
        elif worker:
            worker.end()
