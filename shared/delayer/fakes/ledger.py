"""The ledger."""

from collections.abc import Sequence

from attrs import Factory, define

from delayer.core.ledger import LedgerRow
from delayer.ports import Vanished


@define
class MemoryLedger:
    """Port Ledger."""

    rows: dict[str, LedgerRow] = Factory(dict)
    writes: int = 0
    changes: list[tuple[LedgerRow | None, LedgerRow]] = Factory(list)  # its stream: the row before, the row after

    def read(self, schedule_id: str) -> LedgerRow | None:
        return self.rows.get(schedule_id)

    def read_all(self, schedule_ids: Sequence[str]) -> dict[str, LedgerRow]:
        found = {schedule_id: self.read(schedule_id) for schedule_id in schedule_ids}
        return {schedule_id: row for schedule_id, row in found.items() if row}

    def put_if_absent(self, row: LedgerRow) -> LedgerRow | None:
        standing = self.rows.get(row.schedule_id)
        if standing is not None:
            return _unless_same(standing, row)
        self.write(row)
        return None

    def swap(self, old: LedgerRow, new: LedgerRow) -> LedgerRow | None:
        standing = self.rows.get(old.schedule_id)
        if standing is None:
            raise Vanished(f"the ledger row of {old.schedule_id} is gone")
        if standing.revision != old.revision:
            return _unless_same(standing, new)
        self.write(new)
        return None

    def write(self, row: LedgerRow) -> None:
        """Whatever stands; the conditions are the callers'."""
        self.writes += 1
        self.changes.append((self.rows.get(row.schedule_id), row))
        self.rows[row.schedule_id] = row


def _unless_same(standing: LedgerRow, wanted: LedgerRow) -> LedgerRow | None:
    """A write repeated because its answer was lost is no conflict."""
    return None if standing == wanted else standing
