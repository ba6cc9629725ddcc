"""A red test shows what failed in the functions while it ran, and nothing else."""

from pathlib import Path

from tests.e2e.stacks.function_errors import MOST_LINES, Meanwhile


def test_only_failures_since_the_beginning_are_shown_each_with_its_function(tmp_path: Path) -> None:
    (tmp_path / "relay.log").write_text('{"level":"ERROR","message":"of another test"}\n')
    meanwhile = Meanwhile(tmp_path)
    with (tmp_path / "relay.log").open("a") as log:
        log.write('{"level":"INFO","message":"claimed"}\nFAILED: Task timed out after 10.00 seconds\n')
    (tmp_path / "executor.log").write_text('{"level":"WARNING","message":"not settled"}\n')
    assert meanwhile.failures().splitlines() == [
        'executor: {"level":"WARNING","message":"not settled"}',
        "relay: FAILED: Task timed out after 10.00 seconds",
    ]


def test_of_many_the_first_are_shown(tmp_path: Path) -> None:
    meanwhile = Meanwhile(tmp_path)
    (tmp_path / "relay.log").write_text("FAILED: once more\n" * (MOST_LINES + 1))
    assert len(meanwhile.failures().splitlines()) == MOST_LINES
