"""The stack in virtual time: the use cases as they are, the shipped fakes, and AWS between them.

The use cases are made as the functions make theirs: by `build`, or by the factories in `delayer.wiring.use_cases`. Each
port is behind a network that may fail; each function has its own clock.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from attrs import define, evolve, field, fields, frozen

from delayer.actions.ports import Target as Reaches
from delayer.actions.rules.model import Result, Retry
from delayer.dead_letters.model import BROUGHT_BACK, Contents, decode
from delayer.dead_letters.redrive import Impossible
from delayer.engines.memory import MemoryObjects
from delayer.engines.ports import Clock, ReceivedMessage, Unavailable, Workers
from delayer.engines.process import InOrder
from delayer.engines.sqlite.store import SqliteStore
from delayer.enqueue.enqueue import Enqueue, Sent
from delayer.execute.execute import Execute
from delayer.history.cloud_events import encode
from delayer.history.model import LifecycleEvent, of_record
from delayer.history.ports import JournalEntry
from delayer.history.repository import StoredJournal
from delayer.http.problem import Invalid
from delayer.lambdas.dead_letter_reader import schedules_in
from delayer.ledger.repository import StoredLedgerInBatches
from delayer.recovery.guard import Guard
from delayer.recovery.ports import Died
from delayer.recovery.repository import StoredTrials
from delayer.relay.relay import Relay
from delayer.schedule.instants import HOUR, MINUTE, Malformed, Millis
from delayer.schedule.messages import ExecutorMessage
from delayer.schedule.schedule import Schedule
from delayer.schedule.table_change import ChangeKind, RecordChange
from delayer.schedule.tables import CONTROL, JOURNAL, LEDGER, REGISTRY, RELAXED, SCHEDULES
from delayer.wiring import use_cases
from delayer.wiring.manifest import FromQueue, reaction_of
from tests.fakes.faults import Crash
from tests.fakes.messaging import MemoryQueue, QueuedMessage, oldest
from tests.fakes.streams import Feed
from tests.simulation.engine.chance import Chance
from tests.simulation.engine.kernel import FunctionClock, Invocation, Kernel, SideBySide, Turn, VirtualWorkers, current
from tests.simulation.engine.remote import BadDeploy, Harm, Network, NotStarted, Remote, Service
from tests.simulation.engine.remote_store import RemoteStore
from tests.simulation.oracle.watch import Watch
from tests.simulation.oracle.watched import (
    WatchedBlocks,
    WatchedExecute,
    WatchedFeed,
    WatchedQueue,
    WatchedStore,
    WatchedTable,
)
from tests.simulation.story.plan import Weather
from tests.simulation.system.aws import Aws
from tests.simulation.system.bodies import body_of
from tests.simulation.system.environments import Environments
from tests.simulation.system.replica import Replica
from tests.simulation.system.target import Target
from tests.simulation.system.there import There, table_of
from tests.world import GUARDED, PLAYED, START, World

ACCOUNT = 10  # concurrent executions, in a new one
NAMES = {  # as functions/ has them
    "accept": "api-schedule-post",
    "cancel": "api-schedule-delete",
    "replace": "api-schedule-put",
    "stop": "api-schedule-stop",
    "begin cancel group": "api-group-delete",
    "cancel group": "job-group-canceller",
    "enqueue": "stream-enqueuer",
    "tick": "task-1minute-enqueuer",
    "sweep": "sweep-bucket-enqueuer",
    "claim_relaxed": "relaxed-claimer",
    "enqueue_timing": "timing-enqueuer",
    "timing tick": "task-1minute-timing",
    "policy": "policy-spread",
    "relay": "delayer-relay",
    "execute": "executor-http-request",
    "redrive": "operator-dead-letters",
    "dispatch": "suspects-dispatcher",
    "step": "series-stepper",
    "series tick": "task-1minute-series",
    "create series": "api-series-post",
    "halt series": "api-series-delete",
    "resume series": "api-series-resume",
    "change series": "api-series-patch",
    "run series": "api-series-run",
}
SHORT = {reaction_of(function).function: name for name, function in NAMES.items()}
TIMEOUTS: dict[str, Millis] = {name: reaction_of(function).timeout for name, function in NAMES.items()}
PLAYED_TOO = {  # beside what runs by itself in a world
    "task-1minute-timing": "timing_tick",
    "task-1minute-series": "series_tick",
    "timing-enqueuer": "enqueue_timing",
    "policy-*": "decide_batch",
    "job-group-canceller": "cancel_group",
    "series-stepper": "guarded_step",
}


LABELS: dict[str, str] = {  # of the repositories, in a story
    "table": "schedules",
    "records": "schedules",
    "waiting_records": "waiting",
    "undecided": "waiting",
    "ledger": "ledger",
    "ledger_in_batches": "ledger",
    "control": "control",
    "trials": "trials",
    "blocks": "blocks",
    "lines": "lines",
    "seat_rows": "seats",
    "registry": "registry",
    "connections": "connections",
    "series": "series",
    "series_upkeep": "series-upkeep",
    "series_progress": "series-progress",
    "jobs": "jobs",
    "journal": "journal",
}


@define(eq=False)
class Beginnings:
    """What has happened to the records of the table, and is not in the journal yet."""

    feed: Feed
    journal: StoredJournal  # behind no network
    _read: int = field(init=False, default=0)
    _unwritten: dict[str, list[JournalEntry]] = field(init=False, factory=lambda: defaultdict(list))  # by schedule

    def write(self, schedule_id: str) -> None:
        """Those of one schedule."""
        stream = self.feed.records[SCHEDULES]
        unread, self._read = stream[self._read :], len(stream)
        for one in unread:
            if isinstance(one.row, Schedule) and (event := of_record(one.kind, one.row, one.sequence, 0)):
                self._unwritten[event.schedule_id].append(JournalEntry(event=event, text=encode(event)))
        if entries := self._unwritten.pop(schedule_id, []):
            self.journal.write(entries, 0)


@frozen(kw_only=True)
class JournalOfBeginnings(StoredJournal):
    """The journal at its best: it knows every definition at once. All that a change by id asks of it."""

    at_once: Beginnings

    def history(self, schedule_id: str, owner: str) -> tuple[LifecycleEvent, ...]:
        self.at_once.write(schedule_id)
        return super().history(schedule_id, owner)


@define(eq=False)
class Others:
    """There is other traffic than that of the story, each minute: it is what tells a killer from an outage.

    When it came to its end is reckoned when somebody asks for it: it would be more writes than all others.
    """

    network: Network
    weather: Weather
    _passed: dict[str, Millis] = field(init=False, factory=dict)  # by function
    _known_until: Millis = field(init=False, default=START)

    def passed(self, function: str) -> Millis | None:
        """When others came to their end last."""
        self.look()
        return self._passed.get(function)

    def look(self) -> None:
        """Before the weather changes in a way that it does not tell of."""
        if not self.weather.killers or not self.weather.others:
            return
        now = self.network.kernel.now
        latest = now - (now - START - 1) % MINUTE
        for function in ("relay", "execute"):
            instants = range(latest, self._known_until, -MINUTE)
            if (last := next((at for at in instants if self.network.is_fit(function, at)), 0)) > START:
                self._passed[function] = last
        self._known_until = max(self._known_until, latest)


@frozen(kw_only=True, eq=False)
class TrialsAmongOthers(StoredTrials):
    """Those of the story, and when others came to their end."""

    others: Others

    def passed(self, function: str) -> Millis | None:
        instants = (super().passed(function), self.others.passed(function))
        return max((one for one in instants if one is not None), default=None)


@frozen
class StackConsumer:
    """Port StreamConsumer: another invocation, for which the caller waits."""

    stack: "Stack"

    def handle(self, records: Sequence[object]) -> list[int]:
        stack, changes = self.stack, self.stack.changes(records)
        stack.kernel.wait_until(stack.kernel.now + stack.chance.whole("invoke", 1, 12))
        if stack.network.is_down(Service.LAMBDA):
            raise Unavailable("Lambda is down")
        relaxed = [change for change, record in zip(changes, records, strict=True) if table_of(record) == RELAXED]
        others = [change for change in changes if change not in relaxed]
        failed = {id(change) for change in self._ask("enqueue", stack.enqueue, others)}
        failed |= {id(change) for change in self._ask("claim_relaxed", stack.claim_relaxed, relaxed)}
        return [at for at, change in enumerate(changes) if id(change) in failed]

    def _ask(self, function: str, use: Any, changes: Sequence[RecordChange]) -> Sequence[RecordChange]:
        """One of the two functions; what it has failed at."""
        if not changes:
            return ()
        about = [change.row.id for change in changes if isinstance(change.row, Schedule)]
        outcome = self.stack.kernel.call(
            lambda done: self.stack.start(function, lambda: use(changes, brought_back=True), done, about)
        )
        if isinstance(outcome, BaseException):
            raise Died(str(outcome)) from outcome
        return [change for change in changes if change.sequence in outcome]


@frozen
class StackConsumers:
    """Port Consumers: another invocation, for which the dispatcher waits."""

    stack: "Stack"

    def handle(self, function: str, message: ReceivedMessage) -> bool:
        stack, name = self.stack, GUARDED[function]
        stack.kernel.wait_until(stack.kernel.now + stack.chance.whole("invoke", 1, 12))
        if stack.network.is_down(Service.LAMBDA):
            raise Unavailable("Lambda is down")
        if stack.chance.surprise("suspect throttled", stack.weather.throttled):
            raise Unavailable("Lambda throttles")
        about = [schedule_id] if (schedule_id := body_of(message.body).id) else []
        outcome = stack.kernel.call(lambda done: stack.start(name, lambda: stack.guarded(name)([message]), done, about))
        if isinstance(outcome, NotStarted):
            raise Unavailable(str(outcome)) from outcome
        if isinstance(outcome, BaseException):
            stack.watch.died.add(message.body)
            raise Died(str(outcome)) from outcome
        return not outcome


@frozen
class QueuesOf(Mapping[str, Any]):
    """The queues of the actions; a bad deploy raises wherever it looks for one."""

    stack: "Stack"
    function: str
    queues: Mapping[str, Any]

    def __getitem__(self, action_type: str) -> Any:
        if self.stack.network.suffers(self.function, Harm.RAISES):
            raise BadDeploy(self.function)
        return self.queues[action_type]

    def __iter__(self) -> Iterator[str]:
        return iter(self.queues)

    def __len__(self) -> int:
        return len(self.queues)


@frozen(kw_only=True)
class MortalEnqueue(Enqueue):
    """The enqueuer; there are records that it dies of."""

    stack: "Stack"

    def handle(self, changes: Sequence[RecordChange], brought_back: bool) -> list[str]:
        removed = [one.row.id for one in changes if one.kind is ChangeKind.REMOVE and isinstance(one.row, Schedule)]
        self.stack.check_alive("enqueue", removed)
        return super().handle(changes, brought_back)


@define(kw_only=True)
class WatchedGuard(Guard):
    """Reports what it takes for a suspect because a run with it never came to its end."""

    watch: Watch

    def apart(self, batch: Sequence[ReceivedMessage], suspect: ReceivedMessage) -> list[str]:
        self.watch.suspected(suspect.body)
        return super().apart(batch, suspect)


@define(kw_only=True, slots=False)
class Stack(World):
    """All functions, and what AWS does."""

    chance: Chance
    weather: Weather
    log: Callable[[str, str], None]
    shards: int = field(init=False, default=1)
    at_most: int = field(init=False, default=10**9)  # steps
    played: dict[str, str] = field(init=False, factory=lambda: {**PLAYED, **PLAYED_TOO})

    def __attrs_post_init__(self) -> None:
        self.shards, self.page_size = self.weather.shards, self.weather.page
        self.kernel = Kernel(self.clock)
        self.watch = Watch(self)
        self.aws = Aws(self)
        self.network = Network(
            self.kernel,
            self.chance,
            self.weather.rate,
            self.weather.faults,
            self.weather.outages,
            self.log,
            self.watch.disturbed,
            self.watch.twinned,
            self.watch.sending,
            self.weather.deploys,
        )
        self.parallel = SideBySide(self.kernel)
        self._numbers = self._running = 0
        self.others = Others(self.network, self.weather)
        super().__attrs_post_init__()
        self._of_enqueue = {one.name: getattr(self.enqueue, one.name) for one in fields(Enqueue)}
        self.new_environment()

    # ------------------------------------------------------------ wiring

    def make_store(self) -> None:
        self.there = There(self.clock)
        self.feed = WatchedFeed(self.clock, watch=self.watch, there=self.there)
        self.items = SqliteStore(heard=self.feed.hear)
        self.replica = Replica(self.items, self.there, self.chance, self.feed.hear)

    def make_tables(self) -> None:
        super().make_tables()
        self.ledger_in_batches = StoredLedgerInBatches(store=self.items, table=LEDGER, parallel=InOrder())
        self.table = WatchedTable(watch=self.watch, store=self.items, table=SCHEDULES, page_size=self.page_size)
        self.journal = JournalOfBeginnings(
            store=self.items, table=JOURNAL, parallel=InOrder(), at_once=Beginnings(self.feed, self.journal)
        )
        self.blocks = WatchedBlocks(watch=self.watch, store=self.items, table=REGISTRY)
        self.trials = TrialsAmongOthers(store=self.items, table=CONTROL, others=self.others)

    def make_adapters(self) -> None:
        super().make_adapters()
        self.store = WatchedStore(MemoryObjects(), watch=self.watch)
        self.target = Target(self)  # type: ignore[assignment] # another fake of the same port
        self._remotes = {
            **{id(getattr(self, name)): self._stored(getattr(self, name), label) for name, label in LABELS.items()},
            id(self.store): Remote(self.store, "store", Service.S3, self.network),
            id(self.target): Remote(self.target, "target", Service.TARGET, self.network),
            **{
                id(queue): Remote(queue, f"{queue.name}-queue", Service.SQS, self.network)
                for queue in (*self.queues_of_schedules(), *self.other_queues())
            },
        }

    def make_queues(self) -> None:
        super().make_queues()
        self.series_queue = self.queues["series"]
        self.series_queue.dead_letters = self.suspects
        self.group_queue.choose = oldest

    def new_queue(self, queue: FromQueue) -> MemoryQueue:
        plain = super().new_queue(queue)
        parts = {one.name: getattr(plain, one.name) for one in fields(MemoryQueue) if one.init}
        return WatchedQueue(**{**parts, "choose": self._choose, "max_receives": 1_000}, watch=self.watch)

    def _stored(self, port: Any, label: str) -> Any:
        """A repository, with a network between it and what it stores."""
        return evolve(port, store=RemoteStore(store=self.replica, label=label, network=self.network))

    def workers_for(self, function: str) -> Workers:
        return VirtualWorkers(self.kernel)

    def clock_for(self, function: str) -> Clock:
        return FunctionClock(self.kernel)

    def port_for(self, function: str, port: Any) -> Any:
        return self._remotes[id(port)]

    def _choose(self, ready: Sequence[QueuedMessage], at_most: int) -> Sequence[QueuedMessage]:
        """SQS promises no order, and hands out as many as it likes."""
        order = sorted(ready, key=lambda _: self.chance.part("order of messages"))
        return order[: self.chance.whole("messages in a batch", 1, at_most)]

    def queues_of_schedules(self) -> Sequence[MemoryQueue]:
        """Those with schedules in them, or with work for such a queue."""
        return (
            self.delayer_queue,
            self.http_queue,
            self.sweep_queue,
            self.suspects,
            self.policy_queue,
        )

    def other_queues(self) -> Sequence[MemoryQueue]:
        """Those without schedules in them."""
        return (self.group_queue, self.series_queue)

    def guarded_by(self, function: str, use: Callable[[Sequence[ReceivedMessage]], list[str]]) -> Guard:
        guard = super().guarded_by(function, use)
        parts = {one.name: getattr(guard, one.name) for one in fields(Guard) if one.init}
        return WatchedGuard(**parts, watch=self.watch)

    def discard(self, batch: Sequence[RecordChange]) -> None:
        """The failure destination of the stream."""
        self.watch.is_checked = False
        self.log("AWS", f"gives up on {len(batch)} records of the stream, and stores them")
        content = {"payload": {"Records": [change.record for change in batch]}}
        table = table_of(batch[0].record)
        self.store.objects[f"aws/lambda/{table}{batch[0].sequence}"] = json.dumps(content).encode()

    def build(self) -> None:
        super().build()
        self.streams[RELAXED].max_age = HOUR
        self.relays = Environments("relay", self._new_relay, self.chance)
        self.executors = Environments("execute", self._new_executor, self.chance)

    def _new_relay(self) -> Relay:
        relay = use_cases.relay(self.ports("relay"))
        relay.line.gate.view.lock = Turn(self.kernel)
        return relay

    def _new_executor(self) -> Execute:
        execute = use_cases.execute(self.ports("execute"), self.target_for("execute"))
        execute.room.gate.view.lock = Turn(self.kernel)
        return WatchedExecute(**{one.name: getattr(execute, one.name) for one in fields(Execute) if one.init})

    def read_dead_letter(self, content: bytes) -> Contents:
        """What the real reader does for DynamoDB's own JSON, for the fake's records."""
        try:
            records = json.loads(content).get("payload", {}).get("Records") or [json.loads(decode(content).body)]
            changes = self.changes(records)
        except (ValueError, KeyError, TypeError):
            return schedules_in(content)
        removed = [change.row for change in changes if change.kind is ChangeKind.REMOVE]
        return Contents(
            schedules=tuple(row for row in removed if isinstance(row, Schedule)),
            malformed=sum(isinstance(row, Malformed) for row in removed),
        )

    # ------------------------------------------------------------ what functions die of, and bad deploys

    def target_for(self, function: str) -> Reaches:
        reach = super().target_for(function)

        def counted(message: ExecutorMessage) -> Result:
            self.watch.tried(message)
            try:
                result = reach(message)
            except Unavailable as error:  # as a target that does not answer
                result = Retry(detail=str(error), is_outage=True)
            self.watch.flow.answered(message, result)
            return result

        return counted

    def relay_batch(self, batch: Sequence[ReceivedMessage]) -> list[str]:
        self.check_alive("relay", [body_of(one.body).id for one in batch])
        return self.relays.run(batch)

    def decide_batch(self, batch: Sequence[ReceivedMessage]) -> list[str]:
        """What the policy does with a batch."""
        self.check_alive("policy", [])
        if self.network.suffers("policy", Harm.RAISES):
            raise BadDeploy("policy")
        return self.decide(batch)

    def step_batch(self, batch: Sequence[ReceivedMessage]) -> list[str]:
        self.check_alive("step", [])
        if self.network.suffers("step", Harm.RAISES):
            raise BadDeploy("step")
        failed = super().step_batch(batch)
        for one in batch:
            if one.message_id not in failed:
                self.watch.series.took(one.body)
        return failed

    def execute_batch(self, batch: Sequence[ReceivedMessage]) -> list[str]:
        self.check_alive("execute", [])
        return self.executors.run(batch)

    def check_alive(self, function: str, schedule_ids: Sequence[str]) -> None:
        """Raises Crash if the function dies of one of them, or of whatever it gets."""
        if self.network.suffers(function, Harm.DIES):
            self.die("a bad deploy")
        for schedule_id in schedule_ids:
            if self.watch.killers.get(schedule_id) == function:
                self.die(self.watch.name(schedule_id))

    def die(self, of: str) -> None:
        """The function that is running."""
        self.kernel.wait_until(self.kernel.now + self.chance.whole("dies after", 1, 500))
        current().invocation.dead = True
        raise Crash(f"it dies of {of}")

    def has_waiting(self) -> bool:
        """Whether there are objects in the store that are to be brought back.

        Before anything was ever scheduled they hold heartbeats, and wait for the first schedule: no tick looks at them.
        """
        return self.control.shards() is not None and any(key.startswith(BROUGHT_BACK) for key in self.store.objects)

    def token_for(self, function: str) -> Callable[[], str]:
        def token() -> str:
            if self.network.suffers(function, Harm.RAISES):
                raise BadDeploy(function)
            return self.tokens()

        return token

    def queues_for(self, function: str) -> Mapping[str, Any]:
        return QueuesOf(self, function, super().queues_for(function))

    @property
    def stream_consumer(self) -> "StackConsumer":  # type: ignore[override] # another fake of the same port
        return StackConsumer(self)

    @property
    def consumers(self) -> "StackConsumers":
        return StackConsumers(self)

    def stored(self, schedule_id: str) -> Schedule:
        return self.there.stored[schedule_id]

    # ------------------------------------------------------------ running a function

    def consumer(self, function: str) -> tuple[str, Callable[[Sequence[Any]], list[str]]]:
        """The name in a story of a function of the manifest, and what is given its batches."""
        return SHORT[function], getattr(self, self.played[function])

    def new_environment(self) -> None:
        """The enqueuer runs elsewhere from now on, and remembers nothing."""
        self.enqueue = MortalEnqueue(**{**self._of_enqueue, "sent": Sent()}, stack=self)

    def start(
        self, function: str, use: Callable[[], Any], done: Callable[[Any], None], about: Sequence[str] = ()
    ) -> None:
        """Lambda runs a function; unless Lambda is down, then `done` hears of a Crash."""
        self._numbers += 1
        skew = self.chance.whole(f"clock of {function}", -self.weather.skew, self.weather.skew)
        deadline = self.kernel.now + TIMEOUTS[function]
        invocation = Invocation(
            NAMES.get(function, function), self._numbers, skew, deadline, frozenset(about), began=self.kernel.now
        )

        def ended(outcome: Any) -> None:
            self._running -= 1
            finished(outcome)

        def finished(outcome: Any) -> None:
            if isinstance(outcome, BaseException):
                self.watch.disturbed(invocation)
                self.log(str(invocation), f"ends with {outcome!r}")
                if not isinstance(outcome, Crash | Unavailable | Impossible | Invalid | BadDeploy):
                    self.watch.unexpected(outcome)
            done(outcome)

        if self.network.fails(Service.LAMBDA) or self.network.suffers(function, Harm.NO_START):
            finished(NotStarted("it cannot start"))
        elif self.is_full():
            finished(NotStarted("the account has no room for it"))
        else:
            self._running += 1
            self.kernel.start(invocation, use, ended)

    def is_full(self) -> bool:
        """In a small account, which others use as well: Lambda throttles what would be one too many."""
        if not self.weather.crowded or self.chance.calm:
            return False
        return self._running + self.chance.whole("others in the account", 0, ACCOUNT) >= ACCOUNT
