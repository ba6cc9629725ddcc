"""What a new version of the tz database does to a series."""

import pytest
from attrs import evolve

from delayer.accept.rules.window import offset
from delayer.ledger.model import State
from delayer.schedule.instants import HOUR, MINUTE
from delayer.series.rules.series import Cursor, SeriesState
from delayer.series.rules.stepping import NoStep, ReadAgain, Step
from delayer.series.rules.upkeep import decide_recompute, recomputed
from tests.samples import NOW, a_claim, a_definition, an_id
from tests.unit.series.rules.samples import CURRENT, Broken, Every, Times, a_cursor, a_series

EARLIER = NOW - HOUR
CURSOR = a_cursor(at=NOW, passed=NOW - 24 * HOUR)  # its current occurrence is due in an hour


def test_the_current_occurrence_is_put_for_its_new_time_with_the_same_number() -> None:
    step = decide_recompute(CURSOR, a_series(), Times((NOW + HOUR, NOW + 25 * HOUR)), None, EARLIER)
    assert step == Step(number=CURSOR.number, at=NOW + HOUR)
    change = recomputed(CURSOR, step, "new")
    after = change.cursor
    assert change.over == CURSOR
    assert (after.number, after.current, after.at, after.revision) == (7, "new", NOW + HOUR, CURSOR.revision + 1)
    assert after.passed == CURSOR.passed, "the time that is given up was never due"


def test_a_time_that_comes_earlier_is_taken_too() -> None:
    step = decide_recompute(CURSOR, a_series(), Times((NOW - MINUTE,)), None, EARLIER)
    assert step == Step(number=7, at=NOW - MINUTE)


def test_nearly_always_nothing_changes() -> None:
    assert isinstance(decide_recompute(CURSOR, a_series(), Times((NOW, NOW + HOUR)), None, EARLIER), NoStep)


def test_the_place_in_a_window_is_no_move_by_its_owner() -> None:
    series = a_series(definition=a_definition(window='{"seconds":900}'))
    due = NOW + offset(b"s", 900)
    within = evolve(CURSOR, current=an_id(due))
    step = decide_recompute(within, series, Times((NOW + HOUR,)), None, EARLIER)
    assert step == Step(number=7, at=NOW + HOUR)
    moved = evolve(CURSOR, current=an_id(due + 1))
    assert isinstance(decide_recompute(moved, series, Times((NOW + HOUR,)), None, EARLIER), NoStep)


def test_what_is_due_is_said_by_its_place_in_the_window() -> None:
    """At the time of the rule it still waits, and may go to another time, as long as that has its place to come."""
    series = a_series(definition=a_definition(window='{"seconds":900}'))
    place = offset(b"s", 900)
    within = evolve(CURSOR, current=an_id(NOW + place))
    later = decide_recompute(within, series, Times((NOW + HOUR,)), None, NOW + 1)
    assert later == Step(number=7, at=NOW + HOUR)
    waiting = evolve(CURSOR, at=NOW + HOUR, current=an_id(NOW + HOUR + place))
    assert decide_recompute(waiting, series, Times((NOW,)), None, NOW + 1) == Step(number=7, at=NOW)
    assert isinstance(decide_recompute(within, series, Times((NOW + HOUR,)), None, NOW + place), NoStep)


@pytest.mark.parametrize(
    "cursor",
    [
        evolve(CURSOR, state=SeriesState.PAUSED),
        evolve(CURSOR, state=SeriesState.WAITING, current=""),
        evolve(CURSOR, at=EARLIER),
        evolve(CURSOR, at=NOW + MINUTE),
    ],
    ids=["paused", "waiting", "due", "moved by its owner"],
)
def test_what_is_due_moved_or_not_put_stays(cursor: Cursor) -> None:
    assert isinstance(decide_recompute(cursor, a_series(), Every(7 * HOUR), None, EARLIER), NoStep)


def test_what_was_claimed_a_moment_early_stays() -> None:
    row = a_claim(schedule_id=CURRENT, state=State.CLAIMED)
    assert isinstance(decide_recompute(CURSOR, a_series(), Every(7 * HOUR), row, EARLIER), NoStep)


@pytest.mark.parametrize("rule", [Broken(), Times(())], ids=["fails", "has no time"])
def test_a_rule_that_says_nothing_more_is_a_matter_of_the_next_step(rule: Broken | Times) -> None:
    assert isinstance(decide_recompute(CURSOR, a_series(), rule, None, EARLIER), NoStep)


def test_cursor_and_definition_from_both_sides_of_a_patch_are_read_again() -> None:
    assert isinstance(decide_recompute(CURSOR, a_series(revision=2), Every(7 * HOUR), None, EARLIER), ReadAgain)
