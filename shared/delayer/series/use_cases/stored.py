"""Each call about a series begins with this: its cursor and its definition, and what became of its schedules."""

from collections.abc import Collection

from attrs import frozen

from delayer.connections.model import SeriesUse, named_in
from delayer.engines.ports import Clock
from delayer.ledger.ports import Ledger
from delayer.schedule.instants import STALE_AFTER, Millis
from delayer.schedule.schedule_id import point_in_time_of
from delayer.series.ports import SeriesTable, SeriesTransaction
from delayer.series.rules.command import is_settled
from delayer.series.rules.series import (
    KEPT_AT_LEAST,
    OVER,
    Cursor,
    CursorChange,
    NoSeries,
    SeriesDefinition,
    SeriesState,
    kept,
)


@frozen(kw_only=True)
class Stored:
    """A series."""

    cursor: Cursor
    definition: SeriesDefinition

    @property
    def is_torn(self) -> bool:
        """Whether both were read on two sides of a PATCH: they do not belong together."""
        return self.cursor.definition_revision != self.definition.revision


def read(table: SeriesTable, owner: str, series: str) -> Stored | NoSeries:
    """Raises Unavailable."""
    cursor = table.cursor(owner, series)
    definition = table.definition(owner, series) if cursor else None
    return Stored(cursor=cursor, definition=definition) if cursor and definition else NoSeries()


def over_beside(ledger: Ledger, cursor: Cursor, now: Millis) -> Collection[str]:
    """Which of those beside the current one have ended: the cursor need not name them any more. Raises Unavailable."""
    rows = ledger.read_all(list(cursor.beside)) if cursor.beside else {}
    return {one for one in cursor.beside if is_settled(one, rows.get(one), now)}


@frozen(kw_only=True)
class Retention:
    """For whoever writes cursors."""

    clock: Clock
    keep_for: Millis = KEPT_AT_LEAST  # as the journal

    def transaction(
        self, change: CursorChange, stored: SeriesDefinition, new: SeriesDefinition | None = None
    ) -> SeriesTransaction:
        """Of a change of the cursor. `stored` is the definition as it stands, `new` the one that takes its place."""
        now = self.clock.now()
        cursor = kept(change.cursor, now, self.keep_for)
        definition = new or (stored if cursor.expires_at != change.over.expires_at else None)
        return SeriesTransaction(
            cursor=cursor,
            over=change.over,
            definition=definition,
            over_definition=stored if definition else None,
            uses=changed_uses(change.over, cursor, stored, new or stored, now),
        )


def first_uses(definition: SeriesDefinition) -> tuple[SeriesUse, ...]:
    """Of a new series."""
    name = named_in(definition.definition)
    return (SeriesUse(connection=name, is_checked=True),) if name else ()


def changed_uses(
    before: Cursor, after: Cursor, stored: SeriesDefinition, new: SeriesDefinition, now: Millis
) -> tuple[SeriesUse, ...]:
    """Of a change of its cursor, and perhaps of its definition."""
    old, name = named_in(stored.definition), named_in(new.definition)
    left = (SeriesUse(connection=old, until=_at_work_until(now)),) if old and old != name else ()
    return left + (_of_named(before, after, now, name, is_new=name != old) if name else ())


def _of_named(before: Cursor, after: Cursor, now: Millis, name: str, *, is_new: bool) -> tuple[SeriesUse, ...]:
    was_over, is_over = before.state in OVER, after.state in OVER
    if not is_over:
        return (SeriesUse(connection=name, is_checked=True),) if is_new or was_over else ()
    puts = bool(set(after.named) - set(before.named))
    if was_over and not puts and not is_new:
        return ()
    waiting = () if after.state is SeriesState.CANCELLED else after.named  # a DELETE cancels what waits, too
    last = max((now, *(point_in_time_of(one) for one in waiting)))
    return (SeriesUse(connection=name, until=_at_work_until(last), is_checked=puts or is_new),)


def _at_work_until(due: Millis) -> Millis:
    """When no attempt is made any more of what is due at the latest then (ADR 0023)."""
    return due + STALE_AFTER
