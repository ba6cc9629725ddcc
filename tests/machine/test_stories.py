"""Many stories of a machine, from many seeds: no promise is broken in any."""

import pytest

from tests.machine.story import play

TOGETHER = 15


def check(seeds: range) -> None:
    """Plays them."""
    for seed in seeds:
        played = play(seed)
        if played.broken:
            pytest.fail(f"{played.transcript}\nAgain: python -m tests.machine --seed {seed}")


@pytest.mark.parametrize("first", range(0, 60, TOGETHER))
def test_no_story_breaks_a_promise(first: int) -> None:
    """Some seconds: in each, dozens of schedules, some lives of the process, and thousands of turns."""
    check(range(first, first + TOGETHER))


@pytest.mark.thorough
@pytest.mark.parametrize("first", range(60, 600, 60))
def test_no_further_story_breaks_a_promise(first: int) -> None:
    """Two minutes in all. `python -m tests.machine --seeds 10000` plays more of them."""
    check(range(first, first + 60))


def test_a_story_is_always_the_same() -> None:
    """So a seed is enough to play it again."""
    assert play(7).transcript == play(7).transcript


def test_stories_meet_all_that_can_go_wrong() -> None:
    """Otherwise they would prove nothing about it."""
    said = "\n".join(play(seed).transcript for seed in range(1, 30))
    for what in (
        "is killed in a turn",
        "is killed between two turns",
        "is killed while it begins",
        "disk: is full",
        "clock: is set by",
        "circuit opened",
        "is cancelled",
        "is stopped",
        "redriven",
        "is halted",
    ):
        assert what in said, what
