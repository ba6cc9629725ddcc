"""The stack in virtual time: the use cases as they are, the shipped fakes, and AWS between them.

The wiring is that of `tests/world.py`. Each port is behind a network that may fail; each function has its own clock.
"""

import json
from collections.abc import Callable, Sequence
from typing import Any

from attrs import define, evolve, field

from delayer.aws.kept_schedules import schedules_in
from delayer.core.enqueueing import Change, Garbled, Kind
from delayer.core.events import Event, of_record
from delayer.core.instants import SECOND, Millis
from delayer.core.request import Invalid
from delayer.core.schedule import Schedule
from delayer.core.set_aside import decode
from delayer.core.wire import to_delayer
from delayer.fakes import MemoryJournal, MemoryQueue, MemoryRegistry, MemoryScheduleTable
from delayer.fakes.faults import Crash
from delayer.fakes.queue import Message
from delayer.ports import Clock, Parallel, Unavailable
from delayer.use_cases.cancel import Cancel
from delayer.use_cases.enqueue import Sent
from delayer.use_cases.operate import Contents, Impossible
from delayer.use_cases.replace import Replace
from tests.simulation.aws import Aws
from tests.simulation.chance import Chance
from tests.simulation.kernel import FunctionClock, Invocation, Kernel, SideBySide
from tests.simulation.plan import Weather
from tests.simulation.remote import Network, Remote, Service
from tests.simulation.target import Target
from tests.simulation.watch import Watch, WatchedLedger, WatchedQueue, WatchedStore, WatchedTable
from tests.world import World

TIMEOUTS: dict[str, Millis] = {  # as in template.yaml
    "accept": 10 * SECOND,
    "cancel": 10 * SECOND,
    "replace": 10 * SECOND,
    "enqueue": 60 * SECOND,
    "tick": 60 * SECOND,
    "sweep": 60 * SECOND,
    "relay": 10 * SECOND,
    "execute": 45 * SECOND,
    "drain": 30 * SECOND,
    "operate": 60 * SECOND,
}
NAMES = {  # as functions/ has them
    "accept": "api-schedule-post",
    "cancel": "api-schedule-delete",
    "replace": "api-schedule-put",
    "enqueue": "stream-enqueuer",
    "tick": "task-1minute-enqueuer",
    "sweep": "sweep-bucket-enqueuer",
    "relay": "delayer-relay",
    "execute": "executor-http-request",
    "drain": "dlq-set-aside",
    "operate": "operator-set-aside",
}


@define
class JournalOfBeginnings(MemoryJournal):
    """The journal at its best: it knows every definition at once. All that a change by id asks of it."""

    table: MemoryScheduleTable = field(kw_only=True)
    _read: int = 0

    def history(self, schedule_id: str) -> tuple[Event, ...]:
        unread, self._read = self.table.stream[self._read :], len(self.table.stream)
        told = [of_record(one.kind, one.row, one.sequence, 0) for one in unread if isinstance(one.row, Schedule)]
        self.keep([event for event in told if event], 0)
        return super().history(schedule_id)


