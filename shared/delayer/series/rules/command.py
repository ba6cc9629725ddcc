"""Decides what clients and operators do to a series, and to the schedules that bear its name.

The order of the writes is the promise. A pause or a DELETE writes the cursor first, and then cancels what that cursor
named: from then on no transaction adds anything, because each of them is a compare-and-set on the cursor (ADR 0094).
"""

from collections.abc import Collection
from typing import Final

from attrs import evolve, frozen

from delayer.history.model import SeriesRefuses
from delayer.ledger.model import LedgerRow, State
from delayer.schedule.instants import SECOND, STALE_AFTER, Malformed, Millis
from delayer.schedule.schedule_id import address_of
from delayer.series.rules.series import (
    MAX_BESIDE,
    Cursor,
    CursorChange,
    NewTimes,
    Rule,
    SeriesDefinition,
    SeriesState,
    changed,
)
from delayer.series.rules.stepping import (
    Over,
    ReadAgain,
    Step,
    first_step,
    has_time,
    is_over_for,
    next_step,
    of_row,
    passed_by,
    stepped,
)

PAUSABLE: Final = frozenset({SeriesState.ACTIVE, SeriesState.WAITING})
CLAIMED_EARLY: Final[Millis] = SECOND  # longer than any hand-over lead
CLOSED: Final = frozenset({SeriesState.PAUSED, SeriesState.CANCELLED})  # nothing of such a series may be added


@frozen
class AlreadyClosed:
    """The cursor says so already. What it names is cancelled again: the call before may have died in between."""

    cursor: Cursor


@frozen(kw_only=True)
class ReplaceOccurrence:
    """The current occurrence is replaced by one with the same number, if its ledger row is unchanged.

    Its row, the cursor, the definition and both records change in one transaction.
    """

    step: Step | Over


@frozen
class CancelFirst:
    """The current occurrence can still be claimed: the caller cancels it, and asks again."""


@frozen(kw_only=True)
class Await:
    """Nothing is put now: the step after the current occurrence, or the resume, goes by the new definition."""

    number: int  # of the first occurrence that goes by it
    passed: Millis = 0  # the times up to then are left behind


def decide_pause(cursor: Cursor) -> CursorChange | AlreadyClosed | SeriesRefuses:
    """The write that comes first; then all that `over` names is cancelled."""
    if cursor.state is SeriesState.PAUSED:
        return AlreadyClosed(cursor)
    if cursor.state not in PAUSABLE:
        return SeriesRefuses(f"the series is {cursor.state}")
    return changed(cursor, state=SeriesState.PAUSED)


def decide_delete(cursor: Cursor) -> CursorChange | AlreadyClosed:
    """As a pause, whatever the series does, and for good."""
    if cursor.state is SeriesState.CANCELLED:
        return AlreadyClosed(cursor)
    return changed(cursor, state=SeriesState.CANCELLED)


def decide_resume(
    cursor: Cursor, definition: SeriesDefinition, rule: Rule, row: LedgerRow | None, now: Millis
) -> Step | Over | Await | ReadAgain | CancelFirst | SeriesRefuses:
    """The first occurrence after a pause: always a new one, with a number of its own.

    `row` is that of the current occurrence, after the caller has cancelled it: the pause may have died before that.
    What passed during the pause is not made up. What the pause has cancelled is put anew if it is still to come.
    """
    if cursor.state is not SeriesState.PAUSED:
        return SeriesRefuses(f"the series is {cursor.state}")
    if cursor.definition_revision != definition.revision:
        return ReadAgain()
    happened = of_row(cursor.current, row, now) if cursor.current else None
    if cursor.current and happened is None:
        return CancelFirst()
    if happened and not is_over_for(definition.overlap, happened.kind):
        return _leaving_behind(cursor, definition, now)
    return first_step(cursor, definition, rule, now, cursor.passed, cursor.at if was_used(row) else 0)


