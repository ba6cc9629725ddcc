"""The ledger."""

from collections.abc import Sequence

from attrs import Factory, define

from delayer.core.ledger.row import LedgerChange, LedgerRow
from delayer.ports.ledger import Conflict, WriteResult, Written
from delayer.ports.unavailable import RowMissing, Unavailable


@define
class MemoryLedger:
    """Port LedgerInBatches."""

    rows: dict[str, LedgerRow] = Factory(dict)
    writes: int = 0
    changes: list[tuple[LedgerRow | None, LedgerRow]] = Factory(list)  # its stream: the row before, the row after

    def read(self, schedule_id: str) -> LedgerRow | None:
        return self.rows.get(schedule_id)

    def read_all(self, schedule_ids: Sequence[str]) -> dict[str, LedgerRow]:
        found = {schedule_id: self.read(schedule_id) for schedule_id in schedule_ids}
        return {schedule_id: row for schedule_id, row in found.items() if row}

    def read_each(self, schedule_ids: Sequence[str]) -> dict[str, LedgerRow | Unavailable]:
        return dict(self.read_all(schedule_ids))

    def write(self, changes: Sequence[LedgerChange]) -> list[WriteResult]:
        return [self._write(change) for change in changes]

    def _write(self, change: LedgerChange) -> WriteResult:
        current = self.rows.get(change.row.schedule_id)
        if current == change.row:
            return Written()  # a write repeated because its answer was lost is no conflict
        if self.allows(change):
            self.store(change.row)
            return Written()
        return Conflict(current) if current else RowMissing(f"the row of {change.row.schedule_id} has expired")

    def allows(self, change: LedgerChange) -> bool:
        """Whether the current row is the one that the change goes over."""
        current = self.rows.get(change.row.schedule_id)
        return (current and current.revision) == (change.over and change.over.revision)

    def store(self, row: LedgerRow) -> None:
        """Whatever the current row is; the conditions are those of the callers."""
        self.writes += 1
        self.changes.append((self.rows.get(row.schedule_id), row))
        self.rows[row.schedule_id] = row
