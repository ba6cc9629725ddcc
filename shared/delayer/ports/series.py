"""Series, and the transactions that change them (ADR 0094)."""

from collections.abc import Sequence
from typing import Protocol

from attrs import field, frozen

from delayer.core.ledger.row import LedgerChange
from delayer.core.schedule.bucket import Bucket, RecordKey
from delayer.core.schedule.schedule import Schedule
from delayer.core.series.series import Cursor, SeriesDefinition


@frozen(kw_only=True)
class SeriesTransaction:
    """All of it is written, or nothing.

    What the cursor says is current is filed by its minute in the same transaction, and what was current is no more.
    """

    cursor: Cursor
    over: Cursor | None  # what it takes the place of, by its revision; None: only if there is none
    put: tuple[Schedule, ...] = ()  # the occurrences that the cursor names now
    definition: SeriesDefinition | None = None  # if it changes, too
    over_definition: SeriesDefinition | None = None  # what it takes the place of, by its revision
    ends: tuple[LedgerChange, ...] = ()  # of occurrences that are replaced
    delete: tuple[RecordKey, ...] = ()  # their records, whether they are still there or not


@frozen(kw_only=True)
class Filed:
    """An occurrence that is the current one of its series, or of the backfill of it."""

    schedule_id: str
    owner: str
    series: str


@frozen(kw_only=True)
class FiledPage:
    """Of one minute and shard, in the order of the instants."""

    filed: tuple[Filed, ...]
    more: str = field(default="")  # the id after which the next page begins; empty: this was the last


class ReadsSeries(Protocol):
    """Part of SeriesTable."""

    def cursor(self, owner: str, series: str) -> Cursor | None:
        """Strongly consistent. Raises Unavailable, also if it cannot be read by this version."""
        ...

    def definition(self, owner: str, series: str) -> SeriesDefinition | None:
        """As `cursor`."""
        ...


class FindsSeries(Protocol):
    """Part of SeriesTable."""

    def filed(self, schedule_id: str) -> Filed | None:
        """Whose current occurrence it is; None if it is none. Strongly consistent. Raises Unavailable."""
        ...


class FilesSeries(FindsSeries, Protocol):
    """Part of SeriesTable."""

    def page(self, bucket: Bucket, after: str = "", at_most: int = 100) -> FiledPage:
        """Those of a minute and a shard. Strongly consistent. Raises Unavailable."""
        ...


class WritesSeries(Protocol):
    """Part of SeriesTable."""

    def write(self, transaction: SeriesTransaction) -> bool:
        """Whether it was done; False: something has changed meanwhile, and nothing was written. Raises Unavailable.

        A transaction repeated because its answer was lost finds its own cursor, and is done.
        """
        ...


class SeriesTable(ReadsSeries, FilesSeries, WritesSeries, Protocol):
    """All of it."""


def named_by(cursor: Cursor | None) -> Sequence[str]:
    """The ids that are filed for a cursor: those after which it steps."""
    if cursor is None:
        return ()
    filled = cursor.backfill.current if cursor.backfill else ""
    return tuple(one for one in (cursor.current, filled) if one)
