"""The ledger. Every write is conditional."""

from collections.abc import Sequence
from typing import Protocol

from attrs import frozen

from delayer.engines.ports import Unavailable
from delayer.ledger.model import LedgerChange, LedgerRow


@frozen
class Written:
    """The row is in the ledger, by this write or by an earlier try of the same."""


@frozen
class Conflict:
    """Another row is in the way; nothing was written."""

    current: LedgerRow


class RowMissing(Unavailable):
    """The row to be changed has expired. A new read finds none."""


WriteResult = Written | Conflict | Unavailable


class Ledger(Protocol):
    """Keeps what became of each schedule, a row for each."""

    def read(self, schedule_id: str) -> LedgerRow | None:
        """Strongly consistent."""
        ...

    def read_all(self, schedule_ids: Sequence[str]) -> dict[str, LedgerRow]:
        """Many rows, each as with `read`, in few requests."""
        ...

    def write(self, changes: Sequence[LedgerChange]) -> list[WriteResult]:
        """Each change is answered by itself, in their order; no schedule may come twice.

        A row is written only if the current one has the revision of `over`, or if there is none and `over` is None.
        The answer is RowMissing, an Unavailable, if there is none and `over` is given.
        """
        ...


class LedgerInBatches(Ledger, Protocol):
    """The ledger for those who change and read many rows at a time."""

    def read_each(self, schedule_ids: Sequence[str]) -> dict[str, LedgerRow | Unavailable]:
        """As `read_all`, but a row that cannot be read concerns itself only: Unavailable takes its place."""
        ...
