"""All functions on the fakes, under one clock: what AWS does between them is done by the pump, step by step.

The use cases are made as the functions make theirs: by `build`, or by the factories in `delayer.wiring.use_cases`. A
function that dies settles nothing. `duplicated` delivers every batch twice. A FaultPlan spoils one call of one
function.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from zlib import crc32

from attrs import define, evolve, field, frozen

from delayer.accept.use_cases.accept import Accept, Accepted
from delayer.accept.use_cases.cancel import Cancel, Stop
from delayer.accept.use_cases.replace import Replace
from delayer.actions.ports import Target
from delayer.dead_letters.model import Contents
from delayer.engines.filter_policy import lets_through
from delayer.engines.ports import Announcement, Clock, ReceivedMessage, Unavailable
from delayer.enqueue.enqueue import Enqueue, Sent
from delayer.enqueue.sweep import SweepBuckets, Tick
from delayer.history.announce import Announce
from delayer.history.model import LifecycleRecord
from delayer.jobs.use_cases import BeginCancelGroup, CancelGroup
from delayer.lambdas.dead_letter_reader import schedules_in
from delayer.ledger.model import LedgerRow
from delayer.recovery.dispatch import DispatchSuspects
from delayer.recovery.guard import Guard
from delayer.recovery.ports import Absent, Consumers, Died
from delayer.relay.claim_relaxed import ClaimRelaxed
from delayer.schedule.instants import MINUTE, SECOND, Millis
from delayer.schedule.schedule import Schedule
from delayer.schedule.table_change import Heartbeat, RecordChange
from delayer.schedule.tables import LEDGER, STREAMED, WAITING
from delayer.series.use_cases.change import ChangeSeries
from delayer.series.use_cases.create import CreateSeries
from delayer.series.use_cases.halt import Halt
from delayer.series.use_cases.resume import Resume
from delayer.series.use_cases.run import RunSeries
from delayer.series.use_cases.step import ReactToEvents
from delayer.series.use_cases.tick import SeriesTick
from delayer.timing.ask import EnqueueTiming, TimingNet
from delayer.timing.decide import Decide
from delayer.timing.rules import At, Chosen
from delayer.wiring import use_cases
from delayer.wiring.build import build
from delayer.wiring.manifest import FromQueue, FromStream, reaction_of
from delayer.wiring.pump import Batch, Minutes, Pump
from delayer.wiring.settings import Settings
from tests.fakes import stack
from tests.fakes.faults import Crash, FaultPlan, faulty
from tests.fakes.messaging import MemoryQueue
from tests.fakes.sources import LifecycleSource, StreamSource
from tests.fakes.stack import StackInMemory
from tests.fakes.target import ScriptedTarget
from tests.looking import all_rows

START: Millis = stack.START
PERIOD = stack.PERIOD
LEASE = stack.LEASE
LEAD = stack.LEAD
KEY = stack.KEY
SIGNING_KEY = stack.SIGNING_KEY
SUSPECTS = "suspects"  # the queue that all share
TICK = "task-1minute-enqueuer"
NAMES_OF_QUEUES = {"executor-*": "http", "policy-*": "policy"}  # there is one of each
PLAYED = {  # what runs by itself: by its name in the manifest, what is given a batch
    TICK: "tick",
    "stream-enqueuer": "enqueue",
    "relaxed-claimer": "claim_relaxed",
    "delayer-relay": "guarded_relay",
    "executor-*": "guarded_execute",
    "sweep-bucket-enqueuer": "sweep_buckets",
    "suspects-dispatcher": "dispatch",
}
GUARDED = {  # who handles suspects, by its name in functions/ and in the stack
    "delayer-relay": "relay",
    "executor-http-request": "execute",
    "executor-remote": "execute",  # there is one executor here
    "series-stepper": "step",
}
ACTION = {"type": "http-request", "url": "http://target/"}
READS = [FromStream(table=table) for table in (*STREAMED, LEDGER)]  # by one reader, here


@define
class WhileOthersRun:
    """The clock of a function that waits for what another one does: the stream is read meanwhile."""

    world: "World"

    def now(self) -> Millis:
        return self.world.clock.now()

    def sleep_until(self, instant: Millis) -> None:
        self.world.read_stream()
        self.world.clock.sleep_until(instant)


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
class SameProcess:
    """Port Consumers: the functions that handle suspects, invoked by the dispatcher."""

    world: "World"

    def handle(self, function: str, message: ReceivedMessage) -> bool:
        """As the port."""
        if function not in GUARDED:
            raise Absent(function)
        try:
            return self.world.guarded(GUARDED[function])([message]) == []
        except Crash as error:
            raise Died(str(error)) from error


@define(kw_only=True, slots=False)
class World(StackInMemory):
    """One stack. `spoiled` names the function whose ports are under `plan`."""

    spoiled: str = ""
    plan: FaultPlan = field(factory=FaultPlan)
    duplicated: bool = False
    accepted: list[Schedule] = field(init=False, factory=list)
    played: dict[str, str] = field(init=False, factory=lambda: {**PLAYED})
    stopped: set[str] = field(init=False, factory=set)  # what does not run meanwhile

    def __attrs_post_init__(self) -> None:
        self.prepare()
        self.build()

    def make_adapters(self) -> None:
        """With a target that answers by a script."""
        super().make_adapters()
        self.target = ScriptedTarget(self.clock)

    def make_queues(self) -> None:
        super().make_queues()
        self.suspects = self.queues[SUSPECTS]
        for queue in (self.delayer_queue, self.http_queue):
            queue.dead_letters, queue.max_receives = self.suspects, 1_000

    def new_queue(self, queue: FromQueue) -> MemoryQueue:
        return evolve(super().new_queue(queue), name=NAMES_OF_QUEUES.get(queue.name, queue.name))

    def build(self) -> None:
        """The functions, as their app.py makes them."""
        self.accept = build(Accept, self.ports("accept"))
        self.replace = build(Replace, self.ports("replace"), occurrences=use_cases.occurrences(self.ports("replace")))
        self.cancel = build(Cancel, self.ports("cancel"), occurrences=use_cases.occurrences(self.ports("cancel")))
        self.stop = build(Stop, self.ports("stop"))
        self.begin_cancel_group = build(BeginCancelGroup, self.ports("begin cancel group"))
        self.cancel_group = build(CancelGroup, self.ports("cancel group"))
        # The second time another environment runs it.
        sent = Sent(at_most=0 if self.duplicated else 10_000)
        self.enqueue = evolve(build(Enqueue, self.ports("enqueue")), sent=sent)
        self.enqueue_timing = build(EnqueueTiming, self.ports("enqueue_timing"))
        self.timing_tick = build(TimingNet, self.ports("timing tick"))
        self.decide = build(Decide, self.ports("policy"), choose=self.choose)
        self.claim_relaxed = build(ClaimRelaxed, self.ports("claim_relaxed"))
        self.tick = build(Tick, self.ports("tick"))
        self.sweep_buckets = build(SweepBuckets, self.ports("sweep"))
        self.relay = use_cases.relay(self.ports("relay"))
        self.execute = use_cases.execute(self.ports("execute"), self.target_for("execute"))
        self.guarded_relay = self.guarded_by("relay", lambda batch: self.relay_batch(batch))
        self.guarded_execute = self.guarded_by("execute", lambda batch: self.execute_batch(batch))
        self.dispatch = build(DispatchSuspects, self.ports("dispatch"))
        self.announce = build(Announce, self.ports("announce"))
        self.write_journal = use_cases.write_journal(self.ports("journal"))
        self.redrive = use_cases.redrive(self.ports("redrive"))
        self.create_series = build(CreateSeries, self.ports("create series"))
        self.halt = build(Halt, self.ports("halt series"))
        self.resume = build(Resume, self.ports("resume series"))
        self.change_series = build(ChangeSeries, self.ports("change series"))
        self.run_series = build(RunSeries, self.ports("run series"))
        self.guarded_step = self.guarded_by("step", lambda batch: self.step_batch(batch))
        self.step = build(ReactToEvents, self.ports("step"))
        self.series_tick = build(SeriesTick, self.ports("series tick"))
        self.lifecycle = LifecycleSource(function="stream-lifecycle", feed=self.feed, reads=READS)
        sources, stopped = self.sources(self.played), self.stopped
        self.pump = Pump(sources=sources, run=self.run, wait_until=self.clock.sleep_until, stopped=stopped)

    def guarded_by(self, function: str, use: Callable[[Sequence[ReceivedMessage]], list[str]]) -> Guard:
        """As the manifest says what stands around it."""
        name = next(one for one, here in GUARDED.items() if here == function)
        guard: Guard = reaction_of(name).within(self.ports(function), use)
        return guard

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

    def settings_for(self, function: str) -> Settings:
        return evolve(self.settings, suspects=SUSPECTS) if function in GUARDED.values() else self.settings

    def target_for(self, function: str) -> Target:
        """The target as a function reaches it."""
        target: Target = self.port_for(function, self.target).__call__
        return target

    def guarded(self, function: str) -> Callable[[Sequence[ReceivedMessage]], list[str]]:
        """What handles the suspects of a function."""
        use: Callable[[Sequence[ReceivedMessage]], list[str]] = getattr(self, f"guarded_{function}")
        return use

    @property
    def consumers(self) -> Consumers:
        """The functions whose messages become suspects."""
        return SameProcess(self)

    @property
    def stream_consumer(self) -> Consumer:
        """The enqueuer, as the minute task sees it."""
        return Consumer(self)

    def changes(self, records: Sequence[Any]) -> list[RecordChange]:
        """The changes that were written as these records."""
        return self.feed.changes(records)

    def read_dead_letter(self, content: bytes) -> Contents:
        """The schedules in an object of the store."""
        return schedules_in(content)

    def clock_for(self, function: str) -> Clock:
        return WhileOthersRun(self) if function == "tick" else self.clock

    def port_for(self, function: str, port: Any) -> Any:
        return faulty(port, self.plan) if function == self.spoiled else port

    @property
    def ticking(self) -> bool:
        """Whether the minute task runs."""
        return TICK not in self.stopped

    @ticking.setter
    def ticking(self, is_on: bool) -> None:
        (self.stopped.discard if is_on else self.stopped.add)(TICK)

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
            for change in reversed([one for stream in self.feed.records.values() for one in stream])
            if isinstance(change.row, Schedule) and change.row.id == schedule_id
        )

    # ------------------------------------------------------------ what AWS does

    def run_until(self, instant: Millis) -> None:
        """Lets everything happen that happens up to an instant."""
        self.pump.run_until(instant)

    def run_out(self, at_most: Millis) -> None:
        """Lets everything happen, up to an instant at most. It ends two ticks after nothing is under way any more.

        What comes then is ticks over empty tables: they would be most of the time that a test takes.
        """
        while self.clock.now() < at_most and self._is_under_way():
            self.run_until(min(self.clock.now() + MINUTE, at_most))
        self.run_until(min(self.clock.now() + 2 * MINUTE, at_most))

    def _is_under_way(self) -> bool:
        tables = [all_rows(one) for one in (self.table, self.relaxed, self.waiting_records)]
        return not self.pump.is_idle() or any([*tables, self.streams[WAITING].unread()])

    def lifecycle_records(self) -> list[LifecycleRecord]:
        """What the tables' streams brought since the last time."""
        records: list[LifecycleRecord] = []
        while batch := next(self.lifecycle.batches(), None):
            records += batch.items
            batch.settle([])
        return records

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

    def read_stream(self) -> bool:
        """The enqueuer alone runs once; whether it had work."""
        return self.pump.step("stream-enqueuer")

    def run(self, batch: Batch) -> None:
        """A function, with a batch or at a minute."""
        use = getattr(self, self.played[batch.function])
        if isinstance(batch.source, Minutes):
            self._tick(use)
            return
        failed = self._call(use, batch.items)
        batch.settle(failed)
        if isinstance(batch.source, StreamSource) and failed != []:
            self.clock.move(SECOND)  # Lambda backs off, and delivers again

    def _tick(self, use: Callable[[], object]) -> None:
        for _ in range(1 + self.duplicated):
            try:
                use()
            except (Unavailable, Crash):
                self.observer.note("tick failed")

    def _call(self, use: Callable[[Any], list[str]], batch: Any) -> list[str] | None:
        """None: the function died or raised."""
        try:
            failed = use(batch)
            return failed + use(batch) if self.duplicated else failed
        except (Unavailable, Crash):
            return None

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
        for source in self.pump.sources:
            assert source.is_empty(), source.function
        rows = all_rows(self.table).values()
        assert [one for one in rows if not isinstance(one, Heartbeat)] == []  # one that was not deleted expires


def reaches_the_journal(announcement: Announcement) -> bool:
    """As the filter policy of its subscription says."""
    queue = reaction_of("lifecycle-journal").queue
    return queue is not None and lets_through(queue.gets or {}, dict(announcement.attributes))
