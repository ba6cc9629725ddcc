"""All functions on the shipped fakes, under one clock: what AWS does between them, done here step by step.

Streams deliver in order and again from the lowest failed record, queues at least once, and a function that dies
settles nothing. `duplicated` delivers every batch twice. A FaultPlan spoils one call of one function.
"""

import json
from collections.abc import Callable, Sequence
from typing import Any

from attrs import define, field

from delayer.aws.kept_schedules import schedules_in
from delayer.core.enqueueing import Change
from delayer.core.events import Happening, of_record, of_row
from delayer.core.instants import DAY, MINUTE, SECOND, Millis
from delayer.core.ledger import LedgerRow
from delayer.core.quota import Limits
from delayer.core.schedule import Schedule
from delayer.fakes import (
    InOrder,
    ManualClock,
    MemoryControl,
    MemoryHeadcount,
    MemoryJournal,
    MemoryLedger,
    MemoryObserver,
    MemoryQueue,
    MemoryRates,
    MemoryRegistry,
    MemoryScheduleTable,
    MemorySetAsideStore,
    MemoryStream,
    MemoryTopic,
    ScriptedTarget,
    Tokens,
)
from delayer.fakes.faults import Crash, FaultPlan, Faulty
from delayer.ports import Clock, Delivery, Parallel, Unavailable
from delayer.use_cases.accept import Accept, Accepted
from delayer.use_cases.announce import Announce
from delayer.use_cases.drain import Drain
from delayer.use_cases.enqueue import Enqueue, Sent
from delayer.use_cases.execute import Execute
from delayer.use_cases.issue import Ids
from delayer.use_cases.operate import Contents, Operate
from delayer.use_cases.quota import Quota
from delayer.use_cases.relay import Relay
from delayer.use_cases.set_aside import SetAside
from delayer.use_cases.sweep import Tick
from delayer.use_cases.sweep_bucket import SweepBuckets
from delayer.use_cases.write_journal import WriteJournal

START: Millis = 1_795_251_600_000  # 2026-11-21T09:00:00Z
PERIOD = 14 * MINUTE
LEASE = 10 * SECOND
LEAD = 250
ACTION = {"type": "http-request", "url": "http://target/"}


