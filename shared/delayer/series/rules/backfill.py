"""A backfill: times of the past are made up, one after the other, beside the current occurrence (ADR 0098).

At most one occurrence of it is live at a time, whatever the overlap: the next one is put when it has ended. So a
thousand times of the past are no burst for the target.
"""

from typing import Final

from attrs import evolve, frozen

from delayer.history.model import SeriesRefuses
from delayer.ledger.model import LedgerRow
from delayer.schedule.instants import Millis
from delayer.series.rules.command import CLOSED, CancelFirst, was_used
from delayer.series.rules.series import (
    Backfill,
    Cursor,
    CursorChange,
    Rule,
    RuleFailed,
    SeriesDefinition,
    SeriesState,
    changed,
)
from delayer.series.rules.stepping import (
    AT_AN_END,
    Happened,
    NoStep,
    Over,
    ReadAgain,
    Step,
    decide_step,
    of_row,
    stepped,
)

MAX_FILLED: Final = 1_000  # times of one backfill


@frozen(kw_only=True)
class Range:
    """The times that a client wants made up."""

    since: Millis
    until: Millis  # the first that is none of it


@frozen(kw_only=True)
class Fill:
    """Put the occurrence of the backfill for this time of the past. It is due at once."""

    at: Millis
    left: int  # times that may come after it


@frozen
class Filled:
    """The backfill is over: it has no further time."""


Decision = Step | Over | Fill | Filled | NoStep | ReadAgain


def decide_backfill(
    cursor: Cursor, definition: SeriesDefinition, rule: Rule, asked: Range
) -> Fill | Filled | ReadAgain | SeriesRefuses:
    """The first time of a backfill; Filled: there is none."""
    if cursor.state in CLOSED or cursor.state is SeriesState.FAILED:
        return SeriesRefuses(f"the series is {cursor.state}")
    if cursor.definition_revision != definition.revision:
        return ReadAgain()
    if cursor.backfill:
        return SeriesRefuses("a backfill of it is under way")
    return _from(rule, asked.since - 1, asked.until, MAX_FILLED)


def decide_backfill_step(
    cursor: Cursor, definition: SeriesDefinition, rule: Rule, happened: Happened
) -> Fill | Filled | NoStep | ReadAgain:
    """Whether what happened to one schedule is a reason to put the next one of the backfill."""
    if cursor.backfill is None or happened.schedule_id != cursor.backfill.current:
        return NoStep("it is not of the backfill")
    if cursor.state in CLOSED:
        return NoStep(f"the series is {cursor.state}")
    if cursor.definition_revision != definition.revision:
        return ReadAgain()
    if happened.kind not in AT_AN_END:
        return NoStep("a backfill goes on when its occurrence has ended")
    return _from(rule, cursor.backfill.at, cursor.backfill.until, cursor.backfill.left)


def decide_backfill_resume(
    cursor: Cursor, rule: Rule, row: LedgerRow | None, now: Millis
) -> Fill | Filled | CancelFirst | None:
    """How the backfill goes on after a pause; None: there is none, or its occurrence is still at work.

    `row` is that of its occurrence. The time that the pause has cancelled is put anew.
    """
    backfill = cursor.backfill
    if backfill is None:
        return None
    happened = of_row(backfill.current, row, now)
    if happened is None:
        return CancelFirst()
    if happened.kind not in AT_AN_END:
        return None
    if was_used(row) or backfill.given_up:
        return _from(rule, backfill.at, backfill.until, backfill.left)
    return Fill(at=backfill.at, left=backfill.left)


def filled(cursor: Cursor, fill: Fill | Filled, schedule_id: str) -> Cursor:
    """The cursor with it; `schedule_id` is that of the occurrence that the same transaction puts."""
    if cursor.backfill is None:
        return cursor
    if isinstance(fill, Filled):
        return evolve(cursor, backfill=None)
    backfill = evolve(cursor.backfill, at=fill.at, left=fill.left, current=schedule_id, given_up=False)
    return evolve(cursor, backfill=backfill)


def begun(cursor: Cursor, fill: Fill, schedule_id: str, asked: Range) -> CursorChange:
    """The cursor when it begins."""
    backfill = Backfill(since=asked.since, until=asked.until, at=fill.at, left=fill.left, current=schedule_id)
    return changed(cursor, backfill=backfill)


def decide_any_step(
    cursor: Cursor, definition: SeriesDefinition, rule: Rule, happened: Happened, now: Millis
) -> Decision:
    """Whether what happened to one schedule is a reason to put another: that of the series, or that of its backfill."""
    if cursor.backfill and happened.schedule_id == cursor.backfill.current:
        return decide_backfill_step(cursor, definition, rule, happened)
    return decide_step(cursor, definition, rule, happened, now)


def any_stepped(cursor: Cursor, step: Step | Over | Fill | Filled, schedule_id: str) -> CursorChange:
    """The cursor after it; `schedule_id` is that of the occurrence that the same transaction puts."""
    if isinstance(step, Fill | Filled):
        return changed(cursor, backfill=filled(cursor, step, schedule_id).backfill)
    return stepped(cursor, step, schedule_id)


def _from(rule: Rule, after: Millis, until: Millis, left: int) -> Fill | Filled:
    """A rule that fails ends it: the series itself says so at its next step."""
    try:
        at = rule.next_after(after)
    except RuleFailed:
        return Filled()
    return Filled() if at is None or at >= until or not left else Fill(at=at, left=left - 1)
