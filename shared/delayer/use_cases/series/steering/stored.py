"""What each call about a series begins with: its cursor and its definition, and what became of its schedules."""

from collections.abc import Collection

from attrs import frozen

from delayer.core.schedule.instants import Millis
from delayer.core.series.command import is_settled
from delayer.core.series.series import Cursor, NoSeries, SeriesDefinition
from delayer.ports.ledger import ReadsManyRows
from delayer.ports.series import ReadsSeries


@frozen(kw_only=True)
class Stored:
    """A series."""

    cursor: Cursor
    definition: SeriesDefinition

    @property
    def is_torn(self) -> bool:
        """Whether both were read on two sides of a PATCH: they do not belong together."""
        return self.cursor.definition_revision != self.definition.revision


def read(table: ReadsSeries, owner: str, series: str) -> Stored | NoSeries:
    """Raises Unavailable."""
    cursor = table.cursor(owner, series)
    definition = table.definition(owner, series) if cursor else None
    return Stored(cursor=cursor, definition=definition) if cursor and definition else NoSeries()


def over_beside(ledger: ReadsManyRows, cursor: Cursor, now: Millis) -> Collection[str]:
    """Which of those beside the current one have ended: the cursor need not name them any more. Raises Unavailable."""
    rows = ledger.read_all(list(cursor.beside)) if cursor.beside else {}
    return {one for one in cursor.beside if is_settled(one, rows.get(one), now)}
