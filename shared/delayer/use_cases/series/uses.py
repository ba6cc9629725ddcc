"""What a series says to the connections that it names, or named: it holds one, its occurrences do not (ADR 0105).

An occurrence that was claimed may be at work for longer than its policy repeats attempts: its owner may be suspended.
Only what is too old to fire is attempted no more. So whoever names a connection no more holds it for that long.
"""

from delayer.core.connections.connection import SeriesUse, named_in
from delayer.core.schedule.instants import Millis
from delayer.core.schedule.margins import STALE_AFTER
from delayer.core.schedule.schedule_id import point_in_time_of
from delayer.core.series.retention import OVER
from delayer.core.series.series import Cursor, SeriesDefinition, SeriesState


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
