"""A verdict says whether a target was reached, and the measured figure."""

from attrs import evolve

from bench.measure.imports import ImportTime
from bench.measure.lateness import Lateness
from bench.measure.requests import PerSchedule
from bench.report.targets import of_api, of_burst, of_correctness, of_imports, of_isolation, of_requests, of_steady
from tests.unit.bench import rows

ROW = Lateness(name="run", schedules=10, p50=30, p99=250, worst=300, early=0, lost=0, doubled=0, last_seconds=10.0)
SUMS = PerSchedule(
    writes=4.0, reads=1.0, sqs=0.7, invocations=0.4, fast_track=0.0, fixed_writes=8, fixed_reads=50, ticks=2
)


def test_the_bounds_themselves_are_within() -> None:
    assert all(verdict.reached for verdict in [*of_steady(ROW), of_burst(ROW), *of_requests(SUMS)])


def test_what_is_beyond_is_not_reached() -> None:
    beyond = evolve(ROW, p50=31, p99=251, last_seconds=10.1)
    sums = evolve(SUMS, writes=4.01, sqs=0.71)
    assert not any(verdict.reached for verdict in [*of_steady(beyond), of_burst(beyond), *of_requests(sums)])


def test_beside_a_bad_target_twice_the_usual_is_within() -> None:
    assert of_isolation(ROW, evolve(ROW, p99=500)).reached
    assert not of_isolation(ROW, evolve(ROW, p99=501)).reached


def test_a_burst_with_a_lost_schedule_does_not_reach_its_target() -> None:
    assert not of_burst(evolve(ROW, lost=1)).reached


def test_a_wrong_schedule_of_any_run_is_counted() -> None:
    verdict = of_correctness([ROW, evolve(ROW, early=1, doubled=2)])
    assert (verdict.measured, verdict.reached) == ("1 early, 0 lost, 2 doubled", False)


def test_the_slowest_import_is_named() -> None:
    rows = [
        ImportTime(function="a", ms=100, imports_pydantic=False),
        ImportTime(function="b", ms=451, imports_pydantic=True),
    ]
    slow, pydantic = of_imports(rows)
    assert (slow.measured, slow.reached) == ("451 ms (b)", False)
    assert (pydantic.measured, pydantic.reached) == ("b", False)


def test_calls_of_the_warm_up_are_counted_too() -> None:
    verdict = of_api([rows.ROW, rows.FAILED, rows.FAILED_WARMING_UP])
    assert (verdict.measured, verdict.reached) == ("3 were not", False)
    assert not of_api([rows.ROW, rows.WITHOUT_CALLS]).reached
    good = of_api([rows.ROW, rows.ROW])
    assert (good.measured, good.reached) == ("all of 6 were", True)
