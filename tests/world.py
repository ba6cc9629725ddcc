"""All functions on the shipped fakes, under one clock: what AWS does between them, done here step by step.

The use cases come from the same factories as those of the functions. Streams deliver in order and again from the lowest
failed record, queues at least once, and a function that dies settles nothing. `duplicated` delivers every batch twice.
A FaultPlan spoils one call of one function.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from zlib import crc32

from attrs import define, evolve, field, frozen

from delayer.aws.messaging.dead_letter_reader import schedules_in
from delayer.core.history.events import LifecycleRecord, of_record, of_row
from delayer.core.ledger.row import LedgerRow
from delayer.core.recovery.dead_letter import Contents
from delayer.core.schedule.instants import MINUTE, SECOND, Millis
from delayer.core.schedule.schedule import Schedule
from delayer.core.schedule.table_change import Heartbeat, RecordChange
from delayer.core.timing.deciding import At, Chosen
from delayer.fakes.messaging.queue import MemoryQueue
from delayer.fakes.messaging.stream import MemoryStream
from delayer.fakes.runtime.faults import Crash, FaultPlan, faulty
from delayer.fakes.runtime.target import ScriptedTarget
from delayer.ports.clock import Clock
from delayer.ports.consumers import Absent, Consumers, Died
from delayer.ports.queue import ReceivedMessage
from delayer.ports.target import Target
from delayer.ports.topic import Announcement
from delayer.ports.unavailable import Unavailable
from delayer.repositories.feed import RELAXED, SCHEDULES, WAITING
from delayer.use_cases.api.accept import Accepted
from delayer.use_cases.firing.enqueue import Sent
from delayer.use_cases.recovery.guard import Guard
from delayer.wiring import in_memory, use_cases
from delayer.wiring.in_memory import StackInMemory, StackSettings
from tests.looking import all_rows

START: Millis = in_memory.START
PERIOD = in_memory.PERIOD
LEASE = in_memory.LEASE
LEAD = in_memory.LEAD
KEY = in_memory.KEY
SIGNING_KEY = in_memory.SIGNING_KEY
SUSPECTS = "suspects"  # the queue that all share
GUARDED = {  # who handles them, by its name in functions/ and in the stack
    "delayer-relay": "relay",
    "executor-http-request": "execute",
    "executor-remote": "execute",  # there is one executor here
    "series-stepper": "step",
}
ACTION = {"type": "http-request", "url": "http://target/"}


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
    ticking: bool = field(init=False, default=True)
    _last_tick: Millis = field(init=False, default=0)
    _reported: tuple[int, int] = field(init=False, default=(0, 0))
    _changed_at: list[Millis] = field(init=False, factory=list)  # of each record of the table's stream

    def __attrs_post_init__(self) -> None:
        self.prepare()
        self.build()

    def make_adapters(self) -> None:
        """With queues of suspects, and a target that answers by a script."""
        super().make_adapters()
        self.suspects = MemoryQueue(clock=self.clock, name=SUSPECTS, visibility=100 * SECOND)
        self.delayer_queue.dead_letters = self.http_queue.dead_letters = self.suspects
        self.delayer_queue.visibility, self.http_queue.visibility = MINUTE, 510 * SECOND  # as in template.yaml
        self.delayer_queue.max_receives = self.http_queue.max_receives = 1_000
        self.target = ScriptedTarget(self.clock)

    def build(self) -> None:
        """The functions, as their app.py makes them."""
        self.stream = MemoryStream(self.clock, self.feed.records[SCHEDULES], self.discard, shards=self.shards)
        self.relaxed_stream = MemoryStream(self.clock, self.feed.records[RELAXED], self.discard, shards=self.shards)
        self.accept = use_cases.accept(self.ports("accept"))
        self.replace = use_cases.replace(self.ports("replace"), use_cases.occurrences(self.ports("replace")))
        self.cancel = use_cases.cancel(self.ports("cancel"), use_cases.occurrences(self.ports("cancel")))
        self.stop = use_cases.stop(self.ports("stop"))
        self.begin_cancel_group = use_cases.begin_cancel_group(self.ports("begin cancel group"))
        self.cancel_group = use_cases.cancel_group(self.ports("cancel group"))
        # The second time another environment runs it.
        sent = Sent(at_most=0 if self.duplicated else 10_000)
        self.enqueue = evolve(use_cases.enqueue(self.ports("enqueue")), sent=sent)
        self.waiting_stream = MemoryStream(self.clock, self.feed.records[WAITING], self.discard, shards=self.shards)
        self.enqueue_timing = use_cases.enqueue_timing(self.ports("enqueue_timing"))
        self.timing_tick = use_cases.timing_net(self.ports("timing tick"))
        self.decide = use_cases.decide(self.ports("policy"), self.choose)
        self.claim_relaxed = use_cases.claim_relaxed(self.ports("claim_relaxed"))
        self.tick = use_cases.tick(self.ports("tick"))
        self.sweep_buckets = use_cases.sweep_buckets(self.ports("sweep"))
        self.relay = use_cases.relay(self.ports("relay"))
        self.execute = use_cases.execute(self.ports("execute"), self.target_for("execute"))
        self.guarded_relay = self.guarded_by("relay", lambda batch: self.relay_batch(batch))
        self.guarded_execute = self.guarded_by("execute", lambda batch: self.execute_batch(batch))
        self.dispatch = use_cases.dispatch_suspects(self.ports("dispatch"))
        self.announce = use_cases.announce(self.ports("announce"))
        self.write_journal = use_cases.write_journal(self.ports("journal"))
        self.redrive = use_cases.redrive(self.ports("redrive"))
        self.create_series = use_cases.create_series(self.ports("create series"))
        self.halt = use_cases.halt_series(self.ports("halt series"))
        self.resume = use_cases.resume_series(self.ports("resume series"))
        self.change_series = use_cases.change_series(self.ports("change series"))
        self.run_series = use_cases.run_series(self.ports("run series"))
        self.guarded_step = self.guarded_by("step", lambda batch: self.step_batch(batch))
        self.step = use_cases.react_to_events(self.ports("step"))
        self.series_tick = use_cases.series_tick(self.ports("series tick"))

    def guarded_by(self, function: str, use: Callable[[Sequence[ReceivedMessage]], list[str]]) -> Guard:
        queue = {"relay": self.delayer_queue, "execute": self.http_queue}.get(function)
        return use_cases.guard(self.ports(function), use, queue and self.port_for(function, queue))

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

    def settings_for(self, function: str) -> StackSettings:
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
    def handlers(self) -> Consumers:
        """The functions whose messages become suspects."""
        return SameProcess(self)

    @property
    def stream_consumer(self) -> Consumer:
        """The enqueuer, as the minute task sees it."""
        return Consumer(self)

    def changes(self, records: Sequence[Any]) -> list[RecordChange]:
        """The changes that were written as these records."""
        return self.feed.changes(records)

    def contents(self, content: bytes) -> Contents:
        """The schedules in an object of the store."""
        return schedules_in(content)

    def clock_for(self, function: str) -> Clock:
        return WhileOthersRun(self) if function == "tick" else self.clock

    def port_for(self, function: str, port: Any) -> Any:
        return faulty(port, self.plan) if function == self.spoiled else port

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

    def run_out(self, at_most: Millis) -> None:
        """Lets everything happen, up to an instant at most. It ends two ticks after nothing is under way any more.

        What comes then is ticks over empty tables: they would be most of the time that a test takes.
        """
        while self.clock.now() < at_most and self._is_under_way():
            self.run_until(min(self.clock.now() + MINUTE, at_most))
        self.run_until(min(self.clock.now() + 2 * MINUTE, at_most))

    def _is_under_way(self) -> bool:
        queues = [queue.messages for queue, _ in self.consumers()]
        tables = [all_rows(one) for one in (self.table, self.relaxed, self.waiting_records)]
        streams = [one.unread() for one in (self.stream, self.relaxed_stream, self.waiting_stream)]
        return any([*queues, *tables, *streams])

    def lifecycle_records(self) -> list[LifecycleRecord]:
        """What the two tables' streams brought since the last time."""
        self._note_times()
        of_table, of_ledger = self._reported
        self._reported = (len(self.feed.records[SCHEDULES]), len(self.feed.rows))
        records = list(zip(self.feed.records[SCHEDULES], self._changed_at, strict=True))[of_table:]
        rows = list(enumerate(self.feed.ledger_since(of_ledger), of_ledger))
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
        unknown = len(self.feed.records[SCHEDULES]) - len(self._changed_at)
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
            (self.suspects, self.dispatch),
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
        batch = queue.receive(1 if queue.name == SUSPECTS else 10)
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
        rows = all_rows(self.table).values()
        assert [one for one in rows if not isinstance(one, Heartbeat)] == []  # one that was not deleted expires
        assert self.stream.unread() == []


def reaches_the_journal(announcement: Announcement) -> bool:
    """As the filter policy of its subscription says: a test of the template holds the two together."""
    return "retold" not in dict(announcement.attributes)
