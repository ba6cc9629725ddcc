"""A backfill makes up the times of a range, one after the other. The orders of its writes are searched by the model."""

from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from delayer.history.model import SeriesRefuses
from delayer.ledger.model import EventType, State
from delayer.schedule.instants import HOUR, Millis
from delayer.series.rules.backfill import (
    MAX_FILLED,
    Fill,
    Filled,
    Range,
    any_stepped,
    begun,
    decide_any_step,
    decide_backfill,
    decide_backfill_resume,
    decide_backfill_step,
    filled,
)
from delayer.series.rules.command import CancelFirst, decide_occurrence_delete, decide_occurrence_patch
from delayer.series.rules.series import Backfill, Cursor, CursorChange, Overlap, SeriesState
from delayer.series.rules.stepping import NoStep, Over, ReadAgain, Step
from tests.samples import NOW, a_claim, an_id
from tests.unit.series.rules.samples import CURRENT, Broken, Every, Times, a_cursor, a_series, happened

HOURLY = Every(HOUR)
OF_IT, NEXT = an_id(shard=5), an_id(shard=6)
ASKED = Range(since=NOW - 3 * HOUR, until=NOW)
FILLING = Backfill(since=ASKED.since, until=ASKED.until, at=NOW - 3 * HOUR, current=OF_IT, left=999)
CANCELLED = a_claim(schedule_id=OF_IT, state=State.CANCELLED, claimed_at=0, attempt=0)


def a_filling(**changes: Any) -> Cursor:
    return a_cursor(backfill=evolve(FILLING, **changes))


def test_it_begins_with_the_first_time_of_the_range_and_leaves_the_series_alone() -> None:
    fill = decide_backfill(a_cursor(), a_series(), HOURLY, ASKED)
    assert fill == Fill(at=NOW - 3 * HOUR, left=MAX_FILLED - 1)
    assert isinstance(fill, Fill)
    change = begun(a_cursor(), fill, OF_IT, ASKED)
    assert change.cursor == evolve(a_cursor(), revision=2, backfill=FILLING)
    assert change.cursor.named == (CURRENT, OF_IT)


@pytest.mark.parametrize("state", [SeriesState.ACTIVE, SeriesState.WAITING, SeriesState.ENDED])
def test_what_is_not_paused_takes_one(state: SeriesState) -> None:
    assert isinstance(decide_backfill(a_cursor(state=state), a_series(), HOURLY, ASKED), Fill)


@pytest.mark.parametrize("state", [SeriesState.PAUSED, SeriesState.CANCELLED, SeriesState.FAILED])
def test_what_is_closed_takes_none(state: SeriesState) -> None:
    assert decide_backfill(a_cursor(state=state), a_series(), HOURLY, ASKED) == SeriesRefuses(f"the series is {state}")


def test_one_at_a_time_by_the_definition_that_the_cursor_knows() -> None:
    assert isinstance(decide_backfill(a_filling(), a_series(), HOURLY, ASKED), SeriesRefuses)
    assert decide_backfill(a_cursor(), a_series(revision=2), HOURLY, ASKED) == ReadAgain()


@pytest.mark.parametrize("rule", [Times((NOW,)), Times(()), Broken()])
def test_without_a_time_there_is_nothing_to_put(rule: Times | Broken) -> None:
    assert decide_backfill(a_cursor(), a_series(), rule, ASKED) == Filled()


@pytest.mark.parametrize("overlap", Overlap)
def test_an_end_of_its_occurrence_puts_the_next_and_a_claim_does_not(overlap: Overlap) -> None:
    series = a_series(overlap=overlap)
    ended, claimed = happened(EventType.FAILED, OF_IT), happened(EventType.CLAIMED, OF_IT)
    fill = decide_any_step(a_filling(), series, HOURLY, ended, NOW)
    assert fill == Fill(at=NOW - 2 * HOUR, left=998)
    assert isinstance(decide_any_step(a_filling(), series, HOURLY, claimed, NOW), NoStep)


