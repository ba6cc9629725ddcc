"""Leads a machine in real time: one thread, turn by turn (ADR 0185)."""

import secrets
import sys
from collections.abc import Callable, Mapping
from functools import partial
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, Final

from attrs import define, field

from delayer.engines.process import SystemClock, random_token
from delayer.engines.ports import Clock
from delayer.engines.sqlite.database import Database
from delayer.engines.sqlite.objects import SqliteObjects
from delayer.engines.sqlite.secrets import KeyRing, KeySeal, SqliteSecrets
from delayer.http.answers import Response
from delayer.schedule.instants import SECOND, Millis
from delayer.serve.attempts import Attempts, Pool
from delayer.serve.door.application import Call, deliver
from delayer.serve.machine import LAYOUT, ApiCall, Machine
from delayer.serve.parts import Around


def around(clock: Clock, observer: Any, database: Database, keys: KeyRing) -> Around:
    """What a machine gets on a real one: its time, its chance, and secrets under keys of its own."""
    return Around(
        clock=clock,
        observer=observer,
        randomness=secrets.token_bytes,
        pick=secrets.randbelow,
        new_token=random_token,
        new_id=partial(secrets.token_hex, 16),
        objects=SqliteObjects(database=database),
        secrets=SqliteSecrets(database=database, keys=keys),
        seal=KeySeal(keys=keys),
    )


SWITCH: Final = 0.0005  # seconds that a thread may keep others waiting: attempts are many short steps
CALLS: Final = 64  # in one turn
LONGEST_SLEEP: Final[Millis] = SECOND  # the monotonic clock stands still while the machine sleeps


@define(kw_only=True, eq=False, slots=False)
class Leader:
    """A machine, its thread and its pool."""

    path: str
    observer: Any
    environment: Mapping[str, str]
    keys: KeyRing
    attempts: int = 64
    failed: Callable[[], None] = lambda: None  # told if the thread has ended without being told to
    inbox: "SimpleQueue[ApiCall | None]" = field(factory=SimpleQueue, init=False)
    is_stopping: bool = field(default=False, init=False)
    error: BaseException | None = field(default=None, init=False)
    _answers: list[tuple[Call, Response]] = field(factory=list, init=False)

    def __attrs_post_init__(self) -> None:
        self.pool = Pool(size=self.attempts, wake=lambda: self.inbox.put(None))
        self.clock = SystemClock()
        self.machine = Machine(
            around=around(self.clock, self.observer, database := Database(path=self.path, layout=LAYOUT), self.keys),
            workers_for=lambda machine: Attempts(pool=self.pool, turn=machine.turns),
            database=database,
            environment=self.environment,
            attempts=self.attempts,
        )
        self.thread = Thread(target=self._lead, name="turns", daemon=True)

    def submit(self, call: Call) -> None:
        """A call that has come. Its answer is delivered with all others of its turn."""
        answer = partial(self._note, call)
        self.inbox.put(ApiCall(function=call.function, request=call.request, answer=answer))

    def _note(self, call: Call, response: Response) -> None:
        self._answers.append((call, response))

    def start(self) -> None:
        """Turns begin."""
        self.thread.start()

    def stop(self) -> None:
        """After the turn that is under way."""
        self.is_stopping = True
        self.inbox.put(None)
        if self.thread.is_alive():
            self.thread.join()
        self.pool.close()
        self.machine.database.close()

    def _lead(self) -> None:
        sys.setswitchinterval(SWITCH)
        try:
            calls: list[ApiCall] = []
            while not self.is_stopping:
                moved = self.machine.turn(calls)
                if self._answers:
                    answers, self._answers = self._answers, []
                    deliver(answers)
                calls = self._collect(0 if moved else self._seconds())
        except BaseException as error:  # noqa: BLE001 - whoever waits for this thread is told
            self.error = error
            self.failed()

    def _seconds(self) -> float:
        """Until there is something to do, unless something comes."""
        following = self.machine.next_at()
        left = LONGEST_SLEEP if following is None else following - self.clock.now()
        return max(0, min(left, LONGEST_SLEEP)) / SECOND

    def _collect(self, seconds: float) -> list[ApiCall]:
        calls: list[ApiCall] = []
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
