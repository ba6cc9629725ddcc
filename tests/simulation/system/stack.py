"""The stack in virtual time: the use cases as they are, the shipped fakes, and AWS between them.

The use cases come from the same factories as those of the functions. Each port is behind a network that may fail; each
function has its own clock.
"""

import json
from collections.abc import Callable, Sequence
from typing import Any

from attrs import define, evolve, field

from delayer.aws.messaging.dead_letter_reader import schedules_in
from delayer.core.api.request import Invalid
from delayer.core.history.events import Event, of_record
from delayer.core.recovery.dead_letter import Contents, decode
from delayer.core.schedule.instants import SECOND, Millis
from delayer.core.schedule.malformed import Malformed
from delayer.core.schedule.schedule import Schedule
from delayer.core.schedule.table_change import Kind, RecordChange
from delayer.fakes import MemoryJournal, MemoryQueue, MemoryRegistry, MemoryScheduleTable
from delayer.fakes.messaging.queue import Message
from delayer.fakes.runtime.faults import Crash
from delayer.ports.clock import Clock, Parallel
from delayer.ports.journal import JournalEntry
from delayer.ports.unavailable import Unavailable
from delayer.use_cases.firing.enqueue import Sent
from delayer.use_cases.recovery.redrive import Impossible
from tests.simulation.engine.chance import Chance
from tests.simulation.engine.kernel import FunctionClock, Invocation, Kernel, SideBySide
from tests.simulation.engine.remote import Network, Remote, Service
from tests.simulation.oracle.watch import Watch
from tests.simulation.oracle.watched import WatchedLedger, WatchedQueue, WatchedStore, WatchedTable
from tests.simulation.story.plan import Weather
from tests.simulation.system.aws import Aws
from tests.simulation.system.target import Target
from tests.world import World

TIMEOUTS: dict[str, Millis] = {  # as in template.yaml
    "accept": 10 * SECOND,
    "cancel": 10 * SECOND,
    "replace": 10 * SECOND,
    "enqueue": 60 * SECOND,
    "tick": 60 * SECOND,
    "sweep": 60 * SECOND,
    "relay": 10 * SECOND,
    "execute": 85 * SECOND,
    "drain": 30 * SECOND,
    "redrive": 60 * SECOND,
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
    "drain": "dlq-drain",
    "redrive": "operator-dead-letters",
}


@define
class JournalOfBeginnings(MemoryJournal):
    """The journal at its best: it knows every definition at once. All that a change by id asks of it."""

    table: MemoryScheduleTable = field(kw_only=True)
    _read: int = 0

    def history(self, schedule_id: str) -> tuple[Event, ...]:
        unread, self._read = self.table.stream[self._read :], len(self.table.stream)
        events = [of_record(one.kind, one.row, one.sequence, 0) for one in unread if isinstance(one.row, Schedule)]
        self.write([JournalEntry(event=event, text="") for event in events if event], 0)
        return super().history(schedule_id)


@define(kw_only=True, slots=False)
class Stack(World):
    """All functions, and what AWS does."""

    chance: Chance
    weather: Weather
    log: Callable[[str, str], None]
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
            self.log,
            self.watch.disturbed,
            self.watch.twinned,
        )
        self._numbers = 0
        super().__attrs_post_init__()

    # ------------------------------------------------------------ wiring

    def make_adapters(self) -> None:
        self.ledger = WatchedLedger(watch=self.watch)
        self.store = WatchedStore(watch=self.watch)
        self.table = WatchedTable(watch=self.watch, page_size=self.page_size)
        self.dead = self._queue("dead", 60 * SECOND)
        self.delayer_queue = self._queue("delayer", 30 * SECOND, self.dead)
        self.sweep_queue = self._queue("sweep", 120 * SECOND)
        self.group_queue = self._queue("group", 120 * SECOND)
        self.http_queue = self._queue("http", 90 * SECOND, self.dead)
        self.target = Target(self)  # type: ignore[assignment] # another fake of the same port
        self.registry = MemoryRegistry(schedules=self.table, ledger=self.ledger)
        self.journal = JournalOfBeginnings(table=self.table)
        self._services = {
            id(self.table): ("schedules", Service.DYNAMODB),
            id(self.ledger): ("ledger", Service.DYNAMODB),
            id(self.control): ("control", Service.DYNAMODB),
            id(self.registry): ("registry", Service.DYNAMODB),
            id(self.jobs): ("jobs", Service.DYNAMODB),
            id(self.journal): ("journal", Service.DYNAMODB),
            id(self.store): ("store", Service.S3),
            id(self.target): ("target", Service.TARGET),
            **{id(queue): (f"{queue.name}-queue", Service.SQS) for queue in (*self.queues(), self.group_queue)},
        }

    def _queue(self, name: str, visibility: Millis, dead: MemoryQueue | None = None) -> MemoryQueue:
        return WatchedQueue(
            watch=self.watch,
            clock=self.clock,
            name=name,
            visibility=visibility,
            dead_letters=dead,
            choose=self._choose,
        )

    def clock_for(self, function: str) -> Clock:
        return FunctionClock(self.kernel)

    def parallel(self) -> Parallel:
        return SideBySide(self.kernel)

    def port_for(self, function: str, port: Any) -> Any:
        return Remote(port, *self._services[id(port)], self.network)

    def _choose(self, ready: Sequence[Message], at_most: int) -> Sequence[Message]:
        """SQS promises no order, and hands out as many as it likes."""
        order = sorted(ready, key=lambda _: self.chance.part("order of messages"))
        return order[: self.chance.whole("messages in a batch", 1, at_most)]

    def queues(self) -> Sequence[MemoryQueue]:
        """All of them."""
        return (self.delayer_queue, self.http_queue, self.sweep_queue, self.dead)

    def discard(self, batch: Sequence[RecordChange]) -> None:
        """The failure destination of the stream."""
        self.log("AWS", f"gives up on {len(batch)} records of the stream, and stores them")
        sequences = [change.sequence for change in batch]
        self.store.objects[f"aws/lambda/{sequences[0]}"] = json.dumps(sequences).encode()

    def contents(self, content: bytes) -> Contents:
        """What the real reader does for DynamoDB's own JSON, for the fake's records."""
        if content.startswith(b"["):
            sequences = json.loads(content)
        else:
            try:
                sequences = [json.loads(decode(content).body)["sequence"]]
            except (ValueError, KeyError, TypeError):
                return schedules_in(content)
        changes = [self.table.stream[int(sequence) - 1] for sequence in sequences]
        removed = [change.row for change in changes if change.kind is Kind.REMOVE]
        return Contents(
            schedules=tuple(row for row in removed if isinstance(row, Schedule)),
            malformed=sum(isinstance(row, Malformed) for row in removed),
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
                self.log(str(invocation), f"ends with {outcome!r}")
                if not isinstance(outcome, Crash | Unavailable | Impossible | Invalid):
                    self.watch.unexpected(outcome)
            done(outcome)

        if self.network.is_down(Service.LAMBDA):
            finished(Crash("Lambda is down"))
        else:
            self.kernel.start(invocation, use, finished)
