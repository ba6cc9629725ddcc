"""A new version of the tz database: the current occurrence of a series is put for another time, if the rule says so.

It is what a PATCH of the rule does, under the definition that stands (ADR 0100).
"""

from attrs import evolve

from delayer.core.ledger.row import LedgerRow
from delayer.core.schedule.instants import Millis
from delayer.core.series.series import Cursor, CursorChange, Rule, SeriesDefinition, SeriesState
from delayer.core.series.stepping import Ignore, ReadAgain, Step, first_step, moved_to, of_row, passed_by, stepped


def decide_recompute(
    cursor: Cursor, definition: SeriesDefinition, rule: Rule, row: LedgerRow | None, now: Millis
) -> Step | Ignore | ReadAgain:
    """The occurrence that takes the place of the current one, with its number; `row` is that of the current one.

    What is due already fires as it was put, and so does what its owner has moved: the step after it goes by the new
    times. So do a rule that has no time any more, and one that fails, since its zone is gone. A series that is paused
    or waits asks its rule anew in any case.
    """
    if cursor.state is not SeriesState.ACTIVE or not cursor.current:
        return Ignore(f"the series is {cursor.state}")
    if cursor.definition_revision != definition.revision:
        return ReadAgain()
    if cursor.at <= passed_by(definition, cursor.series, now) or of_row(cursor.current, row, now):
        return Ignore("its current occurrence is due")
    if moved_to(cursor, definition) is not None:
        return Ignore("its owner has moved it")
    step = first_step(cursor, definition, rule, now, cursor.passed)
    if not isinstance(step, Step) or step.at == cursor.at:
        return Ignore("there is no other time")
    return evolve(step, number=cursor.number)


def recomputed(cursor: Cursor, step: Step, schedule_id: str) -> CursorChange:
    """The cursor after it; `schedule_id` is a new one. The time that is given up was never due: it may come again."""
    change = stepped(evolve(cursor, at=cursor.passed), step, schedule_id)
    return CursorChange(cursor=change.cursor, over=cursor)
