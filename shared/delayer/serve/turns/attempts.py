"""The pool of attempts: threads that reach targets, for one thread that leads (ADR 0180, 0186)."""

from collections.abc import Callable
from contextvars import Context
from functools import partial
from queue import SimpleQueue
from threading import Thread
from typing import Any

from attrs import define, field

from delayer.engines.sqlite.database import Unwritten
from delayer.schedule.instants import Millis
from delayer.serve.turns.turn import Turn

Do = Callable[[], Any]
NAME = "attempt"


@define(kw_only=True, eq=False)
class Pool:
    """So many threads, started as they are needed."""

    size: int
    wake: Callable[[], None]
    _orders: "SimpleQueue[tuple[Attempts, int, Do] | None]" = field(factory=SimpleQueue, init=False)
    _threads: list[Thread] = field(factory=list, init=False)
    under_way: int = field(default=0, init=False)  # also those that wait for a thread

    def start(self, of: "Attempts", number: int, do: Do) -> None:
        """Does it as soon as there is a thread. Its outcome, or what it raises, comes back to `of`.

        Raises RuntimeError if there can be no further thread.
        """
        if len(self._threads) < min(self.under_way + 1, self.size):
            thread = Thread(target=self._work, name=NAME, daemon=True)
            thread.start()  # RuntimeError: nothing has begun, and nothing is counted
            self._threads.append(thread)
        self.under_way += 1
        self._orders.put((of, number, do))

    def _work(self) -> None:
        while order := self._orders.get():
            of, number, do = order
            try:
                outcome = Context().run(do)
            except BaseException as error:  # noqa: BLE001 - it is raised where it is waited for
                outcome = error
            of.come_back.put((number, outcome))
            del order, of, do, outcome
            self.wake()

    def close(self) -> None:
        """Ends the threads after what they do now; none is waited for.

        What has begun comes back all the same.
        """
        for _ in self._threads:
            self._orders.put(None)


@define(kw_only=True, eq=False)
class Attempts:
    """Port Workers, for one executor: attempts in the pool, requests in the turn of the thread that leads."""

    pool: Pool
    turn: Turn
    come_back: "SimpleQueue[tuple[int, Any]]" = field(factory=SimpleQueue, init=False)
    _ended: list[tuple[int, Any]] = field(factory=list, init=False)
    _unwritten: list[tuple[int, Do]] = field(factory=list, init=False)  # requests that stay for the next turn
    _under_way: set[int] = field(factory=set, init=False)
    come: int = field(default=0, init=False)  # since somebody has looked

    def begin(self) -> None:
        """Nothing: there is one invocation, which lasts as long as the process."""

    def start(self, number: int, do: Do) -> None:
        self.pool.start(self, number, do)
        self._under_way.add(number)

    def do(self, number: int, do: Do) -> None:
        """The answer comes when it is on the disk, however long that takes."""
        if self.turn.is_spent:
            self._unwritten.append((number, do))
            return
        self.turn.do(do, partial(self._has_done, number, do))

    def _has_done(self, number: int, do: Do, outcome: Any) -> None:
        if isinstance(outcome, Unwritten):
            self._unwritten.append((number, do))
        else:
            self._ended.append((number, outcome))

    def ended(self, until: Millis | None) -> list[tuple[int, Any]]:  # noqa: ARG002 - nobody waits here
        again, self._unwritten = self._unwritten, []
        for number, do in again:
            self.do(number, do)
        found, self._ended = self._ended, []
        while not self.come_back.empty():
            number, outcome = self.come_back.get()
            self.pool.under_way -= 1
            self.come += 1
            if number in self._under_way:
                self._under_way.discard(number)
                found.append((number, outcome))
        return found

    def left(self) -> int:
        """How many have come to their end since it was asked last."""
        number, self.come = self.come, 0
        return number

    def leave_behind(self, number: int) -> None:
        self._under_way.discard(number)