def resumed(cursor: Cursor, resume: Step | Over | Await, row: LedgerRow | None, schedule_id: str) -> CursorChange:
    """The cursor after a resume; `schedule_id` is a new one, and is put by the same transaction if there is a step.

    `row` is the one that was decided by.
    """
    if isinstance(resume, Await):
        return changed(cursor, state=SeriesState.ACTIVE, passed=max(cursor.passed, resume.passed))
    change = stepped(cursor if was_used(row) else evolve(cursor, at=cursor.passed), resume, schedule_id)
    return CursorChange(cursor=change.cursor, over=cursor)


def decide_patch(
    cursor: Cursor,
    definition: SeriesDefinition,
    rule: Rule,
    row: LedgerRow | None,
    now: Millis,
    new_times: NewTimes,
) -> ReplaceOccurrence | Step | Over | Await | ReadAgain | SeriesRefuses:
    """At which occurrence the new definition takes effect; `row` is that of the current one.

    `definition` and `rule` are the new ones, `new_times` says how the rule differs. If the current occurrence is
    claimed, or over, the change takes the step itself. If it waits, and the new rule has its time, too, it keeps that
    time, though it may be late. Other bounds of the same times lose nothing, and take nothing back (ADR 0145).
    """
    if cursor.state is SeriesState.CANCELLED:
        return SeriesRefuses("the series is cancelled")
    if definition.revision != cursor.definition_revision + 1:
        return ReadAgain()  # it was made from a definition that another PATCH has replaced
    if cursor.state is SeriesState.PAUSED:
        return Await(number=cursor.number + 1)
    happened = of_row(cursor.current, row, now) if cursor.current else None
    if cursor.current and happened is None:
        return ReplaceOccurrence(step=_in_its_place(cursor, definition, rule, row, now, new_times))
    is_pattern = new_times is NewTimes.PATTERN
    if happened and not is_over_for(definition.overlap, happened.kind):
        return _leaving_behind(cursor, definition, now) if is_pattern else Await(number=cursor.number + 1)
    if happened and not is_pattern:
        return next_step(cursor, definition, rule, now)
    return _first_of(cursor, definition, rule, row, now, new_times)


def patched(
    cursor: Cursor,
    patch: ReplaceOccurrence | Step | Over | Await,
    definition: SeriesDefinition,
    now: Millis,
    schedule_id: str,
    new_times: NewTimes,
) -> CursorChange:
    """The cursor after a PATCH, in one transaction with the definition; `schedule_id` is a new one.

    A new pattern knows nothing of times that were left behind in the future. What has passed by it is not made up.
    """
    match patch:
        case Await(passed=left_behind):
            change = changed(cursor, passed=max(cursor.passed, left_behind))
        case ReplaceOccurrence(step=step):
            change = stepped(evolve(cursor, at=cursor.passed), step, schedule_id)
        case _:
            change = stepped(cursor, patch, schedule_id)
    passed = change.cursor.passed
    passed = min(passed, now + CLAIMED_EARLY) if new_times is NewTimes.PATTERN else passed
    after = evolve(change.cursor, definition_revision=definition.revision, passed=passed)
    return CursorChange(cursor=after, over=cursor)


def decide_beside(cursor: Cursor, schedule_id: str, over: Collection[str] = ()) -> CursorChange | SeriesRefuses:
    """One more that may be claimed beside the current occurrence: by run-now, a redrive, or a PATCH of an older one.

    The same transaction puts it or reopens its ledger row. `over` are those of `beside` of which nothing is handed over
    any more. The current one is named again, too: after the step nothing else does.
    """
    if cursor.state in CLOSED:
        return SeriesRefuses(f"the series is {cursor.state}")
    if schedule_id in cursor.beside:
        return changed(cursor)
    left = tuple(one for one in cursor.beside if one not in over)
    if len(left) == MAX_BESIDE:
        return SeriesRefuses(f"{MAX_BESIDE} of its schedules are waiting beside the current one; try again later")
    return changed(cursor, beside=(*left, schedule_id))


