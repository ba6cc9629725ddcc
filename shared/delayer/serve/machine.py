"""The scheduler on one machine, put together: what it is made of, and one turn of it (ADR 0185).

Nothing runs by itself: who leads it says when a turn is, and hears when the next one should be.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from attrs import define, evolve, field, frozen

from delayer.accept.rules.window import policies
from delayer.actions.registered import RegisteredActions
from delayer.actions.rules.foreign import built_in
from delayer.actions.rules.registration import Registration
from delayer.dead_letters.repository import StoredDeadLetters
from delayer.engines.memory.runtime import InOrder, MemorySeal, MemorySecrets
from delayer.engines.ports import Clock, Observer, ReceivedMessage, Unavailable, Workers
from delayer.engines.sqlite import database, feed, queue
from delayer.engines.sqlite.database import MEMORY, Database
from delayer.engines.sqlite.feed import SqliteFeed
from delayer.engines.sqlite.queue import Numbers, SqliteQueue
from delayer.engines.sqlite.store import SqliteStore
from delayer.execute.desk import Desk
from delayer.execute.execute import Execute
from delayer.history.announce import Announce
from delayer.http.answers import Response, unavailable
from delayer.http.requests import ApiRequest
from delayer.lambdas.memory_stream import CONTROL, JOURNAL, LEDGER, REGISTRY, SCHEDULES, WAITING
from delayer.owners.rules import Quotas
from delayer.relay.relay import Successors
from delayer.schedule.instants import DAY, MINUTE, SECOND, Millis
from delayer.serve.fire import Fire
from delayer.serve.reactions import AtOnce, FeedSource, Published, lifecycle_record, record_change
from delayer.serve.turn import Turn
from delayer.wiring.build import build
from delayer.wiring.bundle import Bundle
from delayer.wiring.functions import loaded
from delayer.wiring.manifest import MANIFEST, reaction_of
from delayer.wiring.pump import Batch, Minutes, QueueSource, Source
from delayer.wiring.settings import Settings
from delayer.wiring.use_cases import execute, line

LAYOUT: Final = database.LAYOUT + queue.LAYOUT + feed.LAYOUT
LEAD: Final[Millis] = 50  # so long before its point in time a schedule is claimed
CLAIMS: Final = 64  # in one turn
LEASE: Final[Millis] = 10 * SECOND
HAVE_SETTINGS: Final = ("delayer.engines.process", "delayer.extension.executor", "delayer.extension.policy")
STACK: Final = "delayer"
RELAY, EXECUTOR, POLICY = "delayer-relay", "executor-", "policy-"
TIMING, EVENTS, OCCURRENCES = "timing-enqueuer", "stream-lifecycle", "stream-occurrences"
JOURNALS, STEPPER, CANCELS_GROUPS = "lifecycle-journal", "series-stepper", "job-group-canceller"
EACH_MINUTE: Final = ("task-1minute-series", "task-1minute-timing")


@define(kw_only=True, eq=False)
class ApiCall:
    """A call of the API that waits for its answer."""

    function: str
    request: ApiRequest
    answer: Callable[[Response], None]

    @property
    def ends(self) -> bool:
        """Whether it asks that something is not done: it is taken first."""
        return self.function in ("api-schedule-delete", "api-schedule-stop", "api-series-delete", "api-group-delete")


@define(kw_only=True, eq=False)
class Executor:
    """Of one action: its desk, at which a course never waits for another."""

    queue: SqliteQueue
    execute: Execute
    desk: Desk
    workers: Any


class NotYet(BaseException):
    """Who would wait for an instant gives way to all else. Not an Exception: no code of Delayer's may catch it."""

    def __init__(self, until: Millis) -> None:
        super().__init__(until)
        self.until = until


@frozen
class TurnClock:
    """Port Clock, for what is done within a turn: nothing waits there."""

    clock: Clock

    def now(self) -> Millis:
        return self.clock.now()

    def sleep_until(self, instant: Millis) -> None:
        """Raises NotYet."""
        if instant > self.clock.now():
            raise NotYet(instant)


class Own(Bundle):
    """The bundle of one function: what all have, and what is its own."""

    def __init__(self, machine: "Machine", source: str, **own: Any) -> None:
        self.__dict__.update(machine.parts)
        self.source = source
        self.__dict__.update(own)


