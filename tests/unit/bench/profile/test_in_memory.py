"""What a schedule costs on the fakes is counted, and does not grow unnoticed."""

from bench.profile.in_memory import BETWEEN, PARTS, POST, measure_in_memory
from bench.profile.options import USUAL, USUAL_IN_MEMORY, Options, parse

MOST_OF_A_POST = 225  # calls of ours; 369 before a body was read once


def test_each_function_has_used_something_and_a_post_reads_its_body_once() -> None:
    *parts, handed_over, everything = measure_in_memory(Options(runs=1))
    assert tuple(one.name for one in parts) == PARTS
    assert all(one.calls > 0 for one in parts)
    assert all(one.cpu_ms > 0 for one in parts if one.name != BETWEEN)
    assert handed_over.calls == sum(one.calls for one in parts[:3])
    assert everything.calls == sum(one.calls for one in parts)
    assert next(one.calls for one in parts if one.name == POST) <= MOST_OF_A_POST


def test_the_number_of_runs_depends_on_what_is_run() -> None:
    assert parse([]) == Options(runs=USUAL)
    assert parse(["--in-memory"]) == Options(runs=USUAL_IN_MEMORY, in_memory=True)
    assert parse(["--in-memory", "--runs", "7"]).runs == 7
