"""The points in time of a run are as its name says."""

import itertools

import pytest

from bench.load.due_times import MINUTE, at_once, evenly, first_minute_to_sweep, sweep_at, within_a_second


def test_evenly_means_the_same_distance() -> None:
    times = evenly(1_000, rate=50, seconds=2)
    assert len(times) == 100
    assert {later - earlier for earlier, later in itertools.pairwise(times)} == {20}
    assert times[0] == 1_000


def test_a_spread_burst_stays_within_its_second_and_is_the_same_each_time() -> None:
    times = within_a_second(5_000, 500)
    assert min(times) >= 5_000
    assert max(times) < 6_000
    assert times == within_a_second(5_000, 500)


def test_at_once_is_one_instant() -> None:
    assert set(at_once(7, 3)) == {7}


@pytest.mark.parametrize("period", [MINUTE, 14 * MINUTE])
@pytest.mark.parametrize("posted_by", [10 * MINUTE, 11 * MINUTE - 1])
def test_what_is_to_be_swept_is_beyond_the_fast_track(posted_by: int, period: int) -> None:
    """The predicate of fast track and sweep: minute(due) <= minute(now + period)."""
    start = first_minute_to_sweep(posted_by, period)
    assert start // MINUTE > (posted_by + period) // MINUTE
    at = sweep_at(start, period)
    assert start // MINUTE <= (at + period) // MINUTE
    assert start // MINUTE > (at - 1 + period) // MINUTE
    assert at > posted_by
