"""All functions on the shipped fakes, under one clock: what AWS does between them, done here step by step.

The use cases come from the same factories as those of the functions. Streams deliver in order and again from the lowest
failed record, queues at least once, and a function that dies settles nothing. `duplicated` delivers every batch twice.
A FaultPlan spoils one call of one function.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from threading import Condition
from typing import Any
from zlib import crc32

from attrs import define, evolve, field, frozen

from delayer.aws.messaging.dead_letter_reader import schedules_in
from delayer.core.actions.built_in import built_in
from delayer.core.actions.registration import Registration
from delayer.core.api.quota import Limits
from delayer.core.history.events import LifecycleRecord, of_record, of_row
from delayer.core.ledger.row import LedgerRow
from delayer.core.recovery.dead_letter import Contents
from delayer.core.schedule.instants import DAY, MINUTE, SECOND, Millis
from delayer.core.schedule.schedule import Schedule
from delayer.core.schedule.schedule_id import IdKeys, first_keys
from delayer.core.schedule.table_change import RecordChange
from delayer.core.signing.keys import SigningKeys
from delayer.core.signing.keys import first_keys as first_signing_keys
from delayer.core.timing.deciding import At, Chosen
from delayer.fakes import (
    AtOnce,
    InOrder,
    ManualClock,
    MemoryActions,
    MemoryBlocks,
    MemoryConnections,
    MemoryControl,
    MemoryDeadLetterStore,
    MemoryFunction,
    MemoryJobs,
    MemoryJournal,
    MemoryLedger,
    MemoryLines,
    MemoryLiveCount,
    MemoryObserver,
    MemoryOwnerClaim,
    MemoryOwnerPolicies,
    MemoryQueue,
    MemoryRateLimit,
    MemoryRecords,
    MemoryRegistry,
    MemoryScheduleTable,
    MemorySeal,
    MemorySeats,
    MemorySecrets,
    MemorySeries,
    MemorySeriesProgress,
    MemorySeriesUpkeep,
    MemorySigningRows,
    MemoryStream,
    MemoryTokens,
    MemoryTopic,
    MemoryTrials,
    MemoryWaitingTable,
    ScriptedTarget,
    Tokens,
)
from delayer.fakes.runtime.faults import Crash, FaultPlan, Faulty
from delayer.ports.clock import Clock, Meeting, Parallel
from delayer.ports.queue import ReceivedMessage
from delayer.ports.stream_consumer import Died
from delayer.ports.target import Target
from delayer.ports.topic import Announcement
from delayer.ports.unavailable import Unavailable
from delayer.use_cases.actions.registered import RegisteredActions
from delayer.use_cases.api.accept import Accepted
from delayer.use_cases.firing.enqueue import Sent
from delayer.use_cases.flow.slots import Slots
from delayer.use_cases.limits.seats import Seats
from delayer.use_cases.owners.known import KnownOwnerPolicies
from delayer.wiring import use_cases

START: Millis = 1_795_251_600_000  # 2026-11-21T09:00:00Z
PERIOD = 14 * MINUTE
LEASE = 10 * SECOND
LEAD = 250
KEY = bytes(range(100, 132))  # behind the ids
SIGNING_KEY = bytes(range(32))  # behind the signatures
SUSPECTS = {"relay": "suspects", "execute": "http-suspects", "step": "series-suspects"}  # the queue of each function
ACTION = {"type": "http-request", "url": "http://target/"}
REMOTE = {  # the parts of a bundle behind which AWS may fail, and what they are called in the world
    "schedules": "table",
    "records": "records",
    "timed_records": "records",
    "waiting": "waiting_table",
    "waiting_records": "waiting_records",
    "ledger": "ledger",
    "ledger_in_batches": "ledger",
    "control": "control",
    "signing_rows": "signing_rows",
    "trials": "trials",
    "blocks": "blocks",
    "lines": "lines",
    "registry": "registry",
    "series": "series",
    "series_upkeep": "series_upkeep",
    "series_progress": "series_progress",
    "jobs": "jobs",
    "connections": "connections",
    "secrets": "secrets",
    "token_rows": "token_rows",
    "seal": "seal",
    "dead_letter_store": "store",
    "delayer_queue": "delayer_queue",
    "sweep_queue": "sweep_queue",
    "group_queue": "group_queue",
    "own_queue": "http_queue",
    "fail_fast_journal": "journal",
}
LOCAL = {  # those that always answer
    "observer": "observer",
    "background": "background",
    "new_meeting": "meeting",
    "journal": "journal",
    "rate_limit": "rate_limit",
    "live_count": "live_count",
    "fail_fast_live_count": "live_count",
    "topic": "topic",
    "read_dead_letter": "contents",
    "stream_consumer": "stream_consumer",
    "randomness": "some_bytes",
    "new_job_id": "tokens",
    "new_series_id": "tokens",
    "action_rows": "action_rows",
    "owner_claim": "owner_claim",
    "owner_policies": "owner_policies",
    "owner_policy_rows": "owner_policy_rows",
    "function_at": "function_at",
    "executor_remote": "remote",
}


@define
class WhileOthersRun:
    """The clock of a function that waits for what another one does: the stream is read meanwhile."""

    world: "World"

    def now(self) -> Millis:
        return self.world.clock.now()

    def sleep_until(self, instant: Millis) -> None:
        self.world.read_stream()
        self.world.clock.sleep_until(instant)


@frozen(kw_only=True)
class WorldSettings:
    """What the template would set."""

    shards: int
    limits: Limits
    period: Millis = PERIOD
    lease: Millis = LEASE
    lead: Millis = LEAD
    keep_for: Millis = 90 * DAY
    event_source: str = "urn:delayer:test"
    stack_id: str = "arn:aws:cloudformation:eu-west-1:123456789012:stack/delayer/0a1b"
    has_events: bool = True
    has_journal: bool = True
    has_canary: bool = False
    backlog_mark: int = 10_000
    heartbeats: int = 2
    suspects: str = ""
    max_live: int = 1  # the journal counts, whether there is a limit or not


@frozen
class Consumer:
    """Port StreamConsumer: the enqueuer, invoked by another function."""

    world: "World"

    def handle(self, records: Sequence[object]) -> list[int]:
        """As the port."""
        changes = self.world.changes(records)
        try:
            failed = self.world.enqueue(changes, brought_back=True)
        except Crash as error:
            raise Died(str(error)) from error
        return [at for at, change in enumerate(changes) if change.sequence in failed]


@frozen
class FunctionPorts:
    """The bundle of one function: each port as the world lets the function have it."""

    world: "World"
    source: str

    @property
    def clock(self) -> Clock:
        return self.world.clock_for(self.source)

    @property
    def parallel(self) -> Parallel:
        return self.world.parallel()

    @property
    def slots(self) -> Slots:
        return Slots(clock=self.clock)

    @property
    def seats(self) -> Seats:
        rows = self.world.port_for(self.source, self.world.seat_rows)
        return Seats(clock=self.clock, rows=rows, new_id=self.new_token, observer=self.world.observer)

    @property
    def actions(self) -> RegisteredActions:
        return self.world.actions

    @property
    def executor_queues(self) -> Mapping[str, Any]:
        return self.world.queues_for(self.source)

    @property
    def policy_queues(self) -> Mapping[str, Any]:
        return self.world.policy_queues_for(self.source)

    @property
    def new_token(self) -> Callable[[], str]:
        return self.world.token_for(self.source)

    @property
    def pick(self) -> Callable[[int], int]:
        return lambda n: self.world.tokens.count % n

    @property
    def settings(self) -> WorldSettings:
        suspects = SUSPECTS.get(self.source)
        return evolve(self.world.settings, suspects=suspects) if suspects else self.world.settings

    def __getattr__(self, name: str) -> Any:
        if name in REMOTE:
            return self.world.port_for(self.source, getattr(self.world, REMOTE[name]))
        if name in LOCAL:
            return getattr(self.world, LOCAL[name])
        raise AttributeError(name)


def registered_built_ins() -> MemoryActions:
    """As the deployment of the stack registers them."""
    stack = "arn:aws:cloudformation:eu-west-1:123456789012:stack/delayer/1"
    return MemoryActions(
        {kind: (Registration(action=action, stack=stack, token="first"),) for kind, action in built_in().items()}
    )


@define(kw_only=True, slots=False)
class World:
    """One stack. `spoiled` names the function whose ports are under `plan`."""

    spoiled: str = ""
    plan: FaultPlan = field(factory=FaultPlan)
    duplicated: bool = False
    shards: int = 2
    page_size: int = 500
    limits: Limits = field(factory=Limits)
    clock: ManualClock = field(init=False, factory=lambda: ManualClock(START))
    observer: MemoryObserver = field(init=False, factory=MemoryObserver)
    control: MemoryControl = field(init=False, factory=MemoryControl)
    signing_rows: MemorySigningRows = field(init=False, factory=MemorySigningRows)
    trials: MemoryTrials = field(init=False, factory=MemoryTrials)
    blocks: MemoryBlocks = field(init=False, factory=MemoryBlocks)
    lines: MemoryLines = field(init=False, factory=MemoryLines)
    seat_rows: MemorySeats = field(init=False, factory=MemorySeats)
    ledger: MemoryLedger = field(init=False, factory=MemoryLedger)
    store: MemoryDeadLetterStore = field(init=False, factory=MemoryDeadLetterStore)
    topic: MemoryTopic = field(init=False, factory=MemoryTopic)
    journal: MemoryJournal = field(init=False, factory=MemoryJournal)
    jobs: MemoryJobs = field(init=False, factory=MemoryJobs)
    rate_limit: MemoryRateLimit = field(init=False, factory=MemoryRateLimit)
    live_count: MemoryLiveCount = field(init=False, factory=MemoryLiveCount)
    tokens: Tokens = field(init=False, factory=Tokens)
    background: AtOnce = field(init=False, factory=AtOnce)
    accepted: list[Schedule] = field(init=False, factory=list)
    ticking: bool = field(init=False, default=True)
    _last_tick: Millis = field(init=False, default=0)
    _reported: tuple[int, int] = field(init=False, default=(0, 0))
    _changed_at: list[Millis] = field(init=False, factory=list)  # of each record of the table's stream

    def __attrs_post_init__(self) -> None:
        self.settings = WorldSettings(shards=self.shards, limits=self.limits)
        self.action_rows = registered_built_ins()
        self.actions = RegisteredActions(clock=self.clock, store=self.action_rows)
        self.owner_claim = MemoryOwnerClaim()
        self.owner_policy_rows = MemoryOwnerPolicies()
        self.owner_policies = KnownOwnerPolicies(clock=self.clock, store=self.owner_policy_rows)
        self.remote = MemoryFunction()
        self.function_at = lambda _: self.remote
        self.make_adapters()
        self.control.write_id_keys(first_keys(KEY, 0), IdKeys())  # operator-id-key has run
        self.signing_rows.write_signing_keys(first_signing_keys(SIGNING_KEY, 0), SigningKeys())
        self.build()

    def make_adapters(self) -> None:
        """The fakes that know each other."""
        self.table = MemoryScheduleTable(page_size=self.page_size, clock=self.clock)
        self.relaxed = MemoryScheduleTable(page_size=self.page_size, clock=self.clock)
        self.suspects = MemoryQueue(clock=self.clock, name=SUSPECTS["relay"])
        self.http_suspects = MemoryQueue(clock=self.clock, name=SUSPECTS["execute"], visibility=90 * SECOND)
        self.delayer_queue = MemoryQueue(clock=self.clock, name="delayer", dead_letters=self.suspects)
        self.sweep_queue = MemoryQueue(clock=self.clock, name="sweep", visibility=90 * SECOND)
        self.group_queue = MemoryQueue(clock=self.clock, name="group", visibility=120 * SECOND, fifo=True)
        self.http_queue = MemoryQueue(
            clock=self.clock, name="http", visibility=90 * SECOND, dead_letters=self.http_suspects
        )
        self.policy_queue = MemoryQueue(clock=self.clock, name="policy-spread", visibility=120 * SECOND)
        self.target = ScriptedTarget(self.clock)
        self.records = MemoryRecords(schedules=self.table, relaxed=self.relaxed)
        self.waiting_records = self.records.waiting
        self.waiting_table = MemoryWaitingTable(waiting=self.waiting_records)
        self.token_rows = MemoryTokens()
        self.connections = MemoryConnections(tokens=self.token_rows)
        self.secrets, self.seal = MemorySecrets(), MemorySeal()
        self.registry = MemoryRegistry(schedules=self.records, ledger=self.ledger, connections=self.connections)
        self.series = MemorySeries(
            schedules=self.records,
            ledger=self.ledger,
            requests=self.registry.requests,
            connections=self.connections,
        )
        self.series_upkeep = MemorySeriesUpkeep(series=self.series)
        self.series_progress = MemorySeriesProgress()

    def build(self) -> None:
        """The functions, as their app.py makes them."""
        self.stream = MemoryStream(self.clock, self.table.stream, self.discard, shards=self.shards)
        self.relaxed_stream = MemoryStream(self.clock, self.relaxed.stream, self.discard, shards=self.shards)
        self.accept = use_cases.accept(self.ports("accept"))
        self.replace = use_cases.replace(self.ports("replace"), use_cases.occurrences(self.ports("replace")))
        self.cancel = use_cases.cancel(self.ports("cancel"), use_cases.occurrences(self.ports("cancel")))
        self.stop = use_cases.stop(self.ports("stop"))
        self.begin_cancel_group = use_cases.begin_cancel_group(self.ports("begin cancel group"))
        self.cancel_group = use_cases.cancel_group(self.ports("cancel group"))
        # The second time another environment runs it.
        sent = Sent(at_most=0 if self.duplicated else 10_000)
        self.enqueue = evolve(use_cases.enqueue(self.ports("enqueue")), sent=sent)
        self.waiting_stream = MemoryStream(self.clock, self.waiting_records.stream, self.discard, shards=self.shards)
        self.enqueue_timing = use_cases.enqueue_timing(self.ports("enqueue_timing"))
        self.timing_tick = use_cases.timing_net(self.ports("timing tick"))
        self.decide = use_cases.decide(self.ports("policy"), self.choose)
        self.claim_relaxed = use_cases.claim_relaxed(self.ports("claim_relaxed"))
        self.tick = use_cases.tick(self.ports("tick"))
        self.sweep_buckets = use_cases.sweep_buckets(self.ports("sweep"))
        self.relay = use_cases.relay(self.ports("relay"))
        self.execute = use_cases.execute(self.ports("execute"), self.target_for("execute"))
        self.guarded_relay = use_cases.guard(self.ports("relay"), lambda batch: self.relay_batch(batch))
        self.guarded_execute = use_cases.guard(self.ports("execute"), lambda batch: self.execute_batch(batch))
        self.announce = use_cases.announce(self.ports("announce"))
        self.write_journal = use_cases.write_journal(self.ports("journal"))
        self.redrive = use_cases.redrive(self.ports("redrive"))
        self.create_series = use_cases.create_series(self.ports("create series"))
        self.halt = use_cases.halt_series(self.ports("halt series"))
        self.resume = use_cases.resume_series(self.ports("resume series"))
        self.change_series = use_cases.change_series(self.ports("change series"))
        self.run_series = use_cases.run_series(self.ports("run series"))
        self.guarded_step = use_cases.guard(self.ports("step"), lambda batch: self.step_batch(batch))
        self.step = use_cases.react_to_events(self.ports("step"))
        self.series_tick = use_cases.series_tick(self.ports("series tick"))

    def relay_batch(self, batch: Sequence[ReceivedMessage]) -> list[str]:
        """What the relay does with a batch."""
        return self.relay(batch)

    def execute_batch(self, batch: Sequence[ReceivedMessage]) -> list[str]:
        """What the executor does with a batch."""
        return self.execute(batch)

    def choose(self, schedule: Schedule) -> Chosen:
        """What the policy spread says."""
        seconds: int = json.loads(schedule.definition.when)["seconds"]
        return At(schedule.created_at + crc32(schedule.id.encode()) % (seconds * SECOND))

    def step_batch(self, batch: Sequence[ReceivedMessage]) -> list[str]:
        """What the stepper of series does with a batch of events."""
        return self.step(batch)

    def token_for(self, function: str) -> Callable[[], str]:
        """Where a function has its nonces and fencing tokens from."""
        return self.tokens

    def queues_for(self, function: str) -> Mapping[str, Any]:
        """The queues of the actions, as a function sees them."""
        return {"http-request": self.port_for(function, self.http_queue)}

    def policy_queues_for(self, function: str) -> Mapping[str, Any]:
        """The queues of the policies, as a function sees them."""
        return {"spread": self.port_for(function, self.policy_queue)}

    def ports(self, function: str) -> FunctionPorts:
        """The bundle of one function."""
        return FunctionPorts(self, function)

    def target_for(self, function: str) -> Target:
        """The target as a function reaches it."""
        target: Target = self.port_for(function, self.target).__call__
        return target

    @property
    def stream_consumer(self) -> Consumer:
        """The enqueuer, as the minute task sees it."""
        return Consumer(self)

    def changes(self, records: Sequence[Any]) -> list[RecordChange]:
        """The changes that were written as these records."""
        return [self.table.stream[int(record["sequence"]) - 1] for record in records]

    def contents(self, content: bytes) -> Contents:
        """The schedules in an object of the store."""
        return schedules_in(content)

    def clock_for(self, function: str) -> Clock:
        return WhileOthersRun(self) if function == "tick" else self.clock

    def parallel(self) -> Parallel:
        return InOrder()

    def meeting(self) -> Meeting:
        """Where threads of a function wait for each other."""
        return Condition()

    def port_for(self, function: str, port: Any) -> Any:
        return Faulty(port, self.plan) if function == self.spoiled else port

    def some_bytes(self, number: int) -> bytes:
        """Others each time."""
        self.tokens()
        return self.tokens.count.to_bytes(number, "big")

    # ------------------------------------------------------------ clients

    def post(
        self,
        due: Millis,
        tries: int = 3,
        retry: Mapping[str, object] | None = None,
        precision: str = "precise",
        **action: object,
    ) -> Schedule | None:
        """POSTs, and again if the answer is 503; what was answered 201 is in `accepted`."""
        body = {
            "pointInTime": due / 1000,
            "action": {**ACTION, **action},
            "payload": {"due": due},
            "precision": precision,
            **({"retry": retry} if retry else {}),
        }
        for _ in range(tries):
            try:
                answer = self.accept(json.dumps(body).encode(), "owner")
            except (Unavailable, Crash):
                continue
            assert isinstance(answer, Accepted)
            schedule = self.stored(answer.schedule_id)
            self.accepted.append(schedule)
            return schedule
        return None

    def stored(self, schedule_id: str) -> Schedule:
        """As its record was when it was written."""
        return next(
            change.row
            for change in reversed([*self.table.stream, *self.relaxed.stream, *self.waiting_records.stream])
            if isinstance(change.row, Schedule) and change.row.id == schedule_id
        )

    # ------------------------------------------------------------ what AWS does

    def run_until(self, instant: Millis) -> None:
        """Lets everything happen that happens up to an instant."""
        while True:
            if self.ticking and self.clock.now() - self._last_tick >= MINUTE:
                self._last_tick = self.clock.now()
                self._tick()
            if not self._step():
                following = self._next_event()
                if following is None or following > instant:
                    break
                self.clock.sleep_until(following)
        self.clock.sleep_until(instant)

    def lifecycle_records(self) -> list[LifecycleRecord]:
        """What the two tables' streams brought since the last time."""
        self._note_times()
        of_table, of_ledger = self._reported
        self._reported = (len(self.table.stream), len(self.ledger.changes))
        records = list(zip(self.table.stream, self._changed_at, strict=True))[of_table:]
        rows = list(enumerate(self.ledger.changes))[of_ledger:]
        return [
            *[
                LifecycleRecord(
                    sequence=change.sequence,
                    event=of_record(change.kind, change.row, change.sequence, at // SECOND * SECOND),
                )
                for change, at in records
                if isinstance(change.row, Schedule)
            ],
            *[
                LifecycleRecord(sequence=str(number), event=of_row(old, new, f"row {number}"))
                for number, (old, new) in rows
            ],
        ]

    def _note_times(self) -> None:
        unknown = len(self.table.stream) - len(self._changed_at)
        self._changed_at += [self.clock.now()] * unknown

    def update_journal(self) -> None:
        """What stream-lifecycle and lifecycle-journal do, once they have come so far."""
        assert self.announce(self.lifecycle_records()) == []
        texts = [announcement.text for announcement in self.topic.published if reaches_the_journal(announcement)]
        self.topic.published.clear()
        assert (
            self.write_journal(
                [ReceivedMessage(message_id=str(number), body=text) for number, text in enumerate(texts)]
            )
            == []
        )

    def _step(self) -> bool:
        """One round of all consumers; whether any had work."""
        self._note_times()
        moved = [
            self.read_stream(),
            self.read_relaxed(),
            *(self._consume(queue, use) for queue, use in self.consumers()),
        ]
        return any(moved)

    def consumers(self) -> list[tuple[MemoryQueue, Callable[[Any], list[str]]]]:
        """Each queue, and the function that receives from it."""
        return [
            (self.delayer_queue, self.guarded_relay),
            (self.http_queue, self.guarded_execute),
            (self.sweep_queue, self.sweep_buckets),
            (self.suspects, self.guarded_relay),
            (self.http_suspects, self.guarded_execute),
        ]

    def _tick(self) -> None:
        for _ in range(1 + self.duplicated):
            try:
                self.tick()
            except (Unavailable, Crash):
                self.observer.note("tick failed")

    def read_stream(self) -> bool:
        return self._read(self.stream, self.enqueue)

    def read_relaxed(self) -> bool:
        """The stream of the relaxed table. What expires there does so when a test says it."""
        return self._read(self.relaxed_stream, self.claim_relaxed)

    def _read(self, stream: MemoryStream, use: Callable[[Any], list[str]]) -> bool:
        busy = stream.busy()
        for shard in busy:
            if batch := stream.receive(shard):
                failed = self._call(use, batch)
                stream.settle(shard, failed)
                if failed != []:
                    self.clock.move(SECOND)  # Lambda backs off, and delivers again
        return bool(busy)

    def discard(self, batch: Sequence[RecordChange]) -> None:
        """The failure destination of the stream: nothing here is tried for so long."""
        raise AssertionError(f"{len(batch)} records of the stream were given up on")

    def _consume(self, queue: MemoryQueue, use: Callable[[Any], list[str]]) -> bool:
        batch = queue.receive(1 if queue.name in SUSPECTS.values() else 10)
        if not batch:
            return False
        failed = self._call(use, batch)
        if failed is not None:
            queue.settle(batch, failed)
        return True

    def _call(self, use: Callable[[Any], list[str]], batch: Any) -> list[str] | None:
        """None: the function died or raised."""
        try:
            failed = use(batch)
            return failed + use(batch) if self.duplicated else failed
        except (Unavailable, Crash):
            return None

    def _next_event(self) -> Millis | None:
        queues = [queue.next_visible() for queue, _ in self.consumers()]
        ticks = [self._last_tick + MINUTE] if self.ticking else []
        return min([*[at for at in queues if at is not None], *ticks], default=None)

    # ------------------------------------------------------------ what must be true

    def row(self, schedule: Schedule) -> LedgerRow | None:
        return self.ledger.read(schedule.id)

    def reached(self, schedule: Schedule) -> list[Millis]:
        """When the target was reached for it."""
        return [at for at, message in self.target.reached if message.schedule.id == schedule.id]

    def handed_over(self) -> int:
        return self.http_queue.sent

    def check_never_early(self) -> None:
        for at, message in self.target.reached:
            assert at >= message.schedule.point_in_time, (
                f"{message.schedule.id} reached {message.schedule.point_in_time - at} ms early"
            )

    def check_nothing_left(self) -> None:
        for queue, _ in self.consumers():
            assert queue.messages == []
        assert self.table.rows == {}
        assert self.stream.unread() == []


def reaches_the_journal(announcement: Announcement) -> bool:
    """As the filter policy of its subscription says: a test of the template holds the two together."""
    return "retold" not in dict(announcement.attributes)
