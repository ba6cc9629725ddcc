"""The net under the events of series: what no event has told of is found by its minute (ADR 0100).

Each current occurrence is filed by the minute of its address. Once a minute is over, the net looks at what is still
filed there. A step deletes what it was taken for. What is left was not stepped after: its event was lost, or it has not
come so far. As long as its series names it, it is filed once more, in a minute to come, and only then the watermark
passes. So at each moment what a series waits for is filed in a minute that the net will look at.
"""

import zlib
from enum import StrEnum
from typing import Final

from attrs import frozen

from delayer.core.firing import sweeping
from delayer.core.schedule.instants import DAY, MINUTE, Millis, Minute, minute_of
from delayer.core.schedule.schedule_id import address_of, is_relaxed
from delayer.core.series.series import Cursor, SeriesState
from delayer.core.series.stepping import AT_AN_END, Happened

LOOK_AFTER: Final[Millis] = 3 * MINUTE  # by then its event has come, unless something is wrong
AGAIN_AFTER: Final = 15  # minutes: spread over them, so that they do not all come in the same one
RARELY: Final[Millis] = DAY  # between two looks at what was paused after its end, or is relaxed


class Fate(StrEnum):
    """What becomes of a filed occurrence that was looked at."""

    FORGET = "forget"  # its series does not wait for it any more
    AGAIN = "again"  # later


@frozen(kw_only=True, order=True)
class Place:
    """How far the net came: all before it is settled, for good."""

    minute: Minute
    shard: int = 0  # within the minute
    after: str = ""  # the last entry of this shard that was looked at; empty: none


def near_minute(now: Millis) -> Minute:
    """The last one that is looked at for the first time. It may not be closed yet: a write may be on its way."""
    return minute_of(now - LOOK_AFTER) - 1


def may_close(minute: Minute, query_began: Millis) -> bool:
    """Whether what a query finds in a minute is all that will ever be filed there (ADR 0013)."""
    return sweeping.may_close(minute, query_began)


def decide_look(schedule_id: str, cursor: Cursor | None, happened: Happened | None) -> Fate:
    """After the step that was to be taken for it, if any. `cursor` was read after that.

    A series that is paused may be resumed while this is decided, and then wait for this very one.
    """
    if cursor is None or schedule_id not in (cursor.current, cursor.backfill.current if cursor.backfill else ""):
        return Fate.FORGET
    if cursor.state is SeriesState.CANCELLED and _has_ended(happened):
        return Fate.FORGET
    return Fate.AGAIN


def next_look(schedule_id: str, cursor: Cursor | None, happened: Happened | None, now: Millis) -> Minute:
    """The minute in which it is filed once more. It is the same for calls that come soon after one another.

    A pause may last for years, and the lane without precision may take days: what has ended during a pause, and what is
    relaxed, is looked at more and more rarely, but at least once a day.
    """
    wait = AGAIN_AFTER * MINUTE
    is_paused = cursor is not None and cursor.state is SeriesState.PAUSED and _has_ended(happened)
    if is_paused or is_relaxed(schedule_id):
        wait = min(max(now - address_of(schedule_id).due, wait), RARELY)
    first = minute_of(now + wait) - AGAIN_AFTER + 1
    return first + (zlib.crc32(schedule_id.encode()) - first) % AGAIN_AFTER


def _has_ended(happened: Happened | None) -> bool:
    return happened is not None and happened.kind in AT_AN_END
