"""The ledger: conditional puts, answered with the row that is in the way."""

from collections.abc import Sequence
from typing import Final

from attrs import frozen

from delayer.engines.ports import Parallel, Unavailable
from delayer.engines.store.mapped import SECONDS, Mapped
from delayer.engines.store.model import Is, Item, Put, StoredItem, lacks
from delayer.engines.store.store import Answer, Store, WriteRefused
from delayer.ledger.model import LedgerChange, LedgerRow
from delayer.ledger.ports import Conflict, RowMissing, WriteResult, Written
from delayer.schedule.schedule_id import word_of_kind

KEY: Final = "scheduleId"
KIND: Final = "kind"  # nothing reads it but the filters of the stream (ADR 0166)
LEDGER: Final[Mapped[LedgerRow]] = Mapped(
    LedgerRow, "a ledger row", kept=("schedule_id", "state"), expires_at=SECONDS
)  # what is empty is left out, to stay within one write unit
ATTRIBUTES: Final = (*LEDGER.attributes, KIND)  # all that a row may have


@frozen(kw_only=True)
class StoredLedger:
    """Keeps a row for each schedule."""

    store: Store
    table: str
    parallel: Parallel

    def read(self, schedule_id: str) -> LedgerRow | None:
        item = self.store.get(self.table, {KEY: schedule_id})
        return None if item is None else from_item(item)

    def read_all(self, schedule_ids: Sequence[str]) -> dict[str, LedgerRow]:
        return {item[KEY]: from_item(item) for item in self.items(schedule_ids)}

    def write(self, changes: Sequence[LedgerChange]) -> list[WriteResult]:
        return self.parallel.map(self._answered, changes)

    def items(self, schedule_ids: Sequence[str]) -> list[Item]:
        """Returns the rows that are there, as they are stored."""
        return self.store.get_many(self.table, [{KEY: schedule_id} for schedule_id in dict.fromkeys(schedule_ids)])

    def _answered(self, change: LedgerChange) -> WriteResult:
        try:
            self.store.write(put_change(self.table, change))
        except WriteRefused as refused:
            return answer_of(change.row, refused.item)
        except Unavailable as error:
            return error
        except Exception as error:  # noqa: BLE001 - whatever is wrong with one change, its neighbours have their answers
            return Unavailable(f"write ledger: {error!r}")
        return Written()


def answer_of(row: LedgerRow, item: StoredItem) -> WriteResult:
    """Says why a write failed, by the item that is in the way of a row; an empty one, if there is none.

    It is our own row if an earlier try of this very write went through and its answer was lost: then it is written.
    Attributes that this code does not know are left standing by an UPDATE, and tell nothing.
    """
    if not item:
        return RowMissing(f"the ledger row of {row.schedule_id} has expired")
    try:
        known = {name: value for name, value in item.items() if name in ATTRIBUTES}
        return Written() if known == to_item(row) else Conflict(from_item(item))
    except Unavailable as error:
        return error


def put_change(table: str, change: LedgerChange) -> Put:
    """A put that may write this change only."""
    row, over = change.row, change.over
    when = lacks(KEY) if over is None else Is("revision", over.revision)
    return Put(table, {KEY: row.schedule_id}, to_item(row), when, ATTRIBUTES)


def to_item(row: LedgerRow) -> Item:
    """A row as it is stored."""
    item = LEDGER.item(row)
    if kind := word_of_kind(row.schedule_id):
        item[KIND] = kind
    return item


def from_item(item: StoredItem) -> LedgerRow:
    """The inverse of to_item. A row that this code cannot read decides nothing: Unavailable."""
    return LEDGER.row(item)


@frozen(kw_only=True)
class StoredLedgerInBatches(StoredLedger):
    """Keeps the same rows, and changes many of them with one request."""

    def read_each(self, schedule_ids: Sequence[str]) -> dict[str, LedgerRow | Unavailable]:
        return {item[KEY]: _read(item) for item in self.items(schedule_ids)}

    def write(self, changes: Sequence[LedgerChange]) -> list[WriteResult]:
        made = [self._put(change) for change in changes]
        answers = iter(self.store.write_each([one for one in made if isinstance(one, Put)]))
        return [
            _result(change, next(answers) if isinstance(one, Put) else one)
            for change, one in zip(changes, made, strict=True)
        ]

    def _put(self, change: LedgerChange) -> Put | Unavailable:
        try:
            return put_change(self.table, change)
        except Exception as error:  # noqa: BLE001 - whatever is wrong with one change, its neighbours have their answers
            return Unavailable(f"write ledger: {error!r}")


def _result(change: LedgerChange, answer: Answer) -> WriteResult:
    if answer is None:
        return Written()
    return answer_of(change.row, answer.item) if isinstance(answer, WriteRefused) else answer


def _read(item: StoredItem) -> LedgerRow | Unavailable:
    try:
        return from_item(item)
    except Unavailable as error:
        return error
