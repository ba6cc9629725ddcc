"""Leads a machine in real time: one thread, turn by turn (ADR 0185)."""

import os
import secrets
import sys
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, Final

from attrs import define, field

from delayer.engines.ports import Clock, Unavailable
from delayer.engines.process import RandomTokens, SystemClock
from delayer.engines.sqlite.database import Broken, Database
from delayer.engines.sqlite.objects import SqliteObjects
from delayer.engines.sqlite.secrets import KeyRing, KeySeal, SqliteSecrets
from delayer.http.answers import Response, unavailable
from delayer.schedule.instants import SECOND, Millis
from delayer.serve.beside.beside import AT_A_TIME
from delayer.serve.beside.events import FUNCTION, Receiver
from delayer.serve.beside.extensions import Extensions
from delayer.serve.data.space import Space
from delayer.serve.door.application import WaitingCall, deliver
from delayer.serve.suspects.suspect import Children
from delayer.serve.turns.attempts import Attempts, Pool
from delayer.serve.turns.machine import ENDS, ApiCall, Machine
from delayer.serve.turns.parts import Around, Chosen
from delayer.serve.turns.turn import TurnJob, facts_of


def around(clock: Clock, observer: Any, database: Database, keys: KeyRing) -> Around:
    """Gives a machine what it gets on a real one: its time, its chance, and secrets under keys of its own."""
    return Around(
        clock=clock,
        observer=observer,
        randomness=secrets.token_bytes,
        pick=secrets.randbelow,
        new_token=RandomTokens(),
        new_id=partial(secrets.token_hex, 16),
        objects=SqliteObjects(database=database),
        secrets=SqliteSecrets(database=database, keys=keys),
        seal=KeySeal(keys=keys),
        own_observer=getattr(observer, "with_notes", None),
    )


SWITCH: Final = 0.0005  # seconds that a thread may keep others waiting: attempts are many short steps


def log_of(path: str) -> Callable[[], int]:
    """Tells how many bytes the log of a database has. To look at its size opens nothing."""
    log = Path(f"{path}-wal")

    def size() -> int:
        try:
            return log.stat().st_size
        except FileNotFoundError:
            return 0

    return size


CALLS: Final = 64  # in one turn
LULL: Final[Millis] = 5  # whoever calls one time after the other does so sooner
READERS: Final = 2  # calls that only read what is on the disk, at a time
LONGEST_SLEEP: Final[Millis] = SECOND  # the monotonic clock stands still while the machine sleeps
PATIENCE: Final[Millis] = 30 * SECOND  # so long attempts under way are waited for at the end
LAST_TURNS: Final = 50  # for outcomes that came last, and what follows from them
AT_THE_END: Final = 0.1  # seconds between two turns
ANSWER_SECONDS: Final = 30.0
FAILS_AT_MOST: Final = 10.0  # seconds, of all turns, one after the other, before the process ends
AFTER_A_FAILURE: Final = 0.25  # seconds
KEPT_UP_EVERY: Final[Millis] = 20  # at the latest: a turn writes 1 MB, the log has room for 64


