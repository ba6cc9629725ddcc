"""The feed of the store, and the shipped fakes, with an eye on them: whatever takes effect is reported to the watch."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from attrs import define, evolve, field, frozen
from greenlet import getcurrent

from delayer.dead_letters.model import DeadLetter
from delayer.dead_letters.repository import StoredDeadLetters
from delayer.engines.memory import MemoryObjects
from delayer.engines.ports import ReceivedMessage
from delayer.engines.store.model import ItemChange, Query, kind_of
from delayer.execute.execute import Execute, Held
from delayer.flow import repository as blocks
from delayer.flow.ports import Rows
from delayer.flow.repository import StoredBlocks
from delayer.ledger import repository as ledger
from delayer.ledger.model import LedgerChange, LedgerRow
from delayer.records.ports import RecordPage
from delayer.records.repository import StoredScheduleTable, from_item
from delayer.schedule.instants import SECOND, Millis, edge_of
from delayer.schedule.schedule import Schedule
from delayer.schedule.schedule_id import Bucket, RecordKey
from delayer.schedule.table_change import ChangeKind, Heartbeat, RecordChange
from delayer.schedule.tables import CONTROL, JOURNAL, LEDGER, REGISTRY, RELAXED, SCHEDULES
from delayer.series.repository.series_table import CURSOR, DEFINITION, cursor_from, definition_from
from delayer.series.rules.series import Cursor, SeriesDefinition
from tests.fakes.messaging import MemoryQueue, QueuedMessage
from tests.fakes.streams import Feed
from tests.simulation.engine.kernel import Thread, current
from tests.simulation.oracle.invariant import Invariant
from tests.simulation.oracle.series_watch import CursorChange
from tests.simulation.system.there import There, table_of
from tests.world import PERIOD

SERIES: Final = "series#"  # the lists of series in the registry begin so
UNWATCHED: Final = (CONTROL, JOURNAL)
ANYWHERE: Final = Query(SCHEDULES, {"bucket": "-"}, sort="due")  # for a page of an empty table: most are
NOTHING: Final = RecordPage(keys=(), more=None)

if TYPE_CHECKING:
    from tests.simulation.oracle.watch import Watch


@define
class Heard:
    """What was written together: all of it is there before any of it is reported, in the order of these fields."""

    rows: list[tuple[LedgerRow | None, LedgerRow]] = field(factory=list)
    records: list[RecordChange] = field(factory=list)
    others: list[Callable[[], None]] = field(factory=list)
    cursors: list[tuple[Cursor | None, Cursor]] = field(factory=list)
    definition: SeriesDefinition | None = None

    def change_of(self, over: Cursor | None, cursor: Cursor) -> CursorChange:
        """The cursor, and what was written with it."""
        put = [one.row for one in self.records if one.kind is not ChangeKind.REMOVE and isinstance(one.row, Schedule)]
        ends = tuple(LedgerChange(row=new, over=old) for old, new in self.rows)
        return CursorChange(cursor=cursor, over=over, definition=self.definition, put=tuple(put), ends=ends)


@define(eq=False)
class WatchedFeed(Feed):
    """Keeps what is there, reports each change, and wakes the streams."""

    watch: "Watch" = field(kw_only=True)
    there: There = field(kw_only=True)
    _heard: Heard = field(init=False, factory=Heard)

    def hear(self, changes: Sequence[ItemChange]) -> None:
        """What the store tells, from within the transaction: nobody else runs until all is reported."""
        for change in changes:
            self.there.note(change)
        if any(change.table not in UNWATCHED for change in changes):
            self._heard = Heard()
            super().hear(changes)
            for change in changes:
                self._hear_one(change)
            self._report(self._heard)

    def _hear_one(self, change: ItemChange) -> None:
        if change.table == LEDGER:
            self._hear_row(change)
        elif change.table == REGISTRY:
            self._hear_entry(change)

    def _report(self, heard: Heard) -> None:
        for old, new in heard.rows:
            self.watch.wrote(old, new)
        for record in heard.records:
            self._tell_of(record)
        for tell in heard.others:
            tell()
        for over, cursor in heard.cursors:
            self.watch.series.wrote(heard.change_of(over, cursor))

    def _note(self, change: ItemChange, stream: list[RecordChange]) -> None:
        """As in the base; but its row is read at once, and once: there are more heartbeats than all else."""
        kind, image, sequence = kind_of(change), change.new or change.old or {}, f"{len(stream) + 1:021d}"
        key, rows = RecordKey(bucket=image["bucket"], due=image["due"]), self.there.records[change.table]
        row = rows.pop(key) if kind is ChangeKind.REMOVE and key in rows else from_item(image)
        if kind is not ChangeKind.REMOVE and not isinstance(row, Heartbeat):
            rows[key] = row  # a heartbeat whose delete has failed is left to the TTL: nobody reads it
        if isinstance(row, Schedule):
            self.there.stored[row.id] = row
        record = RecordChange(
            kind=kind,
            sequence=sequence,
            read=lambda: row,
            record={"sequence": sequence, "table": change.table},
            at=self.clock.now() // SECOND * SECOND,
            event=sequence,
            expired=change.is_expired,
        )
        stream.append(record)
        self._heard.records.append(record)

    def _tell_of(self, record: RecordChange) -> None:
        aws = self.watch.stack.aws
        if table_of(record.record) == RELAXED and record.kind is not ChangeKind.REMOVE:
            aws.expire_later(record.row)
        self.watch.table_changed(record)
        aws.wake_stream()

    def _hear_row(self, change: ItemChange) -> None:
        """What has expired is no event."""
        rows = self.there.ledger
        if change.new is None:
            rows.pop((change.old or {})[ledger.KEY], None)
            self.watch.is_checked = False
            return
        new = ledger.from_item(change.new)
        self._heard.rows.append((rows.get(new.schedule_id), new))
        rows[new.schedule_id] = new

    def _hear_entry(self, change: ItemChange) -> None:
        """Of the registry: a block, a cursor or a definition. All else says nothing to the watch."""
        item = change.new or change.old or {}
        if item["list"] == blocks.LIST:
            self._hear_block(change, item["entry"])
        elif item["list"].startswith(SERIES) and change.new is not None:
            self._hear_series(change)

    def _hear_block(self, change: ItemChange, key: str) -> None:
        before = self.there.blocks.pop(key, None)
        after = blocks.from_item(change.new) if change.new is not None else None
        if after is not None:
            self.there.blocks[key] = after
            self._heard.others.append(partial(self.watch.flow.changed, before, after))
        elif before is not None:
            self._heard.others.append(partial(self.watch.flow.removed, before))

    def _hear_series(self, change: ItemChange) -> None:
        item = change.new or {}
        owner, _, series = item["list"].removeprefix(SERIES).rpartition("#")
        if item["entry"] == CURSOR:
            cursor = cursor_from(owner, series, item)
            self._heard.cursors.append((self.there.cursors.get(series), cursor))
            self.there.cursors[series] = cursor
        elif item["entry"] == DEFINITION:
            self._heard.definition = definition_from(owner, item)


@frozen(kw_only=True)
class WatchedExecute(Execute):
    """Whoever makes an attempt knows the row by which it was decided, whichever thread has asked for that."""

    def make(self, held: Held, row: LedgerRow) -> Any:
        current().read[held.message.schedule.id] = row
        return super().make(held, row)


@frozen(kw_only=True)
class WatchedBlocks(StoredBlocks):
    """Reports who knows why schedules wait."""

    watch: "Watch"

    def rows(self, *, latest: bool) -> Rows:
        rows = super().rows(latest=latest)
        if isinstance(thread := getcurrent(), Thread):
            self.watch.flow.was_read(thread)
        return rows


@frozen(kw_only=True)
class WatchedTable(StoredScheduleTable):
    """Reports what is read."""

    watch: "Watch"

    def page(self, bucket: Bucket, after: RecordKey | None = None) -> RecordPage:
        stack = self.watch.stack
        if bucket.minute > edge_of(stack.kernel.now + stack.weather.skew, PERIOD):
            self.watch.fail(Invariant.COST, f"{bucket.key} is read long before anything in it is due")
        if stack.there.schedules:
            return super().page(bucket, after)
        self.store.query(ANYWHERE)  # a request as all others are
        return evolve(self, store=stack.replica).page(bucket, after) if stack.there.schedules else NOTHING


IN_AWS = {  # the names of the queues from which messages are moved to the suspects
    "delayer": "delayer-DelayerQueue-0a1b2c3d",
    "http": "delayer-executor-http-request-0a1b2c3d",
    "series": "delayer-SeriesQueue-0a1b2c3d",
}


@define
class WatchedQueue(MemoryQueue):
    """Wakes its consumer when a message can be received."""

    watch: "Watch" = field(kw_only=True)

    def add(self, body: str, visible_at: Millis, message_group: str = "") -> None:
        super().add(body, visible_at, message_group)
        if self.name == "http":
            self.watch.sent_to_executor(body)
        if self.name == "delayer":
            self.watch.flow.sent_again(body, [message.body for message in self.messages])
        self.watch.stack.aws.wake_queue(self, visible_at)

    def take(self, message: QueuedMessage, origin: str) -> None:
        super().take(message, IN_AWS[origin])
        self.watch.is_checked = False

    def settle(self, batch: Sequence[ReceivedMessage], failed: Sequence[str]) -> None:
        super().settle(batch, failed)
        self.watch.is_checked = False

    def give_back(self, messages: Sequence[ReceivedMessage], seconds: int = 0) -> None:
        super().give_back(messages, seconds)
        self.watch.stack.aws.wake_queue(self, self.clock.now() + seconds * SECOND)

    def visible(self) -> int:
        greedy = self.name == "delayer" and self.watch.stack.weather.greedy
        return 1_000_000 if greedy else super().visible()


@frozen
class WatchedStore(StoredDeadLetters[MemoryObjects]):
    """Reports what is stored, and whose bodies are deleted."""

    watch: "Watch" = field(kw_only=True)

    def put(self, letter: DeadLetter) -> None:
        super().put(letter)
        self.watch.on_dead_letter(letter.key)

    def remove(self, key: str) -> None:
        if key in self.objects:
            self.watch.deleted |= self.watch.ids_in(key)
            self.watch.is_checked = False
        super().remove(key)
