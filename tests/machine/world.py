"""A machine in virtual time: its lives on one disk, its targets and its clients, all by one seed."""

import json
from collections import Counter
from collections.abc import Callable
from functools import partial
from heapq import heappop, heappush
from typing import Any, Final

from attrs import define, field

from delayer.actions.rules.model import Done, Refused, Result, Retry
from delayer.engines.memory import MemoryObserver, MemorySecrets
from delayer.engines.ports import Unavailable
from delayer.engines.sqlite.database import Database
from delayer.engines.sqlite.objects import SqliteObjects
from delayer.engines.sqlite.secrets import KeyRing, KeySeal
from delayer.http.answers import Response
from delayer.schedule.instants import MINUTE, SECOND, Millis
from delayer.schedule.messages import ExecutorMessage
from delayer.serve.turns.attempts import Attempts
from delayer.serve.turns.lead import LULL
from delayer.serve.turns.machine import LAYOUT, ApiCall, Machine
from delayer.serve.turns.parts import Around
from tests.machine.asked import Asked
from tests.machine.attempts import VirtualPool
from tests.machine.clients import HOSTS, LONG, OPERATOR, Ask, Clients
from tests.machine.disk import FULL, PATH, Disk, Killed, in_memory
from tests.machine.promise import Promise
from tests.machine.watch import Report, Watch
from tests.machine.weather import LENGTH, Weather
from tests.simulation.engine.chance import Chance

START: Final[Millis] = 1_798_761_600_000 + 7 * MINUTE
SETTINGS: Final = {"API_AUTHORIZATION": "NONE", "ALLOW_PRIVATE_TARGETS": "true", "PRIVATE_TARGETS": ""}
TOGETHER: Final = 64  # calls in a turn
AFTERWARDS: Final[Millis] = 12 * MINUTE  # more than everything takes that has waited
TURNS: Final = 60_000  # of a story; then it spins
AT_ONCE: Final[Millis] = 5 * SECOND  # more than it takes to take up what was under way
LOOKS: Final = 9  # at the clock, in a millisecond


@define(eq=False)
class WorldClock:
    """The time of the machine: a moving one, which may be set. A look at it takes a moment."""

    true: Millis
    ahead: Millis = 0
    _looks: int = 0

    def now(self) -> Millis:
        """As the port."""
        self._looks += 1
        if self._looks % LOOKS == 0:
            self.true += 1
        return self.true + self.ahead

    @property
    def here(self) -> Millis:
        """The same, and no time passes."""
        return self.true + self.ahead

    def sleep_until(self, instant: Millis) -> None:
        """Nobody does."""
        raise AssertionError(f"somebody sleeps until {instant}")


class Observer(MemoryObserver):
    """Whatever warns of an error of our own is a defect."""

    def __init__(self, watch: Watch) -> None:
        super().__init__()
        self.watch = watch

    def note(self, event: str, schedule_id: str = "", **facts: object) -> None:
        """Only in a story that is told."""

    def warn(self, event: str, schedule_id: str = "", **facts: object) -> None:
        """As the port."""
        error = str(facts.get("error", ""))
        self.watch.say(f"machine: {event} {self.watch.name(schedule_id) if schedule_id else ''} {facts}")
        if error and not any(known in error for known in ("Unavailable", "was undone", FULL)):
            self.watch.fail(Promise.NO_DEFECT, f"{event}: {error}")