@define(kw_only=True, slots=False, eq=False)
class Machine:
    """All of it. `workers_for` makes what the attempts of an action are made with."""

    clock: Clock
    observer: Any
    workers_for: Callable[["Machine"], Workers]
    randomness: Callable[[int], bytes]
    pick: Callable[[int], int]
    new_token: Callable[[], str]
    new_id: Callable[[], str]
    environment: Mapping[str, str] = field(factory=lambda: {"API_AUTHORIZATION": "NONE", "ALLOW_PRIVATE_TARGETS": "true"})
    instead: Mapping[str, Mapping[str, object]] = field(factory=dict)  # what functions import, in the place of that
    database: Database = field(factory=lambda: Database(layout=LAYOUT))
    attempts: int = 64
    targets: Callable[[str], Any] | None = None  # by action, in the place of what its function reaches
    lead: Millis = LEAD
    each_minute: bool = True
    limits: Quotas = field(factory=Quotas)
    keep_for: Millis = 90 * DAY
    event_source: str = "urn:delayer:machine"
    subscribers: Mapping[str, Callable[[Any], object]] = field(factory=dict)

    def __attrs_post_init__(self) -> None:
        self.turn_of_all = Turn(database=self.database)
        self.functions: dict[str, Any] = {}
        self.executors: dict[str, Executor] = {}
        self.queues: dict[str, SqliteQueue] = {}
        self._later: list[Callable[[], None]] = []  # what could not be written
        numbers = Numbers(self.clock)
        self.numbers = numbers
        self.feed = SqliteFeed(
            database=self.database, clock=self.clock, numbers=numbers, tables=(SCHEDULES, WAITING, LEDGER)
        )
        self.items = SqliteStore(database=self.database, heard=self.feed.hear)
        self.settings = self._settings()
        self.queue_of_jobs = self.queue("group", fifo=True)
        self.actions = RegisteredActions(clock=self.clock, action_rows=Own.action_rows.make(self._seed()))  # type: ignore[attr-defined]
        self.parts = self._parts()
        self._deploy()
        relay = self.ports(RELAY)
        self.fire = build(
            Fire, relay, line=line(relay), items=self.items, schedules=relay.schedules, successors=Successors(at_most=0)
        )
        self.sources = self._sources()
        for name in self.database_queues():
            self.queue(name)

    def database_queues(self) -> list[str]:
        """The queues that have something in them."""
        with self.database.reading() as connection:
            return [name for (name,) in connection.execute("SELECT DISTINCT queue FROM messages").fetchall()]

    # ------------------------------------------------------------ what it is made of

    def _settings(self) -> Settings:
        return Settings(
            period=14 * MINUTE,
            lease=LEASE,
            lead=self.lead,
            shards=1,
            quotas=self.limits,
            max_live=1,
            backlog_mark=10_000,
            heartbeats=0,
            suspects="",
            stack=STACK,
            stack_id=f"arn:aws:cloudformation:local:000000000000:stack/{STACK}/0",
            keep_for=self.keep_for,
            event_source=self.event_source,
            has_events=True,
            has_journal=True,
            has_canary=False,
            policies=policies(),
            has_timing=True,
            lanes=("relaxed",),
            schedules_table=SCHEDULES,
            relaxed_table=SCHEDULES,
            waiting_table=WAITING,
            timing_table=WAITING,
            ledger_table=LEDGER,
            control_table=CONTROL,
            registry_table=REGISTRY,
            journal_table=JOURNAL,
        )

    def _seed(self) -> Any:
        seed = Bundle()
        seed.__dict__.update(settings=self.settings, items=self.items)
        return seed

    def _parts(self) -> dict[str, Any]:
        """What all functions have. All else a bundle makes of it."""
        from delayer.engines.memory.runtime import MemoryObjects

        return {
            "settings": self.settings,
            "observer": self.observer,
            "clock": TurnClock(self.clock),
            "parallel": InOrder(),
            "randomness": self.randomness,
            "pick": self.pick,
            "new_token": self.new_token,
            "new_job_id": self.new_id,
            "new_series_id": self.new_id,
            "items": self.items,
            "fail_fast_items": self.items,
            "actions": self.actions,
            "delayer_queue": self.queue("delayer"),
            "group_queue": self.queue_of_jobs,
            "executor_queues": QueuesOf(lambda kind: self.queue(EXECUTOR + kind), self.actions),
            "policy_queues": QueuesOf(lambda name: self.queue(POLICY + name), self.settings.policies),
            "dead_letter_store": StoredDeadLetters(MemoryObjects()),
            "secrets": MemorySecrets(),
            "seal": MemorySeal(),
        }

    def _deploy(self) -> None:
        """The keys and the actions of a new file."""
        ports = self.ports("operator-id-key")
        reaction_of("operator-id-key").made(ports)({"command": "ensure"})
        known = ports.action_rows.actions()
        for kind, action in built_in().items():
            registration = Registration(action=action, stack=self.settings.stack_id, token=STACK)
            if [one.action for one in known.get(kind, ())] != [action]:
                ports.action_rows.write(kind, (registration,), tuple(known.get(kind, ())))

    def queue(self, name: str, *, fifo: bool = False) -> SqliteQueue:
        """The queue of this name."""
        if name not in self.queues:
            self.queues[name] = SqliteQueue(
                database=self.database, clock=self.clock, numbers=self.numbers, name=name, fifo=fifo
            )
        return self.queues[name]

    def ports(self, function: str, **own: Any) -> Bundle:
        """The bundle of one function."""
        return Own(self, function, **own)

    def function(self, name: str) -> Any:
        """Its module, as it is deployed."""
        if name not in self.functions:
            settings = {one: {"setting": self.environment.__getitem__} for one in HAVE_SETTINGS}
            self.functions[name] = loaded(name, self, self.environment, {**settings, **self.instead})
        return self.functions[name]

    def executor(self, kind: str) -> Executor:
        """Made when the first schedule with this action is due."""
        if kind not in self.executors:
            name = EXECUTOR + kind
            workers, own = self.workers_for(self), self.queue(name)
            ports = self.ports(name, own_queue=own, workers=workers, clock=self.clock)
            made = self._execute(kind, ports)
            made = evolve(made, room=evolve(made.room, slots=self.attempts))
            requests = {one: evolve(how, moment=0) for one, how in made.requests().items()}
            desk = Desk(clock=self.clock, workers=workers, requests=requests, asks_itself=True)
            self.executors[kind] = Executor(queue=own, execute=made, desk=desk, workers=workers)
        return self.executors[kind]

    def _execute(self, kind: str, ports: Bundle) -> Execute:
        if kind not in built_in():
            assert self.targets
            return execute(ports, self.targets(kind))
        handler = self.function(EXECUTOR + kind).handler
        handler.ports = ports
        own = handler.target
        target = self.targets(kind) if self.targets else own
        return execute(ports, target, own.check, lambda: True, {kind: own.action_type}, own.seconds)

    def _sources(self) -> list[Source]:
        """In the order in which they are asked."""
        given: dict[str, dict[str, Any]] = {}
        self.uses: dict[str, Callable[[Any], Any]] = {
            one: reaction_of(one).made(self.ports(one), **given.get(one, {}))
            for one in (RELAY, TIMING, CANCELS_GROUPS, STEPPER, JOURNALS, *EACH_MINUTE)
        }
        for name in self.settings.policies:
            self.uses[POLICY + name] = partial(self._decide, name)
        self.uses |= {EVENTS: self._announcing(EVENTS), OCCURRENCES: self._announcing(OCCURRENCES)}
        waiting = FeedSource(function=TIMING, feed=self.feed, read=partial(record_change, tables=(WAITING,)))
        of_series = partial(lifecycle_record, tables=(LEDGER,), of_occurrences=True)
        of_all = partial(lifecycle_record, tables=(SCHEDULES, WAITING, LEDGER), of_occurrences=False)
        self.telling = FeedSource(function=EVENTS, feed=self.feed, read=of_all)
        return [
            FeedSource(function=OCCURRENCES, feed=self.feed, read=of_series),
            waiting,
            QueueSource(function=RELAY, queue=self.queue("delayer"), at_most=10, alone=True),  # type: ignore[arg-type]
            *(QueueSource(function=POLICY + one, queue=self.queue(POLICY + one)) for one in self.settings.policies),  # type: ignore[arg-type]
            QueueSource(function=CANCELS_GROUPS, queue=self.queue_of_jobs, at_most=1),  # type: ignore[arg-type]
            *(Minutes(function=one, clock=self.clock) for one in EACH_MINUTE if self.each_minute),
        ]

    def _announcing(self, function: str) -> Announce:
        """With what its events lead to."""
        at_once = [AtOnce(use=self.uses[JOURNALS], gets={}), AtOnce(use=self.uses[STEPPER], gets=reaction_of(STEPPER).queue.gets)]  # type: ignore[union-attr, arg-type]
        return build(Announce, self.ports(function), topic=Published(at_once=at_once))

    def _decide(self, policy: str, batch: Sequence[ReceivedMessage]) -> Any:
        name = POLICY + policy
        if name not in self.functions:
            decider = self.function(name).handler.target
            choose = evolve(decider, clock=lambda: self.clock)
            self._deciders = getattr(self, "_deciders", {})
            self._deciders[name] = reaction_of(name).made(self.ports(name), choose=choose)
        return self._deciders[name](batch)

    # ------------------------------------------------------------ one turn

    def turn(self, calls: Sequence[ApiCall] = (), *, calls_only: bool = False) -> bool:
        """Does what there is to do now, and commits it. Whether there was anything."""
        turn = self.turn_of_all
        turn.begin()
        try:
            again, self._later = self._later, []
            for one in again:
                one()
            for call in sorted(calls, key=lambda one: not one.ends):
                turn.do(partial(self._answered, call), partial(_deliver, call))
            moved = not calls_only and self._react(is_quiet=not calls)
        except BaseException:
            turn.give_up()
            raise
        return turn.end() or moved or bool(calls)

    def _react(self, *, is_quiet: bool) -> bool:
        """To what has happened, and to what is due. What is told of it waits until it is quiet."""
        moved = self._fire()
        for name in [one for one in self.queues if one.startswith(EXECUTOR)]:
            moved = self._lead(self.executor(name.removeprefix(EXECUTOR))) or moved
        for source in [*self.sources, *([self.telling] if is_quiet else [])]:
            for batch in source.batches():
                self._run(batch)
                moved = True
        return moved

    def next_at(self) -> Millis | None:
        """When there will be something to do, as far as it is known."""
        instants = [self.fire.next_at(), *(one.next_at() for one in self.sources)]
        for one in self.executors.values():
            instants += [one.desk.next_at(), one.queue.next_visible()]
        return min((one for one in instants if one is not None), default=None)

    def _fire(self) -> bool:
        """No more than can soon begin."""
        room = self.attempts - sum(one.desk.number for one in self.executors.values())
        following = self.fire.next_at()
        if room <= 0 or following is None or following > self.clock.now():
            return False
        self.turn_of_all.do(partial(self.fire.page, min(CLAIMS, room)), self._fired)
        return True

    def _fired(self, outcome: Any) -> None:
        if isinstance(outcome, Exception):
            self.observer.warn("nothing fired", error=repr(outcome))

    def _lead(self, one: Executor) -> bool:
        """Nothing begins that is not on the disk."""
        moved = False
        if not self.database.is_dirty:
            for received in one.queue.receive(self.attempts):
                one.desk.begin(one.execute.settle(received), partial(self._done, one, received))
                moved = True
        while one.desk.go_on():
            moved = True
        if left := one.workers.left():
            one.desk.nudge(left)
            moved = True
            while one.desk.go_on():
                pass
        return moved

    def _done(self, one: Executor, received: ReceivedMessage, is_done: bool | None) -> None:
        failed = [] if is_done else [received.message_id]

        def told(outcome: Any) -> None:
            if isinstance(outcome, Exception):
                self._later.append(partial(self._done, one, received, is_done))

        self.turn_of_all.do(partial(one.queue.settle, [received], failed), told)

    def _run(self, batch: Batch) -> None:
        """One function: all of it, or nothing. What fails comes again, later each time."""
        self.turn_of_all.do(partial(self._used, batch), partial(self._settled, batch))

    def _used(self, batch: Batch) -> None:
        try:
            failed = self.uses[batch.function](*([batch.items] if batch.items or not isinstance(batch.source, Minutes) else []))
        except NotYet as early:
            assert isinstance(batch.source, QueueSource)
            batch.source.queue.put_off(batch.items, early.until)
            return
        batch.settle(failed if isinstance(failed, list) else [])

    def _settled(self, batch: Batch, outcome: Any) -> None:
        if isinstance(outcome, Exception):
            self.observer.warn("a function failed", function=batch.function, error=repr(outcome))
            self._later.append(partial(self._set_aside, batch))

    def _set_aside(self, batch: Batch) -> None:
        failed = [one.message_id for one in batch.items] if isinstance(batch.source, QueueSource) else []
        self.turn_of_all.do(partial(batch.settle, failed), lambda _: None)

    def _answered(self, call: ApiCall) -> Response:
        made: Response = self.function(call.function).handler.answer(call.request)
        return made


def _deliver(call: ApiCall, outcome: Any) -> None:
    call.answer(unavailable() if isinstance(outcome, Exception) else outcome)


class QueuesOf(Mapping[str, Any]):
    """A queue for each of some names."""

    def __init__(self, queue_of: Callable[[str], SqliteQueue], names: Any) -> None:
        self._queue_of, self._names = queue_of, names

    def __getitem__(self, name: str) -> SqliteQueue:
        if name not in self._names:
            raise KeyError(name)
        return self._queue_of(name)

    def __iter__(self) -> Any:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)
