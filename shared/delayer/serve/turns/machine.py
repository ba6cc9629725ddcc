"""The scheduler on one machine: what it is made of, and one turn of it (ADR 0185).

Nothing runs by itself: who leads it says when a turn is, and hears when the next one should be.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from attrs import define, evolve, field, frozen

from delayer.accept.rules.window import policies
from delayer.actions.rules.foreign import built_in
from delayer.engines.ports import ReceivedMessage, Unavailable, Workers
from delayer.engines.sqlite import counters, database, feed, objects, queue, secrets
from delayer.engines.sqlite.again import SqliteAgain
from delayer.engines.sqlite.counters import FeedCounters
from delayer.engines.sqlite.database import Database, Unwritten
from delayer.engines.sqlite.feed import SqliteFeed
from delayer.engines.sqlite.queue import Numbers, SqliteQueue
from delayer.engines.sqlite.store import DueItem, SqliteStore
from delayer.execute.desk import Desk
from delayer.execute.execute import Execute, LineUp, Read
from delayer.flow.rules.block import Party
from delayer.history.announce import Announce
from delayer.history.deliver import Deliver
from delayer.http.answers import Response, unavailable
from delayer.http.requests import ApiRequest
from delayer.relay.relay import Successors
from delayer.schedule.instants import SECOND, Millis
from delayer.schedule.tables import LEDGER, SCHEDULES, WAITING
from delayer.serve.beside.beside import Beside, ReadsQueue
from delayer.serve.beside.events import FUNCTION, Poster, PostsEvents, ReadEvents, Receiver
from delayer.serve.beside.extensions import Extensions
from delayer.serve.beside.policies import AskPolicy, AsksPolicy, not_asked
from delayer.serve.data.space import Space
from delayer.serve.data.upkeep import GROWS, Upkeep, no_room
from delayer.serve.suspects import lives
from delayer.serve.suspects.lives import Alone, Lives, Whose, with_care
from delayer.serve.turns.fire import Fire, HandedOver
from delayer.serve.turns.following import AgainSource, FeedSource
from delayer.serve.turns.minutes import AT_A_TIME, BUDGET, InPortions, Partly, Portions
from delayer.serve.turns.parts import Around, Chosen, Parts, register, settings_of
from delayer.serve.turns.reactions import FEEDS, Published, Subscription, lifecycle_record, record_change
from delayer.serve.turns.turn import Turn, TurnJob, facts_of, whatever_one_raises
from delayer.signing.sign import OwnSecrets
from delayer.timing.decide import Decide
from delayer.wiring.build import build
from delayer.wiring.bundle import Bundle
from delayer.wiring.functions import loaded
from delayer.wiring.manifest import reaction_of
from delayer.wiring.pump import Batch, QueueSource, Source
from delayer.wiring.use_cases import execute, line

LAYOUT: Final = "".join(
    [database.LAYOUT, queue.LAYOUT, feed.LAYOUT, counters.LAYOUT, lives.LAYOUT, objects.OBJECTS, secrets.SECRETS]
)
# On AWS the TTL of a record is what fires it at last. Here it would lose it: nothing listens to that.
FIRED: Final = (SCHEDULES, WAITING)
GREATEST: Final = """
    SELECT max(coalesce((SELECT max(number) FROM changes), 0), coalesce((SELECT max(number) FROM messages), 0),
        coalesce((SELECT max(upto) FROM counters), 0), coalesce((SELECT max(number) FROM readers), 0))
