"""The scheduler on one machine: what it is made of, and one turn of it (ADR 0185).

Nothing runs by itself: who leads it says when a turn is, and hears when the next one should be.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from attrs import define, evolve, field

from delayer.actions.rules.foreign import built_in
from delayer.engines.ports import ReceivedMessage, Unavailable, Workers
from delayer.engines.sqlite import database, feed, objects, queue, secrets
from delayer.engines.sqlite.database import Database, Unwritten
from delayer.engines.sqlite.feed import SqliteFeed
from delayer.engines.sqlite.queue import Numbers, SqliteQueue, last_number
from delayer.engines.sqlite.store import SqliteStore
from delayer.execute.desk import Desk
from delayer.execute.execute import Execute
from delayer.history.announce import Announce
from delayer.http.answers import Response, unavailable
from delayer.http.requests import ApiRequest
from delayer.lambdas.memory_stream import LEDGER, SCHEDULES, WAITING
from delayer.relay.relay import Successors
from delayer.schedule.instants import Millis
from delayer.serve.fire import Fire
from delayer.serve.parts import Around, Chosen, NotYet, Parts, register, settings_of
from delayer.serve.reactions import AtOnce, FeedSource, Published, lifecycle_record, record_change
from delayer.serve.turn import Turn
from delayer.wiring.build import build
from delayer.wiring.bundle import Bundle
from delayer.wiring.functions import loaded
from delayer.wiring.manifest import reaction_of
from delayer.wiring.pump import Batch, Minutes, QueueSource, Source
from delayer.wiring.use_cases import execute, line

LAYOUT: Final = database.LAYOUT + queue.LAYOUT + feed.LAYOUT + objects.OBJECTS + secrets.SECRETS
CLAIMS: Final = 64  # in one turn
PAUSE: Final[Millis] = 250  # until the next turn, if nothing can be written
STEP: Final[Millis] = 250  # who finds no slot is told when there is one; seats may be free without that
TOLD: Final = 10  # changes in one turn: a call that comes meanwhile waits for them
TELLING: Final[Millis] = 5  # that takes so long, about
TOLD_EVERY: Final[Millis] = 250  # however much else there is to do
HAVE_SETTINGS: Final = ("delayer.engines.process", "delayer.extension.executor", "delayer.extension.policy")
RELAY, EXECUTOR, POLICY = "delayer-relay", "executor-", "policy-"
TIMING, EVENTS, OCCURRENCES = "timing-enqueuer", "stream-lifecycle", "stream-occurrences"
JOURNALS, STEPPER, CANCELS_GROUPS = "lifecycle-journal", "series-stepper", "job-group-canceller"
EACH_MINUTE: Final = ("task-1minute-series", "task-1minute-timing")
KEYS: Final = "operator-id-key"
ENDS: Final = frozenset({"api-schedule-delete", "api-schedule-stop", "api-series-delete", "api-group-delete"})
FEEDS: Final = (SCHEDULES, WAITING, LEDGER)


@define(kw_only=True, eq=False)
class ApiCall:
    """A call of the API that waits for its answer."""

    function: str
    request: ApiRequest
    answer: Callable[[Response], None]


@define(kw_only=True, eq=False)
class Executor:
    """Of one action: its desk, at which a course never waits for another."""

    queue: SqliteQueue
    execute: Execute
    desk: Desk
    workers: Any


@define(kw_only=True, slots=False, eq=False)
class Machine:
    """All of it."""

    around: Around
    workers_for: Callable[["Machine"], Workers]  # makes what attempts are made with, for one action
    database: Database
    environment: Mapping[str, str]  # the variables that functions read themselves
    chosen: Chosen = field(factory=Chosen)
    attempts: int = 64  # at a time
    targets: Callable[[str], Any] | None = None  # by action, in the place of what its function reaches
    instead: Mapping[str, Mapping[str, object]] = field(factory=dict)  # what functions import, in the place of that
    each_minute: bool = True  # whether anything happens each minute
    turns: Turn = field(init=False)
    queues: dict[str, SqliteQueue] = field(init=False, factory=dict)
    executors: dict[str, Executor] = field(init=False, factory=dict)
    _functions: dict[str, Any] = field(init=False, factory=dict)
    _told_at: Millis = field(init=False, default=0)
    _again: list[Callable[[], None]] = field(init=False, factory=list)  # what could not be written

    def __attrs_post_init__(self) -> None:
        self.clock, self.observer = self.around.clock, self.around.observer
        self.turns = Turn(database=self.database)
        self.numbers = Numbers(self.clock, last_number(self.database))
        self.feed = SqliteFeed(database=self.database, clock=self.clock, numbers=self.numbers, tables=FEEDS)
        self.items = SqliteStore(database=self.database, heard=self.feed.hear)
        self.settings = settings_of(self.chosen)
        self.parts = Parts(self.around, self.settings, self.items, self.queue)
        made = reaction_of(KEYS).made(self.parts.of(KEYS))({"command": "ensure"})
        if not made["ok"]:
            raise Unavailable(made["error"])
        register(self.parts.of("deploy-action-registrar"), built_in())
        relay = self.parts.of(RELAY)
        own = {"line": line(relay), "items": self.items, "schedules": relay.schedules}
        self.fire = build(Fire, relay, successors=Successors(at_most=0), **own)
        self.uses = self._uses()
        self.telling, self.sources = self._telling(), self._sources()
        for (name,) in self.database.read("SELECT DISTINCT queue FROM messages", ()):
            self.queue(name)

    # ------------------------------------------------------------ what it is made of

    def queue(self, name: str) -> SqliteQueue:
        """The queue of this name."""
        if name not in self.queues:
            self.queues[name] = SqliteQueue(
                database=self.database, clock=self.clock, numbers=self.numbers, name=name, fifo=name == "group"
            )
        return self.queues[name]

    def ports(self, function: str) -> Bundle:
        """The bundle of one function."""
        return self.parts.of(function)

    def function(self, name: str) -> Any:
        """Its module, as it is deployed."""
        if name not in self._functions:
            settings = {one: {"setting": self.environment.__getitem__} for one in HAVE_SETTINGS}
            self._functions[name] = loaded(name, self, self.environment, {**settings, **self.instead})
        return self._functions[name]

    def executor(self, kind: str) -> Executor:
        """Made when the first schedule with this action is due."""
        if kind not in self.executors:
            workers, own = self.workers_for(self), self.queue(EXECUTOR + kind)
            ports = self.parts.of(EXECUTOR + kind, own_queue=own, workers=workers, clock=self.clock)
            made = self._execute(kind, ports)
            made = evolve(made, room=evolve(made.room, slots=self.attempts, step=STEP), is_sure=True)
            requests = {one: evolve(how, moment=0) for one, how in made.requests().items()}
            desk = Desk(clock=self.clock, workers=workers, requests=requests, asks_itself=True)
            self.executors[kind] = Executor(queue=own, execute=made, desk=desk, workers=workers)
        return self.executors[kind]

    def _execute(self, kind: str, ports: Bundle) -> Execute:
        if self.targets and kind not in built_in():
            return execute(ports, self.targets(kind))
        handler = self.function(EXECUTOR + kind).handler
        handler.ports = ports
        own = handler.target
        target = self.targets(kind) if self.targets else own
        return execute(ports, target, own.check, lambda: True, {kind: own.action_type}, own.seconds)

    def _uses(self) -> dict[str, Callable[..., Any]]:
        named = (RELAY, TIMING, CANCELS_GROUPS, STEPPER, JOURNALS, *EACH_MINUTE)
        uses: dict[str, Callable[..., Any]] = {one: reaction_of(one).made(self.parts.of(one)) for one in named}
        relay: Any = uses[RELAY]
        uses[RELAY] = evolve(relay, successors=Successors(at_most=0))  # what was undone may not be remembered
        steps = reaction_of(STEPPER).queue
        assert steps
        told = Published(
            at_once=[AtOnce(use=uses[JOURNALS], gets={}), AtOnce(use=uses[STEPPER], gets=steps.gets or {})]
        )
        uses |= {one: build(Announce, self.parts.of(one), topic=told) for one in (EVENTS, OCCURRENCES)}
        return uses | {POLICY + one: partial(self._decide, POLICY + one) for one in self.settings.policies}

    def _decide(self, policy: str, batch: Sequence[ReceivedMessage]) -> Any:
        """The function of a policy is loaded when it is asked for the first time."""
        decider = self.function(policy).handler.target
        choose = evolve(decider, clock=lambda: self.clock)
        self.uses[policy] = reaction_of(policy).made(self.parts.of(policy), choose=choose)
        return self.uses[policy](batch)

    def _telling(self) -> FeedSource:
        """What is told of all that happened but of series, which are told at once."""
        read = partial(lifecycle_record, tables=FEEDS, of_occurrences=False)
        return FeedSource(function=EVENTS, feed=self.feed, read=read, at_most=TOLD)

    def _sources(self) -> list[Source]:
        """In the order in which they are asked."""
        of_series = partial(lifecycle_record, tables=(LEDGER,), of_occurrences=True)
        return [
            FeedSource(function=OCCURRENCES, feed=self.feed, read=of_series),
            FeedSource(function=TIMING, feed=self.feed, read=partial(record_change, tables=(WAITING,))),
            QueueSource(function=RELAY, queue=self.queue("delayer"), alone=True),
            *(QueueSource(function=POLICY + one, queue=self.queue(POLICY + one)) for one in self.settings.policies),
            QueueSource(function=CANCELS_GROUPS, queue=self.queue("group"), at_most=1),
            *(Minutes(function=one, clock=self.clock) for one in EACH_MINUTE if self.each_minute),
        ]

    # ------------------------------------------------------------ one turn

    def turn(self, calls: Sequence[ApiCall] = (), *, calls_only: bool = False) -> bool:
        """Does what there is to do now, and commits it. Whether there was anything.

        In this order: what ends something, what is due, outcomes, all other calls, and what follows from changes.
        """
        self.turns.begin()
        calls_only = calls_only or not self.turns.can_write
        try:
            again, self._again = self._again, []
            for do in again:
                do()
            self._answer([one for one in calls if one.function in ENDS])
            moved = not calls_only and self._fire_and_execute()
            self._answer([one for one in calls if one.function not in ENDS])
            moved = (not calls_only and self._react()) or moved
            if not calls_only and self._may_tell(is_quiet=not moved and not calls):
                moved = self._tell() or moved
        except BaseException:
            self.turns.give_up()
            raise
        was_dirty = self.turns.end()
        return self.turns.can_write and (was_dirty or moved or bool(calls or again))

    def next_at(self) -> Millis | None:
        """When there will be something to do, as far as it is known."""
        if not self.turns.can_write:
            return self.clock.now() + PAUSE
        instants = [self.fire.next_at(), *(one.next_at() for one in self.sources)]
        for one in self.executors.values():
            instants += [one.desk.next_at(), one.queue.next_visible()]
        return min((one for one in instants if one is not None), default=None)

    def _answer(self, calls: Sequence[ApiCall]) -> None:
        for call in calls:
            self.turns.do(partial(self._answered, call), partial(_deliver, call))

    def _answered(self, call: ApiCall) -> Response:
        made: Response = self.function(call.function).handler.answer(call.request)
        return made

    def _fire_and_execute(self) -> bool:
        """What was handed over is taken up before more is: nothing begins that is not on the disk."""
        executors = [self.executor(one.removeprefix(EXECUTOR)) for one in self.queues if one.startswith(EXECUTOR)]
        moved = False
        if not self.database.is_dirty:
            moved = any([self._take_up(one) for one in executors])
        moved = self._fire() or moved
        return any([self._lead(one) for one in executors]) or moved

    def _fire(self) -> bool:
        """No more than can soon begin."""
        room = self.attempts - sum(one.desk.number for one in self.executors.values())
        following = self.fire.next_at()
        if room <= 0 or following is None or following > self.clock.now():
            return False
        self.turns.do(partial(self.fire.page, min(CLAIMS, room)), partial(self._warn, "nothing was fired"))
        return True

    def _take_up(self, one: Executor) -> bool:
        received = one.queue.receive(self.attempts)
        for message in received:
            one.desk.begin(one.execute.settle(message), partial(self._done, one, message))
        return bool(received)

    def _lead(self, one: Executor) -> bool:
        """Who has waited for room comes before who is new."""
        moved = False
        while one.desk.go_on():
            moved = True
        if left := one.workers.left():
            moved = True
            one.desk.nudge(left)
            while one.desk.go_on():
                pass
        return moved

    def _done(self, one: Executor, received: ReceivedMessage, is_done: bool | None) -> None:
        """Its course has ended."""
        failed = [] if is_done else [received.message_id]
        self.turns.do(partial(one.queue.settle, [received], failed), partial(self._has_left, one, received, is_done))

    def _has_left(self, one: Executor, received: ReceivedMessage, is_done: bool | None, outcome: Any) -> None:
        if isinstance(outcome, Exception):
            self._again.append(partial(self._done, one, received, is_done))

    def _react(self) -> bool:
        """To what has happened."""
        return any([self._take(source) for source in self.sources])

    def _take(self, source: Source) -> bool:
        """All that it has now."""
        moved = False
        for batch in source.batches():
            self.turns.do(partial(self._run, batch), partial(self._has_run, batch))
            moved = True
        return moved

    def _may_tell(self, *, is_quiet: bool) -> bool:
        """What is told of what has happened waits until there is nothing else to do, but not for ever."""
        now = self.clock.now()
        if not is_quiet and 0 <= now - self._told_at < TOLD_EVERY:
            return False
        following = self.next_at()
        return following is None or following - now >= TELLING or now - self._told_at >= TOLD_EVERY

    def _tell(self) -> bool:
        self._told_at = self.clock.now()
        return self._take(self.telling)

    def _run(self, batch: Batch) -> None:
        """One function: all that it does, or nothing."""
        given = [] if isinstance(batch.source, Minutes) else [batch.items]
        try:
            failed = self.uses[batch.function](*given)
        except NotYet as early:
            assert isinstance(batch.source, QueueSource)
            batch.source.queue.put_off(batch.items, early.until)
            return
        batch.settle(failed if isinstance(failed, list) else [])

    def _has_run(self, batch: Batch, outcome: Any) -> None:
        """What has failed comes again, later each time; what could not be written comes as if nothing had been."""
        if isinstance(outcome, Unwritten):
            if isinstance(batch.source, QueueSource):
                batch.source.queue.forget(batch.items)
        elif isinstance(outcome, Exception):
            self._warn(f"{batch.function} has failed", outcome)
            self._again.append(partial(self._set_aside, batch))

    def _set_aside(self, batch: Batch) -> None:
        failed = [one.message_id for one in batch.items] if isinstance(batch.source, QueueSource) else []
        self.turns.do(partial(batch.settle, failed), lambda _: None)

    def _warn(self, what: str, outcome: Any) -> None:
        if isinstance(outcome, Exception):
            self.observer.warn(what, error=repr(outcome))


def _deliver(call: ApiCall, outcome: Any) -> None:
    call.answer(unavailable() if isinstance(outcome, Exception) else outcome)
