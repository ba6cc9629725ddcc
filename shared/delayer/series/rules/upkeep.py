"""The net under the events of series (ADR 0100), and what a new version of the tz database changes."""

import zlib
from enum import StrEnum
from typing import Final

from attrs import evolve, frozen

from delayer.enqueue import rules as enqueue_rules
from delayer.ledger.model import LedgerRow
from delayer.schedule.instants import DAY, MINUTE, Millis, Minute, minute_of
from delayer.schedule.schedule_id import address_of, is_relaxed
from delayer.series.rules.series import Cursor, CursorChange, Rule, SeriesDefinition, SeriesState
from delayer.series.rules.stepping import (
    AT_AN_END,
    Happened,
    NoStep,
    ReadAgain,
    Step,
    first_step,
    moved_to,
    of_row,
    passed_by,
    stepped,
)

LOOK_AFTER: Final[Millis] = 3 * MINUTE  # by then its event has come, unless something is wrong
AGAIN_AFTER: Final = 15  # minutes: spread over them, so that they do not all come in the same one
RARELY: Final[Millis] = DAY  # between two looks at what was paused after its end, or is relaxed


class Fate(StrEnum):
    """A filed occurrence that was looked at is dealt with in one of these ways."""

    FORGET = "forget"  # its series does not wait for it any more
    AGAIN = "again"  # later


@frozen(kw_only=True, order=True)
class NetPosition:
    """How far the net came: all before it is settled, for good."""

    minute: Minute
    shard: int = 0  # within the minute
    after: str = ""  # the last entry of this shard that was looked at; empty: none


def near_minute(now: Millis) -> Minute:
    """The last one that is looked at for the first time. It may not be closed yet: a write may be on its way."""
    return minute_of(now - LOOK_AFTER) - 1


def may_close(minute: Minute, query_began: Millis) -> bool:
    """Whether what a query finds in a minute is all that will ever be filed there (ADR 0013)."""
    return enqueue_rules.may_close(minute, query_began)


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


def decide_recompute(
    cursor: Cursor, definition: SeriesDefinition, rule: Rule, row: LedgerRow | None, now: Millis
) -> Step | NoStep | ReadAgain:
    """The occurrence that takes the place of the current one, with its number; `row` is that of the current one.

    What is due already fires as it was put, and so does what its owner has moved: the step after it goes by the new
    times. So do a rule that has no time any more, and one that fails, since its zone is gone. A series that is paused
    or waits asks its rule anew in any case.
    """
    if cursor.state is not SeriesState.ACTIVE or not cursor.current:
        return NoStep(f"the series is {cursor.state}")
    if cursor.definition_revision != definition.revision:
        return ReadAgain()
    if cursor.at <= passed_by(definition, cursor.series, now) or of_row(cursor.current, row, now):
        return NoStep("its current occurrence is due")
    if moved_to(cursor, definition) is not None:
        return NoStep("its owner has moved it")
    step = first_step(cursor, definition, rule, now, cursor.passed)
    if not isinstance(step, Step) or step.at == cursor.at:
        return NoStep("there is no other time")
    return evolve(step, number=cursor.number)


def recomputed(cursor: Cursor, step: Step, schedule_id: str) -> CursorChange:
    """The cursor after it; `schedule_id` is a new one. The time that is given up was never due: it may come again."""
    change = stepped(evolve(cursor, at=cursor.passed), step, schedule_id)
    return CursorChange(cursor=change.cursor, over=cursor)
