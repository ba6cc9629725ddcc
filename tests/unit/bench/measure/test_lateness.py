"""Lateness is measured, and early, lost and doubled schedules are counted."""

import pytest

from bench.load.arrivals import Arrival
from bench.measure.lateness import NothingArrived, percentile, summarise


def arrival(schedule_id: str, at_ms: int) -> Arrival:
    return Arrival(schedule_id=schedule_id, at_ms=at_ms)


def test_a_run_in_which_all_went_well() -> None:
    due = {f"id{number}": 1_000 * number for number in range(1, 101)}
    arrivals = [arrival(schedule_id, at + number) for number, (schedule_id, at) in enumerate(due.items(), 1)]
    row = summarise("run", due, arrivals)
    assert (row.p50, row.p99, row.worst, row.wrong) == (50, 99, 100, 0)
    assert row.last_seconds == pytest.approx(99.1)


def test_early_lost_and_doubled_are_counted() -> None:
    arrivals = [arrival("early", 999), arrival("twice", 1_005), arrival("twice", 1_900), arrival("stranger", 0)]
    row = summarise("run", {"early": 1_000, "twice": 1_000, "lost": 1_000}, arrivals)
    assert (row.early, row.lost, row.doubled, row.wrong) == (1, 1, 1, 3)


def test_the_first_arrival_counts_for_lateness() -> None:
    row = summarise("run", {"twice": 1_000}, [arrival("twice", 1_900), arrival("twice", 1_005)])
    assert (row.p50, row.worst, row.doubled) == (5, 5, 1)


def test_a_run_without_arrivals_is_an_error() -> None:
    with pytest.raises(NothingArrived, match="None of the 1 schedules of the run 'steady'"):
        summarise("steady", {"lost": 1}, [])


@pytest.mark.parametrize(("percent", "expected"), [(0, 1), (50, 2), (51, 3), (99, 4), (100, 4)])
def test_percentiles_are_values_that_occurred(percent: float, expected: int) -> None:
    assert percentile([1, 2, 3, 4], percent) == expected
