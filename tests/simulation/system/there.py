"""What is in the tables, as it is written: whoever watches asks this, and not the store."""

from collections import Counter, deque
from typing import Any, Final, NamedTuple

from attrs import define, field

from delayer.engines.memory import ManualClock
from delayer.engines.store.model import Item, ItemChange, StoredItem
from delayer.flow.rules.block import Block
from delayer.ledger.model import LedgerRow
from delayer.schedule.instants import SECOND, Millis
from delayer.schedule.schedule import Schedule
from delayer.schedule.schedule_id import RecordKey
from delayer.schedule.table_change import Row
from delayer.schedule.tables import CONTROL, JOURNAL, LEDGER, REGISTRY, RELAXED, SCHEDULES, WAITING
from delayer.series.rules.series import Cursor

KEYS: Final = {  # the attributes that are the partition and, if there is one, the sort key
    SCHEDULES: ("bucket", "due"),
    RELAXED: ("bucket", "due"),
    WAITING: ("bucket", "due"),
    LEDGER: ("scheduleId", ""),
    REGISTRY: ("list", "entry"),
    JOURNAL: ("list", "entry"),
    CONTROL: ("name", ""),
}
BEHIND: Final[Millis] = SECOND  # a replica is by this at most

Place = tuple[str, str]  # table and partition


def table_of(record: Any) -> str:
    """The table of a record of a stream, as the feed names it."""
    table: str = record["table"]
    return table


class Before(NamedTuple):
    """An item as it was before a change."""

    changed_at: Millis
    place: Place
    entry: str
    item: StoredItem | None


@define(eq=False)
class There:
    """The rows that are there now."""

    clock: ManualClock
    ledger: dict[str, LedgerRow] = field(init=False, factory=dict)  # by id
    records: dict[str, dict[RecordKey, Row]] = field(init=False)  # by table
    stored: dict[str, Schedule] = field(init=False, factory=dict)  # each schedule as its record was written last
    blocks: dict[str, Block] = field(init=False, factory=dict)  # by key
    cursors: dict[str, Cursor] = field(init=False, factory=dict)  # by series
    items: Counter[Place] = field(init=False, factory=Counter)  # how many there are in a partition
    read: dict[Place, dict[tuple[str, ...], Item | None]] = field(init=False, factory=dict)  # and not changed since
    lately: deque[Before] = field(init=False, factory=deque)  # the changes of the last moment, in their order

    def __attrs_post_init__(self) -> None:
        self.records = {SCHEDULES: {}, RELAXED: {}, WAITING: {}}

    @property
    def schedules(self) -> dict[RecordKey, Row]:
        """Of the table for what is precise."""
        return self.records[SCHEDULES]

    @property
    def relaxed(self) -> dict[RecordKey, Row]:
        """Of the table for what is not."""
        return self.records[RELAXED]

    @property
    def waiting(self) -> dict[RecordKey, Row]:
        """Of the table for what has no time yet."""
        return self.records[WAITING]

    def record(self, key: RecordKey) -> Schedule | None:
        """In whatever table it is."""
        found = next((rows[key] for rows in self.records.values() if key in rows), None)
        return found if isinstance(found, Schedule) else None

    def note(self, change: ItemChange) -> None:
        """An item is another one now."""
        partition, sort = KEYS[change.table]
        item = change.new or change.old or {}
        place, now = (change.table, item[partition]), self.clock.at
        self.items[place] += (change.new is not None) - (change.old is not None)
        self.read.pop(place, None)
        while self.lately and self.lately[0].changed_at <= now - BEHIND:
            self.lately.popleft()
        self.lately.append(Before(now, place, item[sort] if sort else "", change.old))
