"""The ledger. Every write is conditional."""

from collections.abc import Sequence
from typing import Protocol

from attrs import frozen

from delayer.core.ledger.row import LedgerChange, LedgerRow
from delayer.ports.unavailable import Unavailable


@frozen
class Written:
    """The row is in the ledger, by this write or by an earlier try of the same."""


@frozen
class Conflict:
    """Another row is in the way; nothing was written."""

    current: LedgerRow


WriteResult = Written | Conflict | Unavailable


class ReadsLedger(Protocol):
    """Part of Ledger."""

    def read(self, schedule_id: str) -> LedgerRow | None:
        """Strongly consistent."""
        ...


class ReadsManyRows(Protocol):
    """Part of Ledger."""

    def read_all(self, schedule_ids: Sequence[str]) -> dict[str, LedgerRow]:
        """Many rows, each as with `read`, in few requests."""
        ...


class ReadsEachRow(Protocol):
    """Part of LedgerInBatches."""

    def read_each(self, schedule_ids: Sequence[str]) -> dict[str, LedgerRow | Unavailable]:
        """As `read_all`, but a row that cannot be read concerns itself only: Unavailable takes its place."""
        ...


class WritesLedger(Protocol):
    """Part of Ledger."""

    def write(self, changes: Sequence[LedgerChange]) -> list[WriteResult]:
        """Each change is answered by itself, in their order; no schedule may come twice.

        A row is written only if the current one has the revision of `over`, or if there is none and `over` is None.
        The answer is RowMissing, an Unavailable, if there is none and `over` is given.
        """
        ...


class ReadsAndWritesLedger(ReadsLedger, WritesLedger, Protocol):
    """Part of Ledger."""


class Ledger(ReadsLedger, ReadsManyRows, WritesLedger, Protocol):
    """All of it."""


class ReadsEachAndWrites(ReadsEachRow, WritesLedger, Protocol):
    """Part of LedgerInBatches."""


class LedgerInBatches(Ledger, ReadsEachRow, Protocol):
    """All of it, for those who change and read many rows at a time."""