def test_what_happens_to_the_series_is_no_matter_of_the_backfill() -> None:
    step = decide_any_step(a_filling(), a_series(), HOURLY, happened(EventType.CLAIMED, CURRENT), NOW)
    assert isinstance(step, Step)
    change = any_stepped(a_filling(), step, NEXT)
    assert (change.cursor.current, change.cursor.backfill) == (NEXT, FILLING)
    assert isinstance(
        decide_backfill_step(a_filling(), a_series(), HOURLY, happened(EventType.FAILED, CURRENT)), NoStep
    )
    over = any_stepped(a_filling(), Over(SeriesState.ENDED), "")
    assert over.cursor.backfill == FILLING, "it goes on after the last time of the series"


@pytest.mark.parametrize("state", [SeriesState.PAUSED, SeriesState.CANCELLED])
def test_it_rests_while_the_series_is_closed(state: SeriesState) -> None:
    cursor = evolve(a_filling(), state=state)
    assert isinstance(decide_backfill_step(cursor, a_series(), HOURLY, happened(EventType.CANCELLED, OF_IT)), NoStep)


def test_a_step_by_another_definition_reads_again() -> None:
    ended = happened(EventType.EXECUTED, OF_IT)
    assert decide_backfill_step(a_filling(), a_series(revision=2), HOURLY, ended) == ReadAgain()


@given(st.integers(0, 30), st.integers(1, 30))
def test_each_time_of_the_range_is_put_once_and_then_it_is_over(before: int, length: int) -> None:
    asked = Range(since=NOW - (before + length) * HOUR, until=NOW - before * HOUR)
    fill: Fill | Filled | NoStep | ReadAgain | SeriesRefuses = decide_backfill(a_cursor(), a_series(), HOURLY, asked)
    assert isinstance(fill, Fill)
    cursor, put = begun(a_cursor(), fill, OF_IT, asked).cursor, list[Millis]()
    while isinstance(fill, Fill):
        put.append(fill.at)
        fill = decide_backfill_step(cursor, a_series(), HOURLY, happened(EventType.EXECUTED, OF_IT))
        assert isinstance(fill, Fill | Filled)
        cursor = any_stepped(cursor, fill, OF_IT).cursor
    assert put == list(range(asked.since, asked.until, HOUR))
    assert cursor.backfill is None


def test_it_never_puts_more_than_it_may_whatever_the_rule_becomes() -> None:
    ended = happened(EventType.EXECUTED, OF_IT)
    assert decide_backfill_step(a_filling(left=0), a_series(), HOURLY, ended) == Filled()


class TestResume:
    """`row` is that of its occurrence."""

    @pytest.mark.parametrize(
        ("row", "expected"),
        [
            (None, CancelFirst()),
            (CANCELLED, Fill(at=NOW - 3 * HOUR, left=999)),
            (a_claim(schedule_id=OF_IT), None),
            (a_claim(schedule_id=OF_IT, state=State.EXECUTED), Fill(at=NOW - 2 * HOUR, left=998)),
            (a_claim(schedule_id=OF_IT, state=State.CANCELLED), Fill(at=NOW - 2 * HOUR, left=998)),
        ],
        ids=["waits", "cancelled", "runs", "ended", "cancelled after it was redriven"],
    )
    def test_it_goes_on_where_it_was(self, row: object, expected: object) -> None:
        cursor = evolve(a_filling(), state=SeriesState.PAUSED)
        assert decide_backfill_resume(cursor, HOURLY, row, NOW) == expected  # type: ignore[arg-type]

    def test_a_time_that_its_owner_has_cancelled_is_left_out(self) -> None:
        change = decide_occurrence_delete(a_filling(), OF_IT)
        assert isinstance(change, CursorChange)
        fill = decide_backfill_resume(change.cursor, HOURLY, CANCELLED, NOW)
        assert fill == Fill(at=NOW - 2 * HOUR, left=998)
        assert isinstance(fill, Fill)
        assert filled(change.cursor, fill, NEXT).backfill == evolve(FILLING, at=NOW - 2 * HOUR, left=998, current=NEXT)

    def test_without_one_there_is_nothing_to_do(self) -> None:
        assert decide_backfill_resume(a_cursor(), HOURLY, None, NOW) is None
        assert filled(a_cursor(), Filled(), "") == a_cursor()


def test_an_occurrence_of_it_that_its_owner_moves_stays_the_one_that_it_waits_for() -> None:
    change = decide_occurrence_patch(a_filling(), OF_IT, NEXT, None)
    assert isinstance(change, CursorChange)
    assert change.cursor.backfill == evolve(FILLING, current=NEXT)
    assert change.cursor.current == CURRENT