"""
CLAIMS: Final = 64  # in one turn
READS: Final = frozenset({LineUp, Read})  # requests of an executor
WAITING_FOR_ROOM: Final = 3  # times as many as there may be attempts wait at the desks, at most
BLOCKED: Final[Millis] = 20  # until another look, while all that is due is of parties whose schedules wait for room
PAUSE: Final[Millis] = 250  # until the next turn, if nothing can be written
RELAYED: Final = 10  # messages of the delayer queue, in one turn
STEP: Final[Millis] = 250  # who finds no slot is told when there is one; seats may be free without that
ANNOUNCED: Final = 10  # changes in one turn: a call that comes meanwhile waits for them
MOST_ANNOUNCED: Final = 30  # the same while nothing else is due for long: each commit takes as long for one as for many
TELLING: Final[Millis] = 5  # that takes so long, about
ANNOUNCED_EVERY: Final[Millis] = 250  # however much else there is to do
BEHIND: Final[Millis] = 5 * SECOND  # what was not told for so long is told with each turn
LULL_MISSED: Final[Millis] = 25  # so long a lull is waited for
HAVE_SETTINGS: Final = ("delayer.engines.process", "delayer.extension.executor", "delayer.extension.policy")
RELAY, EXECUTOR, POLICY, SUBSCRIBER = "delayer-relay", "executor-", "policy-", "subscriber-"
TIMING, EVENTS, OCCURRENCES = "timing-enqueuer", "stream-lifecycle", "stream-occurrences"
JOURNALS, STEPPER, CANCELS_GROUPS = "lifecycle-journal", "series-stepper", "job-group-canceller"
SERIES_MINUTE, TIMING_MINUTE = "task-1minute-series", "task-1minute-timing"
EACH_MINUTE: Final = (SERIES_MINUTE, TIMING_MINUTE)
KEYS: Final = "operator-id-key"
ENDS: Final = frozenset({"api-schedule-delete", "api-schedule-stop", "api-series-delete", "api-group-delete"})


@frozen(kw_only=True, eq=False)
class ApiCall:
    """A call of the API that waits for its answer."""

    function: str
    request: ApiRequest
    answer: Callable[[Response], None]


@frozen(kw_only=True, eq=False)
class MachineExecutor:
    """Of one action: its desk, at which a course never waits for another."""

    queue: SqliteQueue
    execute: Execute
    desk: Desk
    workers: Any


@frozen(kw_only=True)
class Ended:
    """A message whose course has ended; `is_done` as Execute says it."""

    queue: SqliteQueue
    received: ReceivedMessage
    is_done: bool | None


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
    alone: Alone | None = None  # makes the attempt of a suspect
    each_minute: bool = True  # whether anything happens each minute
    lull: Millis = 0  # without a call, before it tells of what has happened: what is told together costs less
    extensions: Extensions = field(factory=Extensions)  # what others have written
    absent: Mapping[str, str] = field(factory=dict)  # built-in actions that are not offered here, and why
    receiver: Receiver | None = None  # of all events
    # Makes what subscribers and the receiver are reached with: they may hang, and take no thread from attempts.
    beside_for: Callable[["Machine"], Workers] | None = None
    is_restricted: bool = field(init=False, default=False)  # there is too little disk for anything new
    turns: Turn = field(init=False)
    waiting_calls: list[ApiCall | TurnJob] = field(init=False, factory=list)  # the next turn answers them
    queues: dict[str, SqliteQueue] = field(init=False, factory=dict)
    executors: dict[str, MachineExecutor] = field(init=False, factory=dict)
    modules: dict[str, Any] = field(init=False, factory=dict)  # of functions, as they are deployed
    _cannot_run: set[str] = field(init=False, factory=set)
    _odd: bool = field(init=False, default=False)
    _announced_at: Millis = field(init=False, default=0)
    _asked_at: Millis = field(init=False, default=0)  # the last call came then
    _blocked_until: Millis = field(init=False, default=0)
    _ended: list[Ended] = field(init=False, factory=list, repr=False)
    _oldest: tuple[int, Millis] = field(init=False, default=(-1, 0))  # change behind this cursor of the telling, when
    _again: list[Callable[[], object]] = field(init=False, factory=list)  # what could not be written

    def __attrs_post_init__(self) -> None:
        self.clock, self.observer = self.around.clock, self.around.observer
        self.turns = Turn(database=self.database)
        self.lives = Lives(database=self.database, clock=self.clock)
        self.lives.begin()
        self.numbers = Numbers(clock=self.clock, last=last_number(self.database))
        self.feed = SqliteFeed(database=self.database, clock=self.clock, numbers=self.numbers, tables=FEEDS)
        self.items = SqliteStore(database=self.database, noted=self.feed.note, never_expire=FIRED)
        self.counters = FeedCounters(database=self.database, feed=self.feed, tables=FIRED)
        self.again = SqliteAgain(database=self.database, clock=self.clock)
        self.settings = evolve(settings_of(self.chosen), policies=self.extensions.schemas())
        self.parts = Parts(self.around, self.settings, self.items, self.queue, self.absent)
        made = reaction_of(KEYS).made(self.parts.of(KEYS))({"command": "ensure"})
        if not made["ok"]:
            raise Unavailable(made["error"])
        register(self.parts.of("deploy-action-registrar"), self.extensions.actions(self.absent))
        relay = self.parts.of(RELAY)
        self.handed_over = HandedOver()
        self.fire = build(
            Fire,
            relay,
            successors=Successors(at_most=0),  # what was undone may not be remembered
            line=line(relay),
            waiting=self.queue("delayer"),
            in_order=self.items,
            schedules=relay.schedules,
            handed_over=self.handed_over,
            noted_at=self.feed.at,
            blocked=self._blocked,
        )
        self.uses = self._uses()
        self.telling = self._telling()
        self.relayed = QueueSource(function=RELAY, queue=self.queue("delayer"), at_most=RELAYED, alone=True)
        self.sources = self._sources()
        self.beside = self._beside()
        self.read_events = ReadEvents(
            feed=self.feed,
            observer=self.observer,
            source=self.chosen.event_source,
            authorization=self.environment["API_AUTHORIZATION"],
            secrets=build(OwnSecrets, self.parts.of(FUNCTION)),
        )
        for (name,) in self.database.read("SELECT DISTINCT queue FROM messages", ()):
            self.queue(name)
        self.lives.hold_all(self.queue)

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
        if own := self.extensions.handlers.get(name):
            return own
        if name not in self.modules:
            settings = {one: {"setting": self.environment.__getitem__} for one in HAVE_SETTINGS}
            self.modules[name] = loaded(name, self, self.environment, {**settings, **self.instead})
        return self.modules[name]

    def executor(self, kind: str) -> MachineExecutor:
        """Made when the first schedule with this action is due."""
        if kind not in self.executors:
            workers, own = self.workers_for(self), self.queue(EXECUTOR + kind)
            ports = self.parts.of(EXECUTOR + kind, own_queue=own, workers=workers, clock=self.clock)
            made = self._execute(kind, ports)
            room = evolve(made.room, slots=self.attempts, step=STEP)
            made = evolve(made, room=room, decode=self.handed_over.decode, is_sure=True, has_time=self._may_begin)
            requests = {one: evolve(how, moment=0) for one, how in {**made.requests(), **self.lives.requests()}.items()}
            desk = Desk(clock=self.clock, workers=workers, requests=requests, asks_itself=True)
            self.executors[kind] = MachineExecutor(queue=own, execute=made, desk=desk, workers=workers)
        return self.executors[kind]

    def _execute(self, kind: str, ports: Bundle) -> Execute:
        if self.targets and kind not in built_in():
            return execute(ports, self.targets(kind))
        handler = self.function(EXECUTOR + kind).handler
        handler.ports = self._own_ports(EXECUTOR + kind) if EXECUTOR + kind in self.extensions.handlers else ports
        own = handler.target
        target = self.targets(kind) if self.targets else own
        return execute(ports, target, own.check, lambda: True, {kind: own.action_type}, own.seconds)

    def _uses(self) -> dict[str, Callable[..., Any]]:
        named = (TIMING, CANCELS_GROUPS, STEPPER, JOURNALS, *EACH_MINUTE)
        uses: dict[str, Callable[..., Any]] = {one: reaction_of(one).made(self.parts.of(one)) for one in named}
        uses |= {RELAY: self.fire, **self._in_portions(uses)}
        journal, steps = reaction_of(JOURNALS).queue, reaction_of(STEPPER).queue
        assert journal
        assert steps
        topic = Published(
            at_once=[
                Subscription(use=uses[JOURNALS], gets=journal.gets or {}),
                Subscription(use=uses[STEPPER], gets=steps.gets or {}),
            ],
            queues=[(self.queue(SUBSCRIBER + one), gets) for one, gets in self.extensions.filters().items()],
        )
        uses |= {one: build(Announce, self.parts.of(one), topic=topic) for one in (EVENTS, OCCURRENCES)}
        return uses | {POLICY + one: partial(self._decide, POLICY + one) for one in policies()}

    def _in_portions(self, uses: Mapping[str, Any]) -> dict[str, Any]:
        """Gives the uses that may have much to do: a turn does a part of it."""
        part = {"budget": BUDGET, "at_a_time": AT_A_TIME}
        series, timing = (evolve(uses[one], **part) for one in (SERIES_MINUTE, TIMING_MINUTE))
        return {
            SERIES_MINUTE: Partly(use=evolve(series, net=evolve(series.net, **part)), observer=self.observer),
            TIMING_MINUTE: Portions(clock=self.clock, pages=timing.pages),
            CANCELS_GROUPS: evolve(uses[CANCELS_GROUPS], budget=0, at_a_time=AT_A_TIME),
        }

    def _decide(self, policy: str, batch: Sequence[ReceivedMessage]) -> Any:
        """The function of a policy is loaded when it is asked for the first time."""
        decider = self.function(policy).handler.target
        choose = evolve(decider, clock=lambda: self.clock)
        self.uses[policy] = reaction_of(policy).made(self.parts.of(policy), choose=choose)
        return self.uses[policy](batch)

    def _telling(self) -> FeedSource:
        """Tells of all that happened but of series, which are told at once."""
        read = partial(lifecycle_record, tables=FEEDS, of_occurrences=False)
        return FeedSource(function=EVENTS, feed=self.feed, read=read, again=self.again, at_most=ANNOUNCED)

    def _sources(self) -> list[Source]:
        """In the order in which they are asked."""
        of_series = partial(lifecycle_record, tables=(LEDGER,), of_occurrences=True)
        waits = partial(record_change, tables=(WAITING,))
        fed = [
            FeedSource(function=OCCURRENCES, feed=self.feed, read=of_series, again=self.again),
            FeedSource(function=TIMING, feed=self.feed, read=waits, again=self.again),
        ]
        return [
            *fed,
            self.relayed,
            *(QueueSource(function=POLICY + one, queue=self.queue(POLICY + one), alone=True) for one in policies()),
            QueueSource(function=CANCELS_GROUPS, queue=self.queue("group"), at_most=1),
            *(InPortions(function=one, clock=self.clock) for one in EACH_MINUTE if self.each_minute),
            *(self._asides(one) for one in [*fed, self.telling]),
        ]

    def _asides(self, of: FeedSource) -> AgainSource:
        clock, objects = self.clock, self.around.objects
        return AgainSource(function=of.function, of=of, clock=clock, objects=objects, observer=self.observer)

    def _own_ports(self, function: str) -> Bundle:
        """The ports that a function of others has at hand, which runs in a thread."""
        return self.parts.of(function, clock=self.clock, observer=self.around.own_observer or self.observer)

    def _asks(self, name: str, workers: Workers) -> AsksPolicy:
        ports = self.parts.of(POLICY + name)
        policy = self.extensions.policies[name]
        vars(policy)["ports"] = self._own_ports(POLICY + name)
        return AsksPolicy(
            turn=self.turns,
            workers=workers,
            name=name,
            queue=self.queue(POLICY + name),
            ask=AskPolicy(waiting_records=ports.waiting_records, choose=policy.target),
            decide=build(Decide, ports, choose=not_asked),
            clock=self.clock,
            observer=self.observer,
        )

    def _beside(self) -> list[Beside]:
        """Policies and subscribers that others have written, and who receives all events."""
        workers_for = self.beside_for or self.workers_for
        found: list[Beside] = [self._asks(name, workers_for(self)) for name in self.extensions.policies]
        for name, subscriber in self.extensions.subscribers.items():
            vars(subscriber)["ports"] = self._own_ports(SUBSCRIBER + name)
            reads = ReadsQueue(
                turn=self.turns,
                workers=workers_for(self),
                name=SUBSCRIBER + name,
                queue=self.queue(SUBSCRIBER + name),
                use=build(Deliver, self.parts.of(SUBSCRIBER + name), read=subscriber.read),
                clock=self.clock,
                objects=self.around.objects,
                observer=self.observer,
            )
            found.append(reads)
        if self.receiver:
            ports = self.parts.of(FUNCTION)
            poster = Poster(
                clock=self.clock,
                feed=self.feed,
                source=self.chosen.event_source,
                receiver=self.receiver,
                signing_rows=ports.signing_rows,
            )
            found.append(
                PostsEvents(
                    turn=self.turns, workers=workers_for(self), poster=poster, clock=self.clock, observer=self.observer
                )
            )
        return found

    # ------------------------------------------------------------ one turn

    def turn(self, calls: Sequence[ApiCall | TurnJob] = (), *, calls_only: bool = False) -> bool:
        """Does what there is to do now, and commits it. Whether there was anything.

        First it begins what former turns have left on the disk. Then, each with a share of its own: what ends
        something, what is due, outcomes, what has come from threads, all other calls, and what follows from changes.
        Calls that are above it wait for the next turn; so do those that a turn has not come to which raises.
        """
        self.waiting_calls += calls
        self.turns.begin()
        calls_only = calls_only or not self.turns.can_write
        is_asked, is_again = bool(self.waiting_calls), bool(self._again)
        if is_asked:
            self._asked_at = self.clock.now()
        try:
            begun = not calls_only and self._begin_all()
            for _ in range(len(self._again)):
                self._again.pop(0)()
            self._settle_ended()
            self._answer([one for one in self.waiting_calls if one.function in ENDS])
            moved = (not calls_only and self._fire_and_execute()) or begun
            moved = (not calls_only and self._lead_beside()) or moved
            self._answer([one for one in self.waiting_calls if one.function not in ENDS])
            moved = (not calls_only and self._react()) or moved
            if not calls_only and self._has_news:
                moved = self._tell(is_quiet=not moved and not is_asked) or moved
        except BaseException as error:
            self.turns.give_up(error)
            raise
        was_dirty = self.turns.end()
        return self.turns.can_write and (was_dirty or moved or is_asked or is_again)

    def upkeep(self, space: Space, log_size: Callable[[], int]) -> Upkeep:
        """Of its file, whose log has so many bytes."""

        def restrict(is_restricted: bool) -> None:
            self.is_restricted = is_restricted

        feeds = [one.function for one in [*self.sources, self.telling] if isinstance(one, FeedSource)]
        return build(
            Upkeep,
            self.parts.of("upkeep"),
            database=self.database,
            turns=self.turns,
            stored=self.items,
            feed=self.feed,
            readers=lambda: feeds,
            clock=self.clock,
            space=space,
            log_size=log_size,
            restrict=restrict,
        )

    def waiting(self) -> int:
        """How many schedules wait for their point in time, or for it to be decided. Raises Unavailable."""
        return sum(self.counters.of(one) for one in FIRED)

    def wind_down(self) -> None:
        """No attempt begins from now on, and nothing more is claimed; what is under way goes on to its end."""
        self.attempts = 0

    def next_at(self) -> Millis | None:
        """When there will be something to do, as far as it is known."""
        following = self._next_at()
        if not self.turns.can_write or not self._has_news:
            return following
        tells_at = self._tells_at(self.clock.now(), following, is_quiet=True)
        return tells_at if following is None else min(following, tells_at)

    def _next_at(self) -> Millis | None:
        """But what is to be told."""
        if not self.turns.can_write:
            return self.clock.now() + PAUSE
        executors = self.executors.values()
        sources = [one for one in self.sources if one is not self.relayed or self._room() > 0]
        instants = [one.next_at() for one in sources]
        instants += [at for one in self.beside for at in (one.next_at(), one.settles_at())]
        instants += [one.desk.next_at() for one in executors]
        if not self.lives.is_holding:
            instants.append(self.lives.next_at())
            if self._room() > 0:  # otherwise the end of an attempt is what is waited for
                instants += [self._fires_at(), *(one.queue.next_visible() for one in executors)]
        return min((one for one in instants if one is not None), default=None)

    def _answer(self, calls: Sequence[ApiCall | TurnJob]) -> None:
        self.turns.begin_part()
        for number, call in enumerate(calls):
            if number and self.turns.is_spent:
                return
            self.waiting_calls.remove(call)
            if isinstance(call, TurnJob):
                self.turns.do(call.do, call.deliver)
            else:
                self.turns.do(partial(self._answered, call), partial(_deliver, call))

    def _answered(self, call: ApiCall) -> Response:
        if self.is_restricted and call.function in GROWS:
            return no_room()
        if call.function == FUNCTION:
            return self.read_events(call.request)
        made: Response = self.function(call.function).handler.answer(call.request)
        return made

    def _begin_all(self) -> bool:
        """Takes up what was handed over, before anything is written: nothing begins that is not on the disk.

        So are the steps to an attempt, which only read: after a write, each of them would wait for the commit.
        """
        moved, whose = False, self._whose()
        if whose is Whose.SUSPECT:
            moved = self._take_up_suspect()
        if whose is Whose.ALL:
            moved = sum([self._take_up(one) for one in self._all_known()]) > 0
        moved = sum([one.begin() for one in self.beside]) > 0 or moved
        for executor in self.executors.values():
            while executor.desk.go_on(READS):
                moved = True
        return moved

    def _fire_and_execute(self) -> bool:
        self.turns.begin_part()
        self.relayed.at_most = min(RELAYED, self._room())
        moved = self._whose() is Whose.ALL and self._fire()
        self.turns.begin_part()
        moved = sum([self._lead(one) for one in self._all_known()]) > 0 or moved
        self._settle_ended()
        return moved

    def _whose(self) -> Whose:
        return self.lives.whose_turn(sum(one.desk.number for one in self.executors.values()))

    def _all_known(self) -> list[MachineExecutor]:
        named = [one.removeprefix(EXECUTOR) for one in self.queues if one.startswith(EXECUTOR)]
        return [one for kind in named if (one := self._known(kind))]

    def _may_begin(self) -> bool:
        return self.attempts > 0

    def _room(self) -> int:
        """How many more attempts can soon begin. What waits for room itself takes none from others, up to a bound."""
        known = self.executors.values()
        under_way = sum(one.desk.number for one in known)
        waiting = sum(one.execute.room.refused().total() for one in known)
        return self.attempts + min(waiting, WAITING_FOR_ROOM * self.attempts) - under_way

    def _blocked(self) -> set[Party]:
        """Those of whom no more is claimed: half as many as there may be attempts wait for room already."""
        refused = sum((one.execute.room.refused() for one in self.executors.values()), Counter[Party]())
        return {party for party, number in refused.items() if 2 * number >= self.attempts}

    def _fires_at(self) -> Millis | None:
        following, now = self.fire.next_at(), self.clock.now()
        is_blocked = 0 < self._blocked_until - now <= BLOCKED  # the clock may be set back
        return self._blocked_until if is_blocked and following is not None else following

    def _known(self, kind: str) -> MachineExecutor | None:
        """None for one that cannot run here: what was handed to it waits in its queue until the engine starts anew."""
        if kind in self._cannot_run:
            return None
        try:
            return self.executor(kind)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - one action harms itself alone
            self._cannot_run.add(kind)
            why = {"why": self.absent[kind]} if kind in self.absent else facts_of(error)
            self.observer.warn("an action cannot run here: what was handed to it waits", action=kind, **why)
            return None

    def _fire(self) -> bool:
        """No more than can soon begin."""
        now, following, waited, room = self.clock.now(), self._fires_at(), self.relayed.next_at(), self._room()
        if room <= 0 or following is None or following > now:
            return False
        if waited is not None and waited <= now:  # half of the room is for what has waited, and the odd one by turns
            self._odd = not self._odd
            self.relayed.at_most = min(RELAYED, (room + self._odd) // 2)
            room -= self.relayed.at_most
        try:
            due = self.fire.due(min(CLAIMS, room)) if room else []
        except Unavailable as error:
            self._warn("nothing was fired", error)
            self._blocked_until = now + BLOCKED
            return False
        self._blocked_until = now + BLOCKED if room and not due else 0
        self._fire_all(due)
        self.relayed.at_most = min(self.relayed.at_most, self._room() - len(due))
        return bool(due)

    def _fire_all(self, due: Sequence[DueItem]) -> None:
        """In halves, if it raises. What raises alone is set aside, so that nobody else waits for it."""
        deliver = partial(self._not_fired, is_alone=len(due) == 1)
        if not due or self.turns.do(partial(self.fire.page, due), deliver) or self.database.is_lost:
            return
        if len(due) == 1:
            self.turns.do(partial(self.fire.set_aside, due[0]), partial(self._warn, "nothing was fired"))
        else:
            middle = len(due) // 2
            for half in (due[:middle], due[middle:]):
                self._fire_all(half)

    def _not_fired(self, outcome: Any, *, is_alone: bool) -> None:
        """Warns of one that raises alone. Those that raise together are tried in halves."""
        if isinstance(outcome, Unwritten):
            self._warn("nothing was fired", outcome)
        elif is_alone:
            self._warn("a schedule could not be fired: the relay has it", outcome)

    def _take_up(self, one: MachineExecutor) -> bool:
        received = one.queue.receive(self._room()) if self._room() > 0 else []
        for message in received:
            self._begin(one, message)
        return bool(received)

    def _take_up_suspect(self) -> bool:
        if taken := self.lives.take(self.queue):
            queue, message = taken
            if known := self._known(queue.removeprefix(EXECUTOR)):
                self._begin(known, message)
        return True

    def _begin(self, one: MachineExecutor, message: ReceivedMessage) -> None:
        kind = one.queue.name.removeprefix(EXECUTOR)
        execute = with_care(one.execute, self.lives.care_for(message), kind, self.alone)
        one.desk.begin(execute.settle(message), partial(self._done, one, message))

    def _lead(self, one: MachineExecutor) -> bool:
        """Lets who has waited for room come before who is new."""
        moved = False
        while one.desk.go_on():
            moved = True
        if left := one.workers.left():
            moved, self._blocked_until = True, 0
            refused = one.execute.room.refused()
            one.desk.nudge(left if len(refused) < 2 else refused.total())  # whose place it is, nobody knows then
            while one.desk.go_on():
                pass
        return moved

    def _done(self, one: MachineExecutor, received: ReceivedMessage, is_done: bool | None) -> None:
        """Its course has ended, perhaps before the turn may write."""
        self._ended.append(Ended(queue=one.queue, received=received, is_done=is_done))

    def _settle_ended(self) -> None:
        """All together."""
        ended, self._ended = self._ended, []
        if ended:
            self._settle(ended)

    def _settle(self, ended: Sequence[Ended]) -> None:
        self.turns.do(partial(self._write_ends, ended), partial(self._have_left, ended))

    def _write_ends(self, ended: Sequence[Ended]) -> None:
        for its in {one.queue.name: one.queue for one in ended}.values():
            there = [one for one in ended if one.queue is its]
            if unbegun := [one.received for one in there if one.is_done is None]:  # they are there for the next life
                its.put_off(unbegun, self.clock.now())
            if begun := [one.received for one in there if one.is_done is not None]:
                failed = [one.received.message_id for one in there if one.is_done is False]
                its.settle(begun, failed)
        for one in ended:
            self.lives.over(one.received, is_done=bool(one.is_done))

    def _have_left(self, ended: Sequence[Ended], outcome: Any) -> None:
        """If it could not be written, each alone tries it again: perhaps one of them is to blame."""
        if isinstance(outcome, Exception):
            self._again += [partial(self._settle, [one]) for one in ended]
            return
        whatever_one_raises(
            partial(self.lives.is_over, one.received, one.queue, is_done=bool(one.is_done)) for one in ended
        )

    def _lead_beside(self) -> bool:
        self.turns.begin_part()
        return sum([one.lead() for one in self.beside]) > 0

    def _react(self) -> bool:
        """To what has happened."""
        return sum([self._take(one) for one in self.sources if one is not self.relayed or one.at_most > 0]) > 0

    def _take(self, source: Source) -> bool:
        """All that it has now, up to its share."""
        moved = False
        self.turns.begin_part()
        for batch in source.batches():
            self.turns.do(partial(self._run, batch), partial(self._has_run, batch))
            moved = True
            if self.turns.is_spent:
                break
        return moved

    def _tells_at(self, now: Millis, following: Millis | None, *, is_quiet: bool) -> Millis:
        """Says when to tell of what has happened: when there is nothing else to do, but not never."""
        if self._is_behind(now) or now < self._announced_at:
            return now
        latest = self._announced_at + ANNOUNCED_EVERY
        at = min(self._asked_at + self.lull, self._announced_at + LULL_MISSED) if is_quiet else latest
        return latest if following is not None and following - max(at, now) < TELLING else at

    def _is_behind(self, now: Millis) -> bool:
        """Whether the oldest that is not told yet has waited for long."""
        cursor = self.feed.cursor(EVENTS)
        if self._oldest[0] != cursor:
            if not (untold := self.feed.after(cursor, 1)):
                return False
            self._oldest = cursor, untold[0].at
        return now - self._oldest[1] > BEHIND

    @property
    def _has_news(self) -> bool:
        return self.feed.cursor(EVENTS) < self.feed.last

    def _tell(self, *, is_quiet: bool) -> bool:
        """As much as there is time for, until something else is due."""
        now, following = self.clock.now(), self._next_at()
        if now < self._tells_at(now, following, is_quiet=is_quiet):
            return False
        self._announced_at = now
        gap = MOST_ANNOUNCED * TELLING if following is None else following - now
        least, most = (MOST_ANNOUNCED, CLAIMS) if self._is_behind(now) else (ANNOUNCED, MOST_ANNOUNCED)
        self.telling.at_most = min(max(least, gap // TELLING * ANNOUNCED), most)
        return self._take(self.telling)

    def _run(self, batch: Batch) -> Any:
        """One function: all that it does, or nothing."""
        if isinstance(batch.source, InPortions):
            return self.uses[batch.function]()
        failed = self.uses[batch.function](batch.items)
        batch.settle(failed if isinstance(failed, list) else [])
        return None

    def _has_run(self, batch: Batch, outcome: Any) -> None:
        """Lets what has failed come again, later each time, and what could not be written as if nothing had been."""
        if isinstance(outcome, Unwritten):
            if isinstance(batch.source, QueueSource):
                self.queues[batch.source.queue.name].forget(batch.items)
            elif isinstance(batch.source, InPortions):
                batch.source.go_on()
        elif isinstance(outcome, Exception):
            self._warn(f"{batch.function} has failed", outcome)
            self._again.append(partial(self._set_aside, batch, outcome))
        elif outcome is False and isinstance(batch.source, InPortions):
            batch.source.go_on()

    def _set_aside(self, batch: Batch, error: Exception) -> None:
        """Within the next turn; again after that, until it is on the disk."""
        match batch.source:
            case FeedSource() | AgainSource() as source:
                do = partial(source.raised, batch, error)
            case QueueSource():
                do = partial(batch.settle, [one.message_id for one in batch.items])
            case _:
                return
        self.turns.do(do, partial(self._is_aside, batch, error))

    def _is_aside(self, batch: Batch, error: Exception, outcome: Any) -> None:
        if isinstance(outcome, Exception):
            self._again.append(partial(self._set_aside, batch, error))

    def _warn(self, what: str, outcome: Any) -> None:
        if isinstance(outcome, Exception):
            self.observer.warn(what, **facts_of(outcome))


def last_number(database: Database) -> int:
    """The greatest number that was ever given and is still known: the clock may have been set back since."""
    [(last,)] = database.read(GREATEST, ())
    return int(last)


def _deliver(call: ApiCall, outcome: Any) -> None:
    call.answer(unavailable() if isinstance(outcome, Exception) else outcome)
