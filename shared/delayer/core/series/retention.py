"""How long the rows of a series are kept that is over: by the TTL of their table, and so free of charge."""

from typing import Final

from attrs import evolve

from delayer.core.schedule.instants import DAY, SECOND, Millis
from delayer.core.schedule.schedule_id import point_in_time_of
from delayer.core.series.series import Cursor, SeriesState

OVER: Final = frozenset({SeriesState.ENDED, SeriesState.CANCELLED})  # one that failed waits for a better rule
KEPT_AT_LEAST: Final[Millis] = 90 * DAY  # who redrives a dead letter asks the cursor, and none is older
RENEWED_BELOW: Final[Millis] = KEPT_AT_LEAST // 2  # longer than one occurrence can be at work


def kept(cursor: Cursor, now: Millis, keep_for: Millis) -> Cursor:
    """With the instant at which it may be forgotten: as long after its end as the journal keeps histories.

    What was over before keeps the instant that it had, unless that comes near while the cursor names something: a
    run-now, a redrive or a backfill of a series that ended long ago must find its cursor as long as it is at work, and
    so must an occurrence that its owner has moved far ahead. Raises ValueError if it names what is not an id.
    """
    if cursor.state not in OVER:
        return evolve(cursor, expires_at=0)
    last = max(now, *(point_in_time_of(one) for one in cursor.named)) if cursor.named else now
    if cursor.expires_at and not (cursor.named and cursor.expires_at < last + RENEWED_BELOW):
        return cursor
    until = last + max(keep_for, KEPT_AT_LEAST)
    return evolve(cursor, expires_at=-(-until // SECOND) * SECOND)