def is_settled(schedule_id: str, row: LedgerRow | None, now: Millis) -> bool:
    """Whether nothing of it is handed over any more: it has ended, or is so old that it cannot fire.

    What is claimed may still be handed over: an answer has to name it. Raises ValueError if it is not an id.
    """
    return now - address_of(schedule_id).due > STALE_AFTER if row is None else row.ended


def decide_occurrence_delete(cursor: Cursor, schedule_id: str) -> CursorChange | None:
    """Decides what one transaction writes beside the ledger row of an occurrence that its owner cancels; None: nothing.

    The time of the current occurrence is given up with it, so that no resume puts it again. So is one of a backfill.
    """
    if cursor.backfill and schedule_id == cursor.backfill.current:
        return changed(cursor, backfill=evolve(cursor.backfill, given_up=True))
    if schedule_id != cursor.current:
        return None
    return changed(cursor, passed=max(cursor.passed, cursor.at))


def gives_up(delete: CursorChange) -> bool:
    """Whether the cursor does not say yet what the DELETE of an occurrence writes: a pause has cancelled it before.

    A resume would put its time again. Of a series that is cancelled nothing is put.
    """
    is_said = evolve(delete.cursor, revision=delete.over.revision) == delete.over
    return not is_said and delete.over.state is not SeriesState.CANCELLED


def decide_occurrence_patch(
    cursor: Cursor, old: str, new: str, row: LedgerRow | None, over: Collection[str] = ()
) -> CursorChange | SeriesRefuses:
    """Decides what one transaction writes beside the replacement of an occurrence by its owner; `row` is that of the
    old one.

    The current one stays the current one under its new id, as long as it was not claimed. What is replaced after an end
    lives beside the current one.
    """
    if cursor.state in CLOSED:
        return SeriesRefuses(f"the series is {cursor.state}")
    if was_used(row):
        return decide_beside(cursor, new, over)
    if old == cursor.current:
        return changed(cursor, current=new)
    if cursor.backfill and old == cursor.backfill.current:
        return changed(cursor, backfill=evolve(cursor.backfill, current=new))
    if old in cursor.beside:
        return changed(cursor, beside=tuple(new if one == old else one for one in cursor.beside))
    return SeriesRefuses("it is no live schedule of its series")


def was_used(row: LedgerRow | None) -> bool:
    """Whether the time of an occurrence was used up: it was claimed, or it has another end than a cancel."""
    return row is not None and (bool(row.claimed_at) or (row.ended and row.state is not State.CANCELLED))


def _leaving_behind(cursor: Cursor, definition: SeriesDefinition, now: Millis) -> Await | Over:
    """The next one comes after an end, and nothing that has passed is made up then: but what is to come is not over."""
    try:
        return Await(number=cursor.number + 1, passed=passed_by(definition, cursor.series, now))
    except Malformed:
        return Over(SeriesState.FAILED)


def _in_its_place(
    cursor: Cursor, definition: SeriesDefinition, rule: Rule, row: LedgerRow | None, now: Millis, new_times: NewTimes
) -> Step | Over:
    """The occurrence that is put in the place of one that waits: it keeps its time, if the rule still has it and none
    before.
    """
    same = Step(number=cursor.number, at=cursor.at, made_up=cursor.made_up)
    if new_times is NewTimes.NONE:
        return same
    first = _first_of(cursor, definition, rule, row, now, new_times)
    is_earlier = isinstance(first, Step) and first.at < same.at
    if not is_earlier and has_time(rule, same.at):
        return same
    return evolve(first, number=same.number) if isinstance(first, Step) else first


def _first_of(
    cursor: Cursor, definition: SeriesDefinition, rule: Rule, row: LedgerRow | None, now: Millis, new_times: NewTimes
) -> Step | Over:
    """The first time from now on that was not used; of a new pattern, but for one that was claimed a moment early."""
    used = (cursor.passed, cursor.at if was_used(row) else 0)
    last = now + CLAIMED_EARLY if new_times is NewTimes.PATTERN else max(used)
    return first_step(cursor, definition, rule, now, *(one for one in used if one <= last))
