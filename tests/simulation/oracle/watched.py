"""The shipped fakes, with an eye on them: whatever takes effect is reported to the watch."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from attrs import define, evolve, field, frozen
from greenlet import getcurrent

from delayer.core.firing.enqueueing import edge_of
from delayer.core.flow.block import Block
from delayer.core.ledger.row import LedgerChange, LedgerRow
from delayer.core.recovery.dead_letter import DeadLetter
from delayer.core.schedule.bucket import Bucket, RecordKey
from delayer.core.schedule.instants import SECOND, Millis
from delayer.core.schedule.table_change import Kind
from delayer.fakes import (
    MemoryBlocks,
    MemoryDeadLetterStore,
    MemoryLedger,
    MemoryQueue,
    MemoryScheduleTable,
    MemorySeries,
)
from delayer.fakes.messaging.queue import Message
from delayer.ports.flow import Rows
from delayer.ports.ledger import Conflict, WriteResult, Written
from delayer.ports.queue import ReceivedMessage
from delayer.ports.schedule_table import Page
from delayer.ports.series import SeriesTransaction
from delayer.use_cases.firing.together import LedgerTogether
from tests.simulation.engine.kernel import Thread, current
from tests.simulation.oracle.invariant import Invariant
from tests.world import PERIOD

RELAXED = "relaxed"  # the lane of a table, as its records name it
UNDECIDED = "undecided"
NOTHING = Page(keys=(), more=None)  # most pages that are read

if TYPE_CHECKING:
    from tests.simulation.oracle.watch import Watch


@define
class WatchedLedger(MemoryLedger):
    """Reports each write, and what a read may say that is not strongly consistent."""

    watch: "Watch" = field(kw_only=True)
    _before: dict[str, tuple[Millis, LedgerRow | None]] = field(factory=dict)  # the last write, and what it replaced

    def read_eventually(self, schedule_id: str) -> LedgerRow | None:
        """As DynamoDB without `ConsistentRead`: a replica that is a second behind. No function reads so."""
        written_at, before = self._before.get(schedule_id, (0, None))
        row = before if self.watch.stack.kernel.now - written_at < SECOND else self.rows.get(schedule_id)
        current().read[schedule_id] = row
        return row

    def read(self, schedule_id: str) -> LedgerRow | None:
        row = super().read(schedule_id)
        current().read[schedule_id] = row
        return row

    def write(self, changes: Sequence[LedgerChange]) -> list[WriteResult]:
        """Whoever is answered knows the row, too."""
        results = super().write(changes)
        if isinstance(thread := getcurrent(), Thread):  # a straggler's answer reaches nobody
            thread.read.update({change.row.schedule_id: self.rows.get(change.row.schedule_id) for change in changes})
        return results

    def store(self, row: LedgerRow) -> None:
        old = self.rows.get(row.schedule_id)
        super().store(row)
        self._before[row.schedule_id] = (self.watch.stack.kernel.now, old)
        self.watch.wrote(old, row)


@frozen(kw_only=True)
class WatchedTogether(LedgerTogether):
    """Whoever is answered knows the row, whichever thread has made the request."""

    def read(self, schedule_id: str) -> LedgerRow | None:
        row = super().read(schedule_id)
        current().read[schedule_id] = row
        return row

    def write(self, changes: Sequence[LedgerChange]) -> list[WriteResult]:
        results = super().write(changes)
        for change, result in zip(changes, results, strict=True):
            if isinstance(result, Written | Conflict):
                row = result.current if isinstance(result, Conflict) else change.row
                current().read[row.schedule_id] = row
        return results


@define
class WatchedBlocks(MemoryBlocks):
    """Reports each change of what keeps back schedules."""

    watch: "Watch" = field(kw_only=True)

    def rows(self, *, latest: bool) -> Rows:
        self.watch.flow.was_read()
        return super().rows(latest=latest)

    def change(self, block: Block, over: Block | None = None) -> bool:
        before = self.stored.get(block.key)
        is_written = super().change(block, over)
        if self.stored.get(block.key) is not before:
            self.watch.flow.changed(before, block)
        return is_written

    def remove(self, block: Block) -> bool:
        before = self.stored.get(block.key)
        is_gone = super().remove(block)
        if before and is_gone:
            self.watch.flow.removed(before)
        return is_gone


@define
class WatchedTable(MemoryScheduleTable):
    """Reports what is read, and wakes the stream."""

    watch: "Watch" = field(kw_only=True)
    lane: str = field(default="", kw_only=True)

    def page(self, bucket: Bucket, after: RecordKey | None = None) -> Page:
        stack = self.watch.stack
        if bucket.minute > edge_of(stack.kernel.now + stack.weather.skew, PERIOD):
            self.watch.fail(Invariant.COST, f"{bucket.key} is read long before anything in it is due")
        return super().page(bucket, after) if self.rows else NOTHING

    def emit(self, kind: Any, row: Any, *, expired: bool = False) -> None:
        super().emit(kind, row, expired=expired)
        stack = self.watch.stack
        if self.lane:
            record: Any = self.stream[-1].record
            self.stream[-1] = evolve(self.stream[-1], record={**record, "lane": self.lane})
            if kind is not Kind.REMOVE and self.lane == RELAXED:
                stack.aws.expire_later(row)
        self.watch.table_changed(self.stream[-1])
        stack.aws.wake_stream()


@define
class WatchedSeries(MemorySeries):
    """Reports each change of a cursor, with all that was written together with it."""

    watch: "Watch" = field(kw_only=True)

    def write(self, transaction: SeriesTransaction) -> bool:
        key = (transaction.cursor.owner, transaction.cursor.series)
        before = self.cursors_of.get(key)
        is_written = super().write(transaction)
        if is_written and self.cursors_of[key] != before:
            self.watch.series.wrote(transaction)
        return is_written


IN_AWS = {  # the names of the queues from which messages are moved to the suspects
    "delayer": "delayer-DelayerQueue-0a1b2c3d",
    "http": "delayer-executor-http-request-0a1b2c3d",
    "series": "delayer-SeriesQueue-0a1b2c3d",
}


@define
class WatchedQueue(MemoryQueue):
    """Wakes its consumer when a message can be received."""

    watch: "Watch" = field(kw_only=True)

    def add(self, body: str, visible_at: Millis, message_group: str) -> None:
        super().add(body, visible_at, message_group)
        if self.name == "http":
            self.watch.sent_to_executor(body)
        if self.name == "delayer":
            self.watch.flow.sent_again(body, [message.body for message in self.messages])
        self.watch.stack.aws.wake_queue(self, visible_at)

    def take(self, message: Message, origin: str) -> None:
        super().take(message, IN_AWS[origin])

    def give_back(self, messages: Sequence[ReceivedMessage], seconds: int = 0) -> None:
        super().give_back(messages, seconds)
        self.watch.stack.aws.wake_queue(self, self.clock.now() + seconds * SECOND)

    def visible(self) -> int:
        greedy = self.name == "delayer" and self.watch.stack.weather.greedy
        return 1_000_000 if greedy else super().visible()


@define
class WatchedStore(MemoryDeadLetterStore):
    """Reports what is stored, and whose bodies are deleted."""

    watch: "Watch" = field(kw_only=True)

    def put(self, letter: DeadLetter) -> None:
        super().put(letter)
        self.watch.on_dead_letter(letter.key)

    def remove(self, key: str) -> None:
        if key in self.objects:
            self.watch.deleted |= self.watch.ids_in(key)
        super().remove(key)
