"""The step of a series: whether its next occurrence is put, and for which time (ADR 0094).

Events come twice, late, in any order or never. So an event is only a hint: what it says is compared with the cursor,
and only what happened to the current occurrence is a reason to step.
"""

from typing import Final

from attrs import frozen

from delayer.accept.rules.window import steady_offset
from delayer.ledger.model import ENDS, EventType, LedgerRow, State
from delayer.recurrence.terms import OnMissed
from delayer.schedule.instants import STALE_AFTER, Malformed, Millis
from delayer.schedule.schedule_id import address_of, point_in_time_of
from delayer.series.rules.series import (
    AT_MOST_AHEAD,
    Cursor,
    CursorChange,
    Overlap,
    Rule,
    RuleFailed,
    SeriesDefinition,
    SeriesState,
    changed,
)

MAX_MADE_UP: Final = 1_000  # past times in a row
AT_AN_END: Final = frozenset(EventType(str(state)) for state in ENDS)
AT_THE_CLAIM: Final = AT_AN_END | {  # each of them says that it was claimed, should the event of the claim be lost
    EventType.CLAIMED,
    EventType.CLAIMED_AGAIN,
    EventType.ATTEMPT_FAILED,
    EventType.STOP_REQUESTED,
}


@frozen(kw_only=True)
class Happened:
    """It says what has happened to one schedule, by an event or by its ledger row."""

    schedule_id: str
    kind: EventType


@frozen(kw_only=True)
class Step:
    """Put the occurrence with this number, for this time."""

    number: int
    at: Millis  # may be over: then it is due at once
    made_up: int = 0


@frozen
class Over:
    """There is nothing to put: the series waits, ended or failed."""

    state: SeriesState


@frozen
class NoStep:
    """No step. `reason` is for the log."""

    reason: str


@frozen
class ReadAgain:
    """Cursor and definition were read on both sides of a PATCH: they do not belong together."""


def of_row(schedule_id: str, row: LedgerRow | None, now: Millis) -> Happened | None:
    """Rebuilds what a lost event would have said; None if nothing has happened yet. Raises ValueError if it is not an
    id.

    A schedule so old that no copy of it may fire any more has ended, though its row may have expired.
    """
    if row and row.ended:
        return Happened(schedule_id=schedule_id, kind=EventType(str(row.state)))
    if row and (row.state is State.CLAIMED or row.claimed_at):  # now, or before it was redriven
        return Happened(schedule_id=schedule_id, kind=EventType.CLAIMED)
    if now - address_of(schedule_id).due > STALE_AFTER:
        return Happened(schedule_id=schedule_id, kind=EventType.DEAD_LETTERED)
    return None


def is_over_for(overlap: Overlap, kind: EventType) -> bool:
    """Whether the next one may be put after this."""
    return kind in (AT_THE_CLAIM if overlap is Overlap.ALLOW else AT_AN_END)


def decide_step(
    cursor: Cursor, definition: SeriesDefinition, rule: Rule, happened: Happened, now: Millis
) -> Step | Over | NoStep | ReadAgain:
    """Whether what happened to one schedule is a reason to put the next occurrence."""
    if happened.schedule_id != cursor.current:
        return NoStep("it is not the current occurrence")
    if cursor.state is not SeriesState.ACTIVE:
        return NoStep(f"the series is {cursor.state}")
    if cursor.definition_revision != definition.revision:
        return ReadAgain()
    if not is_over_for(definition.overlap, happened.kind):
        return NoStep(f"with overlap {definition.overlap}, {happened.kind} is no reason to step")
    return next_step(cursor, definition, rule, now)


def decide_wake(
    cursor: Cursor, definition: SeriesDefinition, rule: Rule, now: Millis
) -> Step | Over | NoStep | ReadAgain:
    """Whether the time that a series waits for has come near enough; it is asked once in a while."""
    if cursor.state is not SeriesState.WAITING:
        return NoStep(f"the series is {cursor.state}")
    if cursor.definition_revision != definition.revision:
        return ReadAgain()
    return first_step(cursor, definition, rule, now, cursor.passed)


def next_step(cursor: Cursor, definition: SeriesDefinition, rule: Rule, now: Millis) -> Step | Over:
    """The occurrence after the current one."""
    try:
        passed = passed_by(definition, cursor.series, now)
        at = _next_time(cursor, definition, rule, passed)
    except (RuleFailed, Malformed):
        return Over(SeriesState.FAILED)
    return step_to(at, cursor, passed)