@define(kw_only=True, slots=False)
class Stack(World):
    """All functions, and what AWS does."""

    chance: Chance
    weather: Weather
    tell: Callable[[str, str], None]
    shards: int = field(init=False, default=1)

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
            self.tell,
            self.watch.disturbed,
            self.watch.twinned,
        )
        self._numbers = 0
        super().__attrs_post_init__()

    # ------------------------------------------------------------ wiring

    def _build(self) -> None:
        self.ledger = WatchedLedger(watch=self.watch)
        self.store = WatchedStore(watch=self.watch)
        self.table = WatchedTable(watch=self.watch, page_size=self.page_size)
        self.dead = self._queue("dead", 60 * SECOND)
        self.delayer_queue = self._queue("delayer", 30 * SECOND, self.dead)
        self.sweep_queue = self._queue("sweep", 90 * SECOND)
        self.http_queue = self._queue("http", 90 * SECOND, self.dead)
        self.target = Target(self)  # type: ignore[assignment] # another fake of the same port
        self.registry = MemoryRegistry(schedules=self.table, ledger=self.ledger)
        self.definitions = JournalOfBeginnings(table=self.table)
        self._services = {
            id(self.table): ("schedules", Service.DYNAMODB),
            id(self.ledger): ("ledger", Service.DYNAMODB),
            id(self.control): ("control", Service.DYNAMODB),
            id(self.registry): ("registry", Service.DYNAMODB),
            id(self.definitions): ("journal", Service.DYNAMODB),
            id(self.store): ("store", Service.S3),
            id(self.target): ("target", Service.TARGET),
            **{id(queue): (f"{queue.name}-queue", Service.SQS) for queue in self.queues()},
        }
        super()._build()
        self.cancel = Cancel(
            clock=self._clock("cancel"),
            ledger=self._port("cancel", self.ledger),
            schedules=self._port("cancel", self.table),
            registry=self._port("cancel", self.registry),
            ids=self._ids("cancel"),
            observer=self.observer,
        )
        self.replace = Replace(
            clock=self._clock("replace"),
            ledger=self._port("replace", self.ledger),
            schedules=self._port("replace", self.table),
            registry=self._port("replace", self.registry),
            journal=self._port("replace", self.definitions),
            ids=self._ids("replace"),
            quota=self.quota,
            observer=self.observer,
        )

    def _queue(self, name: str, visibility: Millis, dead: MemoryQueue | None = None) -> MemoryQueue:
        return WatchedQueue(
            watch=self.watch,
            clock=self.clock,
            name=name,
            visibility=visibility,
            dead_letters=dead,
            choose=self._choose,
        )

    def _clock(self, function: str) -> Clock:
        return FunctionClock(self.kernel)

    def _parallel(self) -> Parallel:
        return SideBySide(self.kernel)

    def _port(self, function: str, port: Any) -> Any:
        return Remote(port, *self._services[id(port)], self.network)

    def _choose(self, ready: Sequence[Message], at_most: int) -> Sequence[Message]:
        """SQS promises no order, and hands out as many as it likes."""
        order = sorted(ready, key=lambda _: self.chance.part("order of messages"))
        return order[: self.chance.whole("messages in a batch", 1, at_most)]

    def queues(self) -> Sequence[MemoryQueue]:
        """All of them."""
        return (self.delayer_queue, self.http_queue, self.sweep_queue, self.dead)

    def _discard(self, batch: Sequence[Change]) -> None:
        """The failure destination of the stream."""
        self.tell("AWS", f"gives up on {len(batch)} records of the stream, and keeps them")
        sequences = [change.sequence for change in batch]
        self.store.objects[f"aws/lambda/{sequences[0]}"] = json.dumps(sequences).encode()

    def contents(self, content: bytes) -> Contents:
        """What the real reader does for DynamoDB's own JSON, for the fake's records."""
        if content.startswith(b"["):
            changes = [self.table.stream[int(sequence) - 1] for sequence in json.loads(content)]
        else:
            body = decode(content).body
            changes = [change for change in self.table.stream if change.raw == body][:1]
            if not changes:
                return schedules_in(content)
        removed = [change.row for change in changes if change.kind is Kind.REMOVE]
        schedules = [row for row in removed if isinstance(row, Schedule)]
        return Contents(
            messages=tuple(to_delayer(schedule, nonce="") for schedule in schedules),
            unreadable=sum(isinstance(row, Garbled) for row in removed),
        )

    # ------------------------------------------------------------ running a function

    def new_environment(self) -> None:
        """The enqueuer runs elsewhere from now on, and remembers nothing."""
        self.enqueue = evolve(self.enqueue, sent=Sent())

    def start(
        self, function: str, use: Callable[[], Any], done: Callable[[Any], None], about: Sequence[str] = ()
    ) -> None:
        """Lambda runs a function; unless Lambda is down, then `done` hears of a Crash."""
        self._numbers += 1
        skew = self.chance.whole(f"clock of {function}", -self.weather.skew, self.weather.skew)
        deadline = self.kernel.now + TIMEOUTS[function]
        invocation = Invocation(NAMES.get(function, function), self._numbers, skew, deadline, frozenset(about))

        def finished(outcome: Any) -> None:
            if isinstance(outcome, BaseException):
                self.watch.disturbed(invocation)
                self.tell(str(invocation), f"ends with {outcome!r}")
                if not isinstance(outcome, Crash | Unavailable | Impossible | Invalid):
                    self.watch.unexpected(outcome)
            done(outcome)

        if self.network.is_down(Service.LAMBDA):
            finished(Crash("Lambda is down"))
        else:
            self.kernel.start(invocation, use, finished)