@define(kw_only=True, eq=False, slots=False)
class Leader:
    """A machine, its thread and its pool."""

    database: Database  # it is closed at the end
    observer: Any
    environment: Mapping[str, str]
    keys: KeyRing
    chosen: Chosen = field(factory=Chosen)
    attempts: int = 64
    extensions: Extensions = field(factory=Extensions)
    absent: Mapping[str, str] = field(factory=dict)
    receiver: Receiver | None = None
    space: Space | None = None  # of its disk
    ends: Callable[[int], Any] = os._exit  # the process, at once
    failed: Callable[[], None] = lambda: None  # told if the thread has ended without being told to
    inbox: "SimpleQueue[ApiCall | TurnJob | None]" = field(factory=SimpleQueue, init=False)
    ending: "SimpleQueue[ApiCall | TurnJob | None]" = field(factory=SimpleQueue, init=False)  # calls that end something
    is_stopping: bool = field(default=False, init=False)
    _ends_at: Millis = field(default=0, init=False)  # whatever is under way then; 0: it goes on
    error: BaseException | None = field(default=None, init=False)
    _answers: list[tuple[WaitingCall, Response]] = field(factory=list, init=False)
    _failing_since: float = field(default=0, init=False)
    _kept_up_at: Millis = field(default=0, init=False)

    def __attrs_post_init__(self) -> None:
        self.pool = Pool(size=self.attempts, wake=lambda: self.inbox.put(None))
        beside = AT_A_TIME * (len(self.extensions.subscribers) + len(self.extensions.policies)) + 1
        self.beside = Pool(size=beside, wake=lambda: self.inbox.put(None))
        self.readers = ThreadPoolExecutor(READERS, thread_name_prefix="reader")
        self.clock = SystemClock()
        self.machine = Machine(
            around=around(self.clock, self.observer, self.database, self.keys),
            workers_for=lambda machine: Attempts(pool=self.pool, turn=machine.turns),
            database=self.database,
            environment=self.environment,
            chosen=self.chosen,
            attempts=self.attempts,
            lull=LULL,
            extensions=self.extensions,
            absent=self.absent,
            receiver=self.receiver,
            beside_for=lambda machine: Attempts(pool=self.beside, turn=machine.turns),
        )
        ports = {"items": self.machine.items, "secrets": self.machine.around.secrets, "observer": self.observer}
        self.machine.alone = Children(
            ports={**ports, "seal": self.machine.around.seal},
            settings=self.environment,
            chosen=self.chosen,
            files=self.extensions.files,
        )
        self.upkeep = self.machine.upkeep(self.space, log_of(self.database.path)) if self.space else None
        self.thread = Thread(target=self._lead, name="turns", daemon=True)

    def submit(self, call: WaitingCall) -> None:
        """A call that has come. Its answer is delivered with all others of its turn, or read beside the turns."""
        if call.function == FUNCTION:
            self.readers.submit(self._read, call)
            return
        answer = partial(self._note, call)
        asked = ApiCall(function=call.function, request=call.request, answer=answer)
        if call.function in ENDS:
            self.ending.put(asked)
            self.inbox.put(None)
        else:
            self.inbox.put(asked)

    def _read(self, call: WaitingCall) -> None:
        deliver([(call, self.machine.read_events(call.request))])

    def _note(self, call: WaitingCall, response: Response) -> None:
        self._answers.append((call, response))

    def start(self) -> None:
        """Turns begin."""
        self._keep_up(0)
        self.thread.start()

    def in_turn(self, do: Callable[[], Any]) -> Any:
        """Does something in a turn, and returns or raises what came of it, once that is on the disk. Raises Unavailable
        if nobody knows.

        Any thread may call it but that of the turns.
        """
        answer: SimpleQueue[Any] = SimpleQueue()
        self.inbox.put(TurnJob(do=do, deliver=answer.put))
        if not self.thread.is_alive():
            raise Unavailable("the engine has ended")
        try:
            outcome = answer.get(timeout=ANSWER_SECONDS)
        except Empty:
            raise Unavailable(f"the engine has not answered within {ANSWER_SECONDS:g} seconds") from None
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def wind_down(self) -> None:
        """No attempt begins any more; calls are answered. Any thread may call it, and a signal handler."""
        self.machine.wind_down()
        self._ends_at = self._ends_at or self.clock.now() + PATIENCE
        self.inbox.put(None)

    def stop(self, waits: Callable[[int], None] = lambda _: None) -> None:
        """When no attempt is under way, or 30 seconds after `wind_down`: what is cut off then stays claimed.

        `waits` is told each second how many are under way.
        """
        self.wind_down()
        self.is_stopping = True
        while self.thread.is_alive():
            self.thread.join(timeout=1)
            if self.thread.is_alive() and self.pool.under_way:
                waits(self.pool.under_way)
        self.refuse_rest()
        self.pool.close()
        self.beside.close()
        self.readers.shutdown()
        if not self.error:
            with suppress(Unavailable):  # then it seems to have ended otherwise, which harms little
                self.machine.lives.end()
        self.machine.database.close()

    def refuse_rest(self) -> None:
        """Nobody waits for what nobody will do."""
        ended = Unavailable("the engine has ended")
        left = [*self.machine.waiting_calls, *_taken(self.ending, sys.maxsize, 0), *_taken(self.inbox, sys.maxsize, 0)]
        for one in left:
            if isinstance(one, TurnJob):
                one.deliver(ended)
            else:
                one.answer(unavailable())
        self._deliver()

    def _has_ended(self) -> bool:
        return self.is_stopping and (not self.pool.under_way or self.clock.now() >= self._ends_at)

    def _lead(self) -> None:
        sys.setswitchinterval(SWITCH)
        try:
            calls: list[ApiCall | TurnJob] = []
            while not self._has_ended():
                calls = self.collect(self._go_on(calls))
            for _ in range(LAST_TURNS):
                if not self._turn(calls) and self._has_ended():
                    break
                calls = self.collect(AT_THE_END if self.pool.under_way else 0)
            else:
                self.machine.waiting_calls += calls
        except BaseException as error:  # noqa: BLE001 - whoever waits for this thread is told
            if broken := self.machine.database.broken:
                self._end(broken)
            self.error = error
            self.failed()

    def _go_on(self, calls: list[ApiCall | TurnJob]) -> float:
        """A turn. Returns the seconds until the next one, unless something comes.

        What cannot be read although nothing is broken, as for want of memory, can perhaps in a moment. If not, the
        process had better begin anew; so it had after a defect.
        """
        try:
            seconds = 0 if self._turn(calls) else self._seconds()
            self._keep_up(round(seconds * SECOND) if self.inbox.empty() else 0)
        except Unavailable as error:
            if broken := self.machine.database.broken:
                raise broken from error
            now = time.monotonic()
            self._failing_since = self._failing_since or now
            if now - self._failing_since > FAILS_AT_MOST:
                raise
            self.observer.warn("a turn was given up: it is tried again", **facts_of(error))
            time.sleep(AFTER_A_FAILURE)
            return 0
        self._failing_since = 0
        return seconds

    def _keep_up(self, gap: Millis) -> None:
        """While one turn follows the other, not after each."""
        now = self.clock.now()
        if self.machine.database.broken:  # another thread has met it
            raise self.machine.database.broken
        if self.upkeep and (gap or not 0 <= now - self._kept_up_at < KEPT_UP_EVERY):
            self._kept_up_at = now
            self.upkeep.turn(gap)

    def _end(self, broken: Broken) -> None:
        """Nothing is closed: what SQLite would write then may be wrong."""
        self.observer.warn("the database cannot be trusted any more, so the engine has ended", error=str(broken))
        self.ends(1)

    def _turn(self, calls: list[ApiCall | TurnJob]) -> bool:
        """One, and its answers. Whether there was anything to do."""
        if self._ends_at:
            self.machine.wind_down()
        try:
            return self.machine.turn(calls)
        finally:
            self._deliver()

    def _deliver(self) -> None:
        if self._answers:
            answers, self._answers = self._answers, []
            deliver(answers)

    def _seconds(self) -> float:
        """Until there is something to do, unless something comes. What is due is left alone at the end."""
        if self._ends_at:
            return AT_THE_END
        following = self.machine.next_at()
        left = LONGEST_SLEEP if following is None else following - self.clock.now()
        return max(0, min(left, LONGEST_SLEEP)) / SECOND

    def collect(self, seconds: float) -> list[ApiCall | TurnJob]:
        """Those that end something overtake the others. No more is taken along than the machine may soon answer."""
        most = CALLS - len(self.machine.waiting_calls)
        calls = _taken(self.inbox, most, seconds) if most > 0 else []
        return [*_taken(self.ending, CALLS, 0), *calls]


def _taken(inbox: "SimpleQueue[ApiCall | TurnJob | None]", at_most: int, seconds: float) -> list[ApiCall | TurnJob]:
    """Takes what there is now; or, if there is nothing, what comes first within these seconds."""
    taken: list[ApiCall | TurnJob] = []
    with suppress(Empty):
        one = inbox.get(timeout=seconds) if seconds > 0 else inbox.get_nowait()
        while True:
            taken += [] if one is None else [one]
            if len(taken) >= at_most:
                break
            one = inbox.get_nowait()
    return taken