@define
class WhileOthersRun:
    """The clock of a function that waits for what another one does: the stream is read meanwhile."""

    world: "World"

    def now(self) -> Millis:
        return self.world.clock.now()

    def sleep_until(self, instant: Millis) -> None:
        self.world._stream()
        self.world.clock.sleep_until(instant)


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
    ledger: MemoryLedger = field(init=False, factory=MemoryLedger)
    store: MemorySetAsideStore = field(init=False, factory=MemorySetAsideStore)
    topic: MemoryTopic = field(init=False, factory=MemoryTopic)
    journal: MemoryJournal = field(init=False, factory=MemoryJournal)
    rates: MemoryRates = field(init=False, factory=MemoryRates)
    headcount: MemoryHeadcount = field(init=False, factory=MemoryHeadcount)
    accepted: list[Schedule] = field(init=False, factory=list)
    ticking: bool = field(init=False, default=True)
    _last_tick: Millis = field(init=False, default=0)
    _told: tuple[int, int] = field(init=False, default=(0, 0))
    _changed_at: list[Millis] = field(init=False, factory=list)  # of each record of the table's stream
    _tokens: Tokens = field(init=False, factory=Tokens)

    def __attrs_post_init__(self) -> None:
        self.table = MemoryScheduleTable(page_size=self.page_size)
        self.dead = MemoryQueue(clock=self.clock, name="dead")
        self.delayer_queue = MemoryQueue(clock=self.clock, name="delayer", dead_letters=self.dead)
        self.sweep_queue = MemoryQueue(clock=self.clock, name="sweep", visibility=90 * SECOND)
        self.http_queue = MemoryQueue(clock=self.clock, name="http", visibility=90 * SECOND, dead_letters=self.dead)
        self.target = ScriptedTarget(self.clock)
        self.registry = MemoryRegistry(schedules=self.table, ledger=self.ledger)
        self.quota = Quota(
            clock=self.clock, limits=self.limits, rates=self.rates, headcount=self.headcount, observer=self.observer
        )
        self._build()

    # ------------------------------------------------------------ the functions, wired as their app.py does

    def _build(self) -> None:
        self.stream = MemoryStream(self.clock, self.table.stream, self._discard, shards=self.shards)
        self.accept = Accept(
            clock=self._clock("accept"),
            schedules=self._port("accept", self.table),
            ledger=self._port("accept", self.ledger),
            registry=self._port("accept", self.registry),
            ids=self._ids("accept"),
            quota=self.quota,
            observer=self.observer,
        )
        self.enqueue = Enqueue(
            clock=self._clock("enqueue"),
            schedules=self._port("enqueue", self.table),
            ledger=self._port("enqueue", self.ledger),
            control=self._port("enqueue", self.control),
            delayer_queue=self._port("enqueue", self.delayer_queue),
            set_aside=self._set_aside("enqueue"),
            observer=self.observer,
            new_nonce=self._tokens,
            period=PERIOD,
            sent=Sent(0 if self.duplicated else 10_000),  # the second time another environment runs it
        )
        self.tick = Tick(
            clock=self._clock("tick"),
            schedules=self._port("tick", self.table),
            control=self._port("tick", self.control),
            delayer_queue=self._port("tick", self.delayer_queue),
            sweep_queue=self._port("tick", self.sweep_queue),
            observer=self.observer,
            parallel=self._parallel(),
            period=PERIOD,
        )
        self.sweep_buckets = SweepBuckets(
            clock=self._clock("sweep"), schedules=self._port("sweep", self.table), observer=self.observer
        )
        self.relay = Relay(
            clock=self._clock("relay"),
            ledger=self._port("relay", self.ledger),
            delayer_queue=self._port("relay", self.delayer_queue),
            executor_queues={"http-request": self._port("relay", self.http_queue)},
            set_aside=self._set_aside("relay"),
            observer=self.observer,
            parallel=self._parallel(),
            new_nonce=self._tokens,
            lease=LEASE,
            lead=LEAD,
        )
        self.execute = Execute(
            clock=self._clock("execute"),
            ledger=self._port("execute", self.ledger),
            queue=self._port("execute", self.http_queue),
            target=self._port("execute", self.target).__call__,
            set_aside=self._set_aside("execute"),
            observer=self.observer,
            parallel=self._parallel(),
            new_delivery=self._tokens,
        )
        self.announce = Announce(topic=self.topic, observer=self.observer, source="urn:delayer:test")
        self.write_journal = WriteJournal(
            journal=self.journal, headcount=self.headcount, observer=self.observer, keep_for=90 * DAY
        )
        self.drain = Drain(set_aside=self._set_aside("drain"))
        self.operate = Operate(
            clock=self._clock("operate"),
            ledger=self._port("operate", self.ledger),
            store=self._port("operate", self.store),
            schedules=self._port("operate", self.table),
            delayer_queue=self._port("operate", self.delayer_queue),
            observer=self.observer,
            read=self.contents,
            new_nonce=self._tokens,
            period=PERIOD,
        )

    def contents(self, content: bytes) -> Contents:
        """The schedules in an object of the store."""
        return schedules_in(content)

    def _clock(self, function: str) -> Clock:
        return WhileOthersRun(self) if function == "tick" else self.clock

    def _parallel(self) -> Parallel:
        return InOrder()

    def _port(self, function: str, port: Any) -> Any:
        return Faulty(port, self.plan) if function == self.spoiled else port

    def _set_aside(self, function: str) -> SetAside:
        return SetAside(
            clock=self._clock(function),
            ledger=self._port(function, self.ledger),
            store=self._port(function, self.store),
            observer=self.observer,
            source=function,
        )

    def _ids(self, function: str) -> Ids:
        return Ids(
            clock=self._clock(function),
            control=self._port(function, self.control),
            randomness=self._bytes,
            pick=lambda n: self._tokens.count % n,
            shards=self.shards,
        )

    def _bytes(self, number: int) -> bytes:
        self._tokens()
        return self._tokens.count.to_bytes(number, "big")

    # ------------------------------------------------------------ clients

    def post(self, due: Millis, tries: int = 3, **action: object) -> Schedule | None:
        """POSTs, and again if the answer is 503; what was answered 201 is in `accepted`."""
        body = {
            "pointInTime": due / 1000,
            "action": {**ACTION, **action},
            "payload": {"due": due},
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
            for change in reversed(self.table.stream)
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

    def happenings(self) -> list[Happening]:
        """What the two tables' streams brought since the last time."""
        self._note_times()
        of_table, of_ledger = self._told
        self._told = (len(self.table.stream), len(self.ledger.changes))
        records = list(zip(self.table.stream, self._changed_at, strict=True))[of_table:]
        rows = list(enumerate(self.ledger.changes))[of_ledger:]
        return [
            *[
                Happening(change.sequence, of_record(change.kind, change.row, change.sequence, at // SECOND * SECOND))
                for change, at in records
                if isinstance(change.row, Schedule)
            ],
            *[Happening(str(number), of_row(old, new, f"row {number}")) for number, (old, new) in rows],
        ]

    def _note_times(self) -> None:
        unknown = len(self.table.stream) - len(self._changed_at)
        self._changed_at += [self.clock.now()] * unknown

    def keep_journal(self) -> None:
        """What stream-lifecycle and lifecycle-journal do, once they have come so far."""
        assert self.announce(self.happenings()) == []
        texts = [announcement.text for announcement in self.topic.published]
        self.topic.published.clear()
        assert self.write_journal([Delivery(str(number), text) for number, text in enumerate(texts)]) == []

    def _step(self) -> bool:
        """One round of all consumers; whether any had work."""
        self._note_times()
        moved = [self._stream(), *(self._consume(queue, use) for queue, use in self._consumers())]
        return any(moved)

    def _consumers(self) -> list[tuple[MemoryQueue, Callable[[Any], list[str]]]]:
        return [
            (self.delayer_queue, self.relay),
            (self.http_queue, self.execute),
            (self.sweep_queue, self.sweep_buckets),
            (self.dead, self.drain),
        ]

    def _tick(self) -> None:
        for _ in range(1 + self.duplicated):
            try:
                self.tick()
            except (Unavailable, Crash):
                self.observer.note("tick failed")

    def _stream(self) -> bool:
        busy = self.stream.busy()
        for shard in busy:
            if batch := self.stream.receive(shard):
                failed = self._call(self.enqueue, batch)
                self.stream.settle(shard, failed)
                if failed != []:
                    self.clock.move(SECOND)  # Lambda backs off, and delivers again
        return bool(busy)

    def _discard(self, batch: Sequence[Change]) -> None:
        """The failure destination of the stream: nothing here is tried for so long."""
        raise AssertionError(f"{len(batch)} records of the stream were given up on")

    def _consume(self, queue: MemoryQueue, use: Callable[[Any], list[str]]) -> bool:
        batch = queue.receive()
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
        queues = [queue.next_visible() for queue, _ in self._consumers()]
        ticks = [self._last_tick + MINUTE] if self.ticking else []
        return min([*[at for at in queues if at is not None], *ticks], default=None)

    # ------------------------------------------------------------ what must be true

    def row(self, schedule: Schedule) -> LedgerRow | None:
        return self.ledger.read(schedule.id)

    def reached(self, schedule: Schedule) -> list[Millis]:
        """When the target was reached for it."""
        return [at for at, message in self.target.reached if message.id == schedule.id]

    def handed_over(self) -> int:
        return self.http_queue.sent

    def check_never_early(self) -> None:
        for at, message in self.target.reached:
            assert at >= message.point_in_time, f"{message.id} reached {message.point_in_time - at} ms early"

    def check_nothing_left(self) -> None:
        for queue, _ in self._consumers():
            assert queue.messages == []
        assert self.table.rows == {}
        assert self.stream.unread() == []
