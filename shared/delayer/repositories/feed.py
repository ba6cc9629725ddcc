"""The streams of a stack in memory: what its store tells, as the functions that read streams are given it."""

from collections.abc import Sequence
from functools import cache, partial
from typing import Final

from attrs import define, field

from delayer.core.ledger.row import LedgerRow
from delayer.core.schedule.instants import SECOND
from delayer.core.schedule.table_change import Kind, RecordChange
from delayer.ports.clock import Clock
from delayer.repositories.ledger import ledger
from delayer.repositories.schedules.schedule_table import from_item
from delayer.store.changes import ItemChange

SCHEDULES: Final = "schedules"  # the tables of a stack in memory, by their names
RELAXED: Final = "relaxed"
WAITING: Final = "waiting"
LEDGER: Final = "ledger"
REGISTRY: Final = "registry"
CONTROL: Final = "control"
JOURNAL: Final = "journal"


STREAMED: Final = (SCHEDULES, RELAXED, WAITING)


@define
class Feed:
    """All that was ever written to the tables that have a stream."""

    clock: Clock
    records: dict[str, list[RecordChange]] = field(init=False, factory=lambda: {one: [] for one in STREAMED})
    rows: list[ItemChange] = field(init=False, factory=list)  # of the ledger

    def hear(self, changes: Sequence[ItemChange]) -> None:
        """What the store tells."""
        for change in changes:
            if change.table == LEDGER:
                self.rows.append(change)
            elif change.table in self.records:
                self._note(change, self.records[change.table])

    def _note(self, change: ItemChange, stream: list[RecordChange]) -> None:
        """A record is read when somebody asks for its row. It names its table, by which it is found again."""
        kind = kind_of(change)
        sequence = f"{len(stream) + 1:021d}"
        image = change.old if kind is Kind.REMOVE else change.new
        stream.append(
            RecordChange(
                kind=kind,
                sequence=sequence,
                read=cache(partial(from_item, image or {})),
                record={"sequence": sequence, "table": change.table},
                at=self.clock.now() // SECOND * SECOND,
                event=sequence,
                expired=change.is_expired,
            )
        )

    def changes(self, records: Sequence[dict[str, str]]) -> list[RecordChange]:
        """The changes that were written as these records."""
        return [self.records[one["table"]][int(one["sequence"]) - 1] for one in records]

    @property
    def ledger(self) -> list[tuple[LedgerRow | None, LedgerRow]]:
        """Each row of the ledger that was written: the one before, and the one after."""
        return self.ledger_since(0)

    def ledger_since(self, number: int) -> list[tuple[LedgerRow | None, LedgerRow]]:
        """Those after the first ones. What has expired is no event."""
        written = [one for one in self.rows[number:] if one.new is not None]
        return [(ledger.from_item(one.old) if one.old else None, ledger.from_item(one.new or {})) for one in written]


def kind_of(change: ItemChange) -> Kind:
    """As DynamoDB names it."""
    if change.new is None:
        return Kind.REMOVE
    return Kind.INSERT if change.old is None else Kind.MODIFY
