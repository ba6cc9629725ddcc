"""What `delayer serve` reaches is compared with its targets."""

from attrs import evolve

from bench.command.options import parse
from bench.load.throughput import Throughput
from bench.measure.lateness import Lateness
from bench.serve import targets

ROW = Lateness(name="series", schedules=2, p50=1, p99=1000, worst=1, early=0, lost=0, doubled=0, last_seconds=1.0)
CALLS = Throughput(clients=8, calls=1000, failed=0, per_second=100.0, p50_ms=2.0)


def test_posts_have_a_target_for_each_number_of_clients() -> None:
    assert [targets.of_posts(evolve(CALLS, clients=each, per_second=900)).reached for each in (8, 32)] == [True, False]


def test_batches_count_by_their_schedules() -> None:
    few, many = targets.of_batches(CALLS, 10), targets.of_batches(CALLS, 100)
    assert (few.measured, few.reached, many.measured, many.reached) == ("1,000/s", False, "10,000/s", True)


def test_a_page_may_take_longer_than_a_status() -> None:
    page, status = targets.of_reads(1_000_000, evolve(CALLS, p50_ms=10.0), evolve(CALLS, p50_ms=2.1))
    assert (page.reached, status.reached) == (True, False)


def test_what_is_late_or_lost_is_not_held_on_time() -> None:
    rows = (ROW, evolve(ROW, p99=1001), evolve(ROW, lost=1))
    assert [targets.of_lateness(row, targets.SERIES_P99_MS).reached for row in rows] == [True, False, False]


def test_it_is_measured_only_if_it_is_named_and_small_in_a_small_run() -> None:
    assert "serve" not in parse([]).parts
    whole, quick = parse(["--only", "serve"]), parse(["--only", "serve", "--quick"])
    assert (whole.parts, whole.waiting, whole.serve_series) == (("serve",), 1_000_000, (10_000, 20_000))
    assert (quick.waiting, quick.serve_series) == (10_000, (500,))
    assert parse(["--only", "serve", "--series", "7"]).serve_series == (7,)
