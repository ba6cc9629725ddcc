"""What is compared with which target on one machine."""

import pytest
from attrs import evolve

from bench.load.throughput import Throughput
from bench.machine import targets
from bench.machine.memory import Memory
from bench.machine.ready import Ready
from bench.measure.lateness import Lateness

PLAIN = Lateness(name="a run", schedules=1, p50=1, p99=1, worst=1, early=0, lost=0, doubled=0, last_seconds=1.0)


@pytest.mark.parametrize(("measured", "reached"), [(3.0, True), (3.01, False)])
def test_a_target_is_reached_at_its_value(measured: float, reached: bool) -> None:
    verdict = targets.of_ready(Ready(seconds=measured, command_mb=None))
    assert (verdict.target, verdict.reached) == ("python -m local serves ≤ 3 s", reached)


def test_batches_count_by_their_schedules() -> None:
    posts = Throughput(clients=8, calls=4500, failed=0, per_second=450, p50_ms=10)
    batches = Throughput(clients=8, calls=199, failed=0, per_second=19.9, p50_ms=10)
    one, many = targets.of_posts(posts, batches, 100)
    assert (one.reached, many.reached, many.measured) == (True, False, "1,990/s")


def test_the_command_is_part_of_the_rest() -> None:
    worker, rest = targets.of_memory(Memory(workers=3, per_worker_mb=15, rest_mb=100), 51)
    assert (worker.reached, rest.reached, rest.measured) == (True, False, "151 MB")


def test_each_run_has_its_own_target() -> None:
    beside, fast = evolve(PLAIN, p99=60), evolve(PLAIN, p99=101)
    spread, at_once = evolve(PLAIN, last_seconds=1.5), evolve(PLAIN, last_seconds=6.1)
    assert [verdict.reached for verdict in targets.of_runs(beside, fast, spread, at_once)] == [True, False, True, False]
