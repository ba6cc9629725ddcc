"""The canary of each tick: by turns within the delayer period and beyond it, and never older than five minutes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delayer.accept.rules.admission import admit
from delayer.actions.rules.foreign import built_in
from delayer.http.problem import Invalid
from delayer.recovery.rules import NEAR_AHEAD, Path, next_canary
from delayer.schedule.instants import MINUTE, SECOND, YEAR, minute_of, within_period
from delayer.schedule.misfire import Drop, decide_misfire
from tests.samples import NOW

NOWS = st.integers(NOW, NOW + 10 * YEAR)
PERIODS = st.integers(60, 840).map(lambda seconds: seconds * SECOND)


@given(NOWS, PERIODS)
def test_the_minutes_take_turns(now: int, period: int) -> None:
    assert {next_canary(now, period).path, next_canary(now + MINUTE, period).path} == set(Path)


@given(NOWS, PERIODS)
def test_one_takes_the_fast_track_and_the_other_the_sweep(now: int, period: int) -> None:
    """As the enqueuer decides, which sees the record a few seconds later."""
    canary = next_canary(now, period)
    for seen in (now, now + 10 * SECOND):
        assert within_period(minute_of(canary.point_in_time), seen, period) == (canary.path is Path.NEAR)


@given(NOWS, PERIODS)
def test_it_is_dropped_when_it_is_more_than_five_minutes_late(now: int, period: int) -> None:
    canary = next_canary(now, period)
    due = canary.point_in_time
    assert decide_misfire(canary.definition.on_late, due, due + 5 * MINUTE) is None
    assert isinstance(decide_misfire(canary.definition.on_late, due, due + 5 * MINUTE + 1), Drop)


def test_it_is_due_before_the_next_of_its_kind_is_sent() -> None:
    assert NEAR_AHEAD < 2 * MINUTE


def test_its_action_has_a_type_of_its_own() -> None:
    assert next_canary(0, MINUTE).definition.action_type == "canary"


def test_no_client_can_schedule_one() -> None:
    """It would be counted as a canary: a stack that loses schedules would look well."""
    with pytest.raises(Invalid) as refused:
        admit(b'{"delaySeconds": 1, "action": {"type": "canary", "path": "near"}}', 0, built_in())
    [error] = refused.value.errors
    assert error.field == "action.type"
    assert error.allowed
    assert "canary" not in error.allowed
