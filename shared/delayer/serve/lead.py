"""Leads a machine in real time: one thread, turn by turn."""

import secrets

from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, Final

from attrs import define, field

from delayer.engines.process import SystemClock, random_token
from delayer.engines.sqlite.database import Database
from delayer.schedule.instants import SECOND, Millis
from delayer.serve.attempts import Attempts, Pool
from delayer.serve.machine import LAYOUT, Call, Machine

CALLS: Final = 64  # in one turn
LONGEST_SLEEP: Final[Millis] = SECOND  # the monotonic clock stands still while the machine sleeps


@define(kw_only=True, eq=False, slots=False)
class Leader:
    """A machine, its thread and its pool."""

    path: str
    observer: Any
    attempts: int = 64
    inbox: "SimpleQueue[Call | None]" = field(factory=SimpleQueue, init=False)
    is_stopping: bool = field(default=False, init=False)

    def __attrs_post_init__(self) -> None:
        self.pool = Pool(size=self.attempts, wake=lambda: self.inbox.put(None))
        self.clock = SystemClock()
        self.machine = Machine(
            clock=self.clock,
            observer=self.observer,
            workers_for=lambda machine: Attempts(pool=self.pool, turn=machine.turn_of_all),
            randomness=secrets.token_bytes,
            pick=secrets.randbelow,
            new_token=random_token,
            new_id=lambda: secrets.token_hex(16),
            database=Database(path=self.path, layout=LAYOUT),
            attempts=self.attempts,
        )
        self.thread = Thread(target=self._lead, name="turns", daemon=True)

    def start(self) -> None:
        """Turns begin."""
        self.thread.start()

    def stop(self) -> None:
        """After the turn that is under way."""
        self.is_stopping = True
        self.inbox.put(None)
        self.thread.join()
        self.pool.close()

    def _lead(self) -> None:
        calls: list[Call] = []
        while not self.is_stopping:
            moved = self.machine.turn(calls)
            calls = self._collect(0 if moved else self._seconds())

    def _seconds(self) -> float:
        """Until there is something to do, unless something comes."""
        following = self.machine.next_at()
        left = LONGEST_SLEEP if following is None else following - self.clock.now()
        return max(0, min(left, LONGEST_SLEEP)) / SECOND

    def _collect(self, seconds: float) -> list[Call]:
        calls: list[Call] = []
        try:
            one = self.inbox.get(timeout=seconds) if seconds > 0 else self.inbox.get_nowait()
            while True:
                if one is not None:
                    calls.append(one)
                    if len(calls) >= CALLS:
                        return calls
                one = self.inbox.get_nowait()
        except Empty:
            return calls