def offset_of(definition: SeriesDefinition, series: str) -> Millis:
    """How long after its time an occurrence is due: the same for all of a series. Raises Malformed."""
    return steady_offset(definition.definition, series.encode())


def passed_by(definition: SeriesDefinition, series: str, now: Millis) -> Millis:
    """Up to when the times of a series have passed: whoever counts missed ones, or those to come, asks here.

    With a window, a time has passed only when its place in the window has: a claim comes that much later than its time
    (ADR 0103). None is from before the creation. Raises Malformed.
    """
    return max(now - offset_of(definition, series), min(now, definition.created_at))


def moved_to(cursor: Cursor, definition: SeriesDefinition) -> Millis | None:
    """When the current occurrence is due, if its owner has moved it; else None. Raises Malformed, or ValueError."""
    due = point_in_time_of(cursor.current)
    return None if due == cursor.at + offset_of(definition, cursor.series) else due


def step_from(cursor: Cursor, rule: Rule, after: Millis, now: Millis) -> Step | Over:
    """The next occurrence, for the first time later than `after`: what passed before is not made up."""
    try:
        return step_to(rule.next_after(after), cursor, now)
    except RuleFailed:
        return Over(SeriesState.FAILED)


def has_time(rule: Rule, at: Millis) -> bool:
    """Whether this is one of the times of the rule; not if it fails."""
    try:
        return rule.next_after(at - 1) == at
    except RuleFailed:
        return False


def first_step(cursor: Cursor, definition: SeriesDefinition, rule: Rule, now: Millis, *used: Millis) -> Step | Over:
    """The next occurrence, for the first time that is still to come, later than all that were used."""
    try:
        passed = passed_by(definition, cursor.series, now)
    except Malformed:
        return Over(SeriesState.FAILED)
    return step_from(cursor, rule, max((passed, *used)), passed)


def step_to(at: Millis | None, cursor: Cursor, now: Millis) -> Step | Over:
    """The next occurrence, for this time."""
    if at is None:
        return Over(SeriesState.ENDED)
    if at > now + AT_MOST_AHEAD:
        return Over(SeriesState.WAITING)
    return Step(number=cursor.number + 1, at=at, made_up=cursor.made_up + 1 if at <= now else 0)


def stepped(cursor: Cursor, step: Step | Over, schedule_id: str) -> CursorChange:
    """The cursor after it; `schedule_id` is that of the occurrence that the same transaction puts."""
    passed = max(cursor.passed, cursor.at)
    if isinstance(step, Over):
        return changed(cursor, state=step.state, current="", passed=passed, made_up=0)
    return changed(
        cursor,
        state=SeriesState.ACTIVE,
        number=step.number,
        current=schedule_id,
        at=step.at,
        passed=passed,
        made_up=step.made_up,
    )


def _next_time(cursor: Cursor, definition: SeriesDefinition, rule: Rule, now: Millis) -> Millis | None:
    """The rule says it, from the time of the last one, never from when that one ran.

    What passed while an occurrence was late is missed; what passed while it ran, is a matter of its overlap. The resume
    has left behind what passed during the pause.
    """
    last = max(cursor.at, cursor.passed)
    match definition.overlap, definition.on_missed:
        case (Overlap.QUEUE_ONE, _) | (Overlap.ALLOW, OnMissed.ONCE):
            return last_passed(rule, last, now) or rule.next_after(max(last, now))
        case (Overlap.ALLOW, OnMissed.ALL) if cursor.made_up < MAX_MADE_UP:
            return rule.next_after(last)
    return rule.next_after(max(last, now))


def last_passed(rule: Rule, after: Millis, now: Millis) -> Millis | None:
    """The last time of the rule that is later than `after` and not later than `now`; None if there is none.

    By halves, as there may be a million of them in between: if a time follows that has passed, the last is not earlier.
    """
    found = rule.next_after(after)
    if found is None or found > now:
        return None
    low, high = found, now  # the last one is not earlier than `low`, and not later than `high`
    while low < high:
        middle = (low + high) // 2
        later = rule.next_after(middle)
        if later is not None and later <= now:
            low = later
        else:
            high = max(low, middle)
    return low
