"""The step of a series: only what happened to the current occurrence puts the next one, and only at a later time."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from delayer.ledger.model import ENDS, EventType, State
from delayer.recurrence.terms import OnMissed
from delayer.schedule.instants import DAY, HOUR, MINUTE, STALE_AFTER, YEAR, Millis
from delayer.series.rules.series import Overlap, SeriesState, may_write
from delayer.series.rules.stepping import (
    AT_AN_END,
    AT_THE_CLAIM,
    MAX_MADE_UP,
    NoStep,
    Over,
    ReadAgain,
    Step,
    decide_step,
    decide_wake,
    last_passed,
    of_row,
    stepped,
)
from tests.samples import NOW, a_claim, an_id
from tests.unit.series.rules.samples import CURRENT, Broken, Every, Times, a_cursor, a_series, happened


def test_a_claim_puts_the_next_one() -> None:
    step = decide_step(a_cursor(), a_series(), Every(HOUR), happened(), NOW)
    assert step == Step(number=8, at=NOW + HOUR)


def test_an_event_of_another_occurrence_does_nothing() -> None:
    other = an_id(shard=4)
    assert isinstance(decide_step(a_cursor(), a_series(), Every(HOUR), happened(schedule_id=other), NOW), NoStep)


@pytest.mark.parametrize("state", [state for state in SeriesState if state is not SeriesState.ACTIVE])
def test_only_an_active_series_steps(state: SeriesState) -> None:
    assert isinstance(decide_step(a_cursor(state=state), a_series(), Every(HOUR), happened(), NOW), NoStep)


def test_a_definition_of_another_revision_is_read_again() -> None:
    assert decide_step(a_cursor(), a_series(revision=2), Every(HOUR), happened(), NOW) == ReadAgain()


@pytest.mark.parametrize("overlap", Overlap)
@pytest.mark.parametrize("kind", EventType)
def test_what_is_a_reason_to_step(overlap: Overlap, kind: EventType) -> None:
    """With `allow` the claim, and all that can only follow it; else an end."""
    reasons = AT_THE_CLAIM if overlap is Overlap.ALLOW else AT_AN_END
    step = decide_step(a_cursor(), a_series(overlap=overlap), Every(HOUR), happened(kind), NOW)
    assert isinstance(step, Step) == (kind in reasons)


@pytest.mark.parametrize("state", sorted(ENDS))
def test_each_end_is_a_reason_whatever_the_overlap(state: State) -> None:
    assert EventType(str(state)) in AT_AN_END & AT_THE_CLAIM


def test_the_series_ends_with_its_rule() -> None:
    assert decide_step(a_cursor(), a_series(), Times((NOW,)), happened(), NOW) == Over(SeriesState.ENDED)


def test_it_fails_with_its_rule() -> None:
    assert decide_step(a_cursor(), a_series(), Broken(), happened(), NOW) == Over(SeriesState.FAILED)
    over = stepped(a_cursor(), Over(SeriesState.FAILED), "").cursor
    assert (over.state, over.current, over.number) == (SeriesState.FAILED, "", 7)


def test_it_waits_for_what_is_too_far_ahead_and_goes_on_when_that_is_near() -> None:
    rule = Times((NOW + 11 * YEAR,))
    assert decide_step(a_cursor(), a_series(), rule, happened(), NOW) == Over(SeriesState.WAITING)
    waiting = stepped(a_cursor(), Over(SeriesState.WAITING), "").cursor
    assert decide_wake(waiting, a_series(), rule, NOW + DAY) == Over(SeriesState.WAITING)
    assert decide_wake(waiting, a_series(), rule, NOW + 2 * YEAR) == Step(number=8, at=NOW + 11 * YEAR)
    assert isinstance(decide_wake(a_cursor(), a_series(), rule, NOW), NoStep)


class TestMissed:
    LATE = NOW + 3 * HOUR + MINUTE  # three times have passed meanwhile

    def step(self, **changes: object) -> Step:
        step = decide_step(a_cursor(), a_series(**changes), Every(HOUR), happened(EventType.EXECUTED), self.LATE)
        assert isinstance(step, Step)
        return step

    def test_they_are_skipped(self) -> None:
        assert self.step() == Step(number=8, at=NOW + 4 * HOUR)
        assert self.step(overlap=Overlap.SKIP) == Step(number=8, at=NOW + 4 * HOUR)

    def test_the_last_is_made_up(self) -> None:
        assert self.step(on_missed=OnMissed.ONCE) == Step(number=8, at=NOW + 3 * HOUR, made_up=1)
        assert self.step(overlap=Overlap.QUEUE_ONE) == Step(number=8, at=NOW + 3 * HOUR, made_up=1)

    def test_all_are_made_up_one_after_the_other(self) -> None:
        assert self.step(on_missed=OnMissed.ALL) == Step(number=8, at=NOW + HOUR, made_up=1)

    def test_if_none_was_missed_the_next_is_put(self) -> None:
        for on_missed in OnMissed:
            step = decide_step(a_cursor(), a_series(on_missed=on_missed), Every(HOUR), happened(), NOW)
            assert step == Step(number=8, at=NOW + HOUR)

    def test_at_most_a_thousand_are_made_up_in_a_row(self) -> None:
        cursor, late = a_cursor(), NOW + 2_000 * MINUTE + 1
        while cursor.at <= late:
            step = decide_step(
                cursor, a_series(on_missed=OnMissed.ALL), Every(MINUTE), happened(schedule_id=cursor.current), late
            )
            assert isinstance(step, Step)
            cursor = stepped(cursor, step, an_id(shard=step.number % 64)).cursor
        assert cursor.number == 7 + MAX_MADE_UP + 1
        assert cursor.made_up == 0
        assert cursor.at == NOW + 2_001 * MINUTE


@given(
    st.sets(st.integers(0, 200), min_size=1).map(lambda some: Times(tuple(sorted(some)))),
    st.integers(-1, 200),
    st.integers(0, 220),
)
@example(Times((5,)), 4, 5)
@example(Times((5,)), 5, 5)
def test_the_last_that_passed_is_found_by_halves(rule: Times, after: Millis, now: Millis) -> None:
    passed = [one for one in rule.times if after < one <= now]
    assert last_passed(rule, after, now) == (passed[-1] if passed else None)


@given(
    st.sampled_from(Overlap),
    st.sampled_from(OnMissed),
    st.lists(st.integers(0, 5 * HOUR), min_size=1, max_size=30),
)
def test_numbers_follow_each_other_and_times_rise(overlap: Overlap, on_missed: OnMissed, waits: list[Millis]) -> None:
    """However late each step is: no time is put twice, and no number is left out."""
    cursor, now, definition = a_cursor(), NOW, a_series(overlap=overlap, on_missed=on_missed)
    for number, wait in enumerate(waits, 8):
        now = max(now, cursor.at) + wait
        step = decide_step(cursor, definition, Every(HOUR), happened(EventType.EXECUTED, cursor.current), now)
        assert isinstance(step, Step)
        change = stepped(cursor, step, an_id(shard=number))
        assert may_write(change, cursor)
        assert not may_write(change, change.cursor)
        assert step.number == number
        assert cursor.at < step.at
        assert step.at % HOUR == 0
        cursor = change.cursor


def test_what_the_ledger_says_of_a_lost_event() -> None:
    assert of_row(CURRENT, None, NOW) is None
    assert of_row(CURRENT, a_claim(), NOW) == happened(EventType.CLAIMED)
    assert of_row(CURRENT, a_claim(state=State.FAILED), NOW) == happened(EventType.FAILED)
    assert of_row(CURRENT, a_claim(state=State.SCHEDULED, claimed_at=0), NOW) is None
    redriven = a_claim(state=State.SCHEDULED)
    assert of_row(CURRENT, redriven, NOW) == happened(EventType.CLAIMED)


def test_what_is_so_old_that_no_copy_may_fire_is_over_without_a_row() -> None:
    assert of_row(CURRENT, None, NOW + STALE_AFTER) is None
    assert of_row(CURRENT, None, NOW + STALE_AFTER + 1) == happened(EventType.DEAD_LETTERED)
