"""How long the rows of a series are kept that is over: by the TTL of their table, and so free of charge."""

from typing import Final

from attrs import evolve

from delayer.core.schedule.instants import DAY, SECOND, Millis
from delayer.core.series.series import Cursor, SeriesState

OVER: Final = frozenset({SeriesState.ENDED, SeriesState.CANCELLED})  # one that failed waits for a better rule
KEPT_AT_LEAST: Final[Millis] = 90 * DAY  # who redrives a dead letter asks the cursor, and none is older


def kept(cursor: Cursor, now: Millis, keep_for: Millis) -> Cursor:
    """With the instant at which it may be forgotten: as long after its end as the journal keeps histories.

    What was over before keeps the instant that it had.
    """
    if cursor.state not in OVER:
        return evolve(cursor, expires_at=0)
    if cursor.expires_at:
        return cursor
    until = now + max(keep_for, KEPT_AT_LEAST)
    return evolve(cursor, expires_at=-(-until // SECOND) * SECOND)
