"""A row is correct only if there were calls and all got the expected response."""

import pytest

from bench.load.due_times import MINUTE
from bench.load.scripts import PAGE
from bench.measure.api import AHEAD, GROUP, ApiCall
from tests.unit.bench.rows import FAILED, FAILED_WARMING_UP, ROW, WITHOUT_CALLS


def test_no_schedule_fires_during_the_measurement() -> None:
    assert AHEAD >= 120 * MINUTE


def test_a_listed_group_is_larger_than_its_page() -> None:
    assert GROUP > PAGE == 50


@pytest.mark.parametrize(
    ("row", "failures"),
    [
        (ROW, []),
        (FAILED, ["GET /schedules/{id}: 2 × 503: busy"]),
        (FAILED_WARMING_UP, ["GET /schedules/{id}, warming up: 1 × 503: busy"]),
        (WITHOUT_CALLS, ["GET /schedules/{id}: no call was made, because an earlier row left no schedule for it"]),
    ],
)
def test_failures_are_reported(row: ApiCall, failures: list[str]) -> None:
    assert row.failures() == failures
    assert row.is_correct == (not failures)