@define(eq=False, kw_only=True)
class World:
    """One story. `play` plays it, up to its end or to the first promise that is broken."""

    chance: Chance
    weather: Weather
    acts: int = 22
    length: Millis = LENGTH
    afterwards: Millis = AFTERWARDS
    long_retries: float = 0.05
    base: Any = field(factory=in_memory)
    report: Callable[[Report], None] = lambda _: None
    machine: Machine | None = None
    clock: WorldClock = field(init=False, factory=lambda: WorldClock(START))
    watch: Watch = field(init=False)
    asked: Asked = field(init=False)
    disk: Disk = field(init=False)
    clients: Clients = field(init=False)
    pool: VirtualPool | None = field(init=False, default=None)
    inbox: list[Ask] = field(init=False, factory=list)
    answered: Counter[str] = field(init=False, factory=Counter)  # calls, by the function
    lives: int = field(init=False, default=0)
    turns: int = field(init=False, default=0)
    calm: bool = field(init=False, default=False)
    _pending: dict[int, Ask] = field(init=False, factory=dict)  # calls in a turn
    _events: list[tuple[Millis, int, Callable[[], None]]] = field(init=False, factory=list)
    _number: int = field(init=False, default=0)
    _down: dict[str, tuple[Millis, Millis]] = field(init=False, factory=dict)
    _full: tuple[Millis, Millis] = field(init=False, default=(0, 0))
    _kills_at: Millis = field(init=False, default=0)

    def __attrs_post_init__(self) -> None:
        self.watch = Watch(
            now=lambda: self.clock.here,
            true_time=lambda: self.clock.true - START,
            is_dirty=lambda: self.disk.is_dirty,
            commits=lambda: self.disk.commits,
            is_fair=self.weather.is_fair,
            report=self.report,
        )
        self.disk = Disk(
            committed=self.watch.committed,
            fails=self._is_full,
            undoes=lambda: self.chance.part("undoes") < 0.5,
            refused=self.watch.refused,
            base=self.base,
        )
        weather = self.weather
        self.asked = Asked(
            watch=self.watch,
            is_steady=not (weather.kills or weather.full or weather.full_for_long or weather.jumps),
            clock_is_set=bool(weather.jumps),
        )
        self.clients = Clients(
            chance=self.chance,
            watch=self.watch,
            asked=self.asked,
            long_retries=self.long_retries,
            now=lambda: self.clock.here,
            ask=self.inbox.append,
            at=self.soon,
            acts=self.acts,
            length=self.length,
        )

    # ------------------------------------------------------------ time

    def soon(self, after: Millis, do: Callable[[], None]) -> None:
        """Lets something happen, between two turns."""
        self._number += 1
        heappush(self._events, (self.clock.true + after, self._number, do))

    def play(self) -> None:
        """All of it."""
        self._forecast()
        self.clients.plan()
        self.begin()
        self.run_until(START + self.length)
        self.end()

    def end(self) -> None:
        """Nothing goes wrong any more, and all comes to its end."""
        self.calm = self.chance.calm = True
        self.disk.kill_in = self.disk.kill_at_commit = self._kills_at = 0
        self.run_until(self.clock.true + self.afterwards + (LONG * SECOND if self.clients.has_long else 0))
        if not self.watch.broken:
            self.watch.at_the_end()
            self.asked.at_the_end()
            self._check_series()
            self._check_histories()

    def run_until(self, until: Millis) -> None:
        """From one thing that happens to the next."""
        while not self.watch.broken and self.clock.true <= until:
            self._happen()
            moved = self.machine is not None and self._turn()
            if moved or self._is_due():
                self.clock.true += 1
                continue
            self.clock.true = max(self.clock.true + 1, min(self._next(), until + 1))

    def _is_due(self) -> bool:
        return bool(self._events and self._events[0][0] <= self.clock.true)

    def _happen(self) -> None:
        while self._is_due() and not self.watch.broken:
            heappop(self._events)[2]()
        if self._kills_at and self.clock.true >= self._kills_at and self.machine:
            self._kill("between two turns")

    def _next(self) -> Millis:
        instants = [self.clock.true + MINUTE, *(one[0] for one in self._events[:1])]
        if self._kills_at:
            instants.append(self._kills_at)
        if self.machine:
            try:
                following = self.machine.next_at()
            except Killed:
                self._kill("while it looks what comes next")
                return self.clock.true
            if following is not None:
                instants.append(following - self.clock.ahead)
        return min(instants)

    # ------------------------------------------------------------ the machine

    def begin(self) -> None:
        """A new life, on what the disk has."""
        self.lives += 1
        self.watch.say(f"machine: life {self.lives} begins")
        self.disk.crash()
        self._choose_end()
        pool = VirtualPool(
            size=self.weather.attempts,
            wake=lambda: None,
            soon=self.soon,
            latency=lambda: self.chance.one_of("latency", (0, 0, 0, 1, 4)),
            killed=lambda: self._kill("within an attempt"),
            commits=lambda: self.disk.commits,
        )
        self.pool = pool
        try:
            database = Database(path=PATH, layout=LAYOUT, connect=self.disk.connect)
            self.machine = Machine(
                around=self._around(database),
                workers_for=lambda machine: Attempts(pool=pool, turn=machine.turns),
                database=database,
                environment=SETTINGS,
                attempts=self.weather.attempts,
                lull=LULL,
                targets=lambda _kind: self._target,
            )
            self._look_for_former_lives()
        except Killed:
            self._kill("while it begins")
        except Unavailable as error:
            self.watch.say(f"machine: cannot begin: {error}")
            self._kill("as it cannot begin")

    def _look_for_former_lives(self) -> None:
        """What was under way is attempted at once, if its target lets it."""
        life, weather = self.lives, self.weather
        if weather.outages or weather.hangs or weather.jumps or weather.attempts < 64:
            return
        former = self.watch.under_way()

        def look() -> None:
            if life == self.lives and self.machine and not self.watch.refused_at:
                self.watch.check_taken_up(former)

        self.soon(AT_ONCE, look)

    def _around(self, database: Database) -> Around:
        numbers = iter(range(1, 1_000_000))

        def randomness(number: int) -> bytes:
            return f"{self.lives}/{next(numbers)}".encode().ljust(number, b".")[-number:]

        def token() -> str:
            return f"n{self.lives}-{next(numbers)}"

        return Around(
            clock=self.clock,
            observer=Observer(self.watch),
            randomness=randomness,
            pick=lambda below: self.chance.whole("pick", 0, below - 1),
            new_token=token,
            new_id=lambda: f"{self.lives:08x}{next(numbers):024x}",
            objects=SqliteObjects(database=database),
            secrets=MemorySecrets(),
            seal=KeySeal(keys=KeyRing(keys=(b"k" * 32,))),
        )

    def _turn(self) -> bool:
        assert self.machine
        self.turns += 1
        if self.turns > TURNS:
            self.watch.fail(Promise.NO_DEFECT, "it does turn after turn, and comes to no end")
        asked, self.inbox[:] = self.inbox[:TOGETHER], self.inbox[TOGETHER:]
        self._pending = dict(enumerate(asked))
        calls = [self._call(number, one) for number, one in self._pending.items() if one.function != OPERATOR]
        try:
            moved = self.machine.turn(calls)
            for number, one in list(self._pending.items()):
                if one.function == OPERATOR:
                    self._operate(number, one)
            if self._pending:
                self.watch.fail(Promise.NO_DEFECT, "a call has no answer after its turn")
        except Killed:
            self._kill("in a turn")
            return True
        except Exception as error:  # noqa: BLE001 - whatever ends the thread of turns
            self.watch.fail(Promise.NO_DEFECT, f"a turn raises {error!r}")
            return True
        return moved or bool(asked)

    def _call(self, number: int, one: Ask) -> ApiCall:
        life = self.lives

        def answer(response: Response) -> None:
            if life == self.lives and self._pending.pop(number, None) is not None:
                self.answered[one.function] += response.status < 300
                one.then(response)

        return ApiCall(function=one.function, request=one.request, answer=answer)

    def _operate(self, number: int, one: Ask) -> None:
        """A command is a job of a turn of its own."""
        assert self.machine
        machine, turns = self.machine, self.machine.turns
        del self._pending[number]
        heard: list[Any] = []
        turns.begin()
        turns.do(lambda: machine.function(OPERATOR).handler(json.loads(one.request.body), None), heard.append)
        turns.end()
        if isinstance(heard[0], Exception):
            self.watch.say(f"operator: {heard[0]!r}")
            if not isinstance(heard[0], Unavailable):
                self.watch.fail(Promise.NO_DEFECT, f"the operator is answered {heard[0]!r}")
        else:
            self.answered[OPERATOR] += 1
            one.then(Response(status=200, body=json.dumps(heard[0])))

    # ------------------------------------------------------------ what goes wrong

    def _forecast(self) -> None:
        chance, weather = self.chance, self.weather
        if weather.outages:
            for host in HOSTS[:2]:
                begin = chance.whole("outage from", 0, self.length)
                self._down[host] = (begin, begin + chance.whole("outage for", 5 * SECOND, 4 * MINUTE))
        if weather.full_for_long:
            begin = chance.whole("full from", 0, self.length)
            self._full = (begin, begin + chance.whole("full for", SECOND, 90 * SECOND))
        if weather.jumps:
            for minute in range(1, self.length // MINUTE):
                if chance.surprise("jump", weather.jumps):
                    self.soon(minute * MINUTE + chance.whole("jump at", 0, MINUTE), self._jump)

    def _jump(self) -> None:
        by = self.chance.one_of("jump by", (-5 * SECOND, -90 * SECOND, -700, 3 * SECOND, 10 * MINUTE))
        self.watch.say(f"clock: is set by {by / SECOND} s")
        self.clock.ahead += by

    def _is_full(self, kind: str) -> bool:
        if self.calm:
            return False
        begin, end = self._full
        if kind == "commit" and begin <= self.clock.true - START < end:
            return True
        return self.chance.surprise(f"full at {kind}", self.weather.full * (1 if kind == "commit" else 0.1))

    def _choose_end(self) -> None:
        """Of the life that begins."""
        self._kills_at = 0
        if self.calm or not self.chance.surprise("is killed", self.weather.kills):
            return
        match self.chance.one_of("killed where", ("between", "statement", "before", "after", "after")):
            case "between":
                self._kills_at = self.clock.true + self.chance.whole("killed after", 1, 4 * MINUTE)
            case "statement":
                self.disk.kill_in = self.chance.whole("killed after statements", 1, 4_000)
            case how:
                self.disk.kill_at_commit = self.chance.whole("killed after commits", 1, 60)
                self.disk.kills_after = how == "after"

    def _kill(self, where: str) -> None:
        if self.watch.broken:
            return
        self.watch.say(f"machine: is killed {where}")
        self.disk.crash()
        if self.pool:
            self.pool.close()
        self.watch.killed()
        self.machine = None
        pending, self._pending = list(self._pending.values()), {}
        for one in (*pending, *self.inbox):
            one.lost()
        self.inbox.clear()
        self._kills_at = 0
        self.soon(self.chance.one_of("down for", (50, 400, 2 * SECOND, 20 * SECOND, 3 * MINUTE)), self.begin)

    # ------------------------------------------------------------ targets

    def _target(self, message: ExecutorMessage) -> Result:
        """One attempt."""
        return self.asked.attempted(message, self._answer(message))

    def _answer(self, message: ExecutorMessage) -> Result:
        chance, weather, pool = self.chance, self.weather, self.pool
        assert pool
        self.watch.reached(message, pool.begun)
        self.asked.reached(message)
        host = json.loads(message.schedule.definition.action)["url"].split("/")[2]
        begin, end = self._down.get(host, (0, 0))
        if not self.calm and begin <= self.clock.true - START < end:
            pool.wait(chance.whole("refused after", 1, 30))
            return Retry(detail="it is down", is_outage=True)
        if chance.surprise("hangs", weather.hangs):
            pool.wait(chance.whole("hangs for", 25 * SECOND, 45 * SECOND))
            return Retry(detail="it has hung", is_outage=True)
        pool.wait(chance.whole("takes", 1, weather.slow or 1))
        if chance.surprise("retry", weather.retries):
            if chance.part("stopped") < 0.15:
                self.soon(chance.whole("stopped when", 50, SECOND), lambda: self.clients.stop_one(message.schedule.id))
            return Retry(detail="not now", after_seconds=chance.one_of("asks for", (None, None, 2, 30)))
        if chance.surprise("refuses", weather.refusals):
            return Refused("never")
        return Done("ok")

    # ------------------------------------------------------------ the end

    def _check_series(self) -> None:
        """One that goes on has an occurrence that is still to come."""
        for series, is_active in self.clients.active.items():
            if not is_active:
                continue
            found = self.watch.occurrences(series)
            latest = max((occurrence.time for occurrence, _ in found), default=0)
            if latest < self.clock.here - MINUTE - 10 * SECOND:
                number = self.clients.series.index(series)
                self.watch.fail(Promise.GOES_ON, f"series {number} has nothing after {latest - self.clock.here} ms")

    def _check_histories(self) -> None:
        for schedule_id in list(self.watch.schedules):
            self.clients.show(schedule_id, partial(self._check_history, schedule_id))
            while self.inbox and not self.watch.broken:
                self._turn()

    def _check_history(self, schedule_id: str, shown: Any) -> None:
        self.watch.check_history(schedule_id, shown)
        self.asked.check_history(schedule_id, shown)
