"""Each deliberate bug of a machine is found, by the promise that it breaks."""

from collections.abc import Sequence
from typing import Any

import pytest

from tests.machine.bugs import BUGS, OF_THE_SIMULATION, Bug, find
from tests.machine.simulated import ELSEWHERE, FOUND
from tests.simulation.bugs import BY_NAME as SIMULATED

SEEDS = 60
ALL = (*BUGS, *OF_THE_SIMULATION)


def params(bugs: Sequence[Bug], *, rare: bool = False) -> list[Any]:
    return [pytest.param(bug, id=bug.name) for bug in bugs if bug.is_rare is rare]


@pytest.mark.parametrize("bug", params(BUGS))
def test_each_deliberate_bug_is_found(bug: Bug) -> None:
    """Most of them by one of the first stories, in a second; some take several seconds."""
    assert find(bug, range(SEEDS))


@pytest.mark.thorough
@pytest.mark.parametrize("bug", params(OF_THE_SIMULATION))
def test_each_bug_of_the_simulation_that_makes_sense_here_is_found(bug: Bug) -> None:
    """It takes some seconds each: some stories."""
    assert find(bug, range(SEEDS))


@pytest.mark.thorough
@pytest.mark.parametrize("bug", params(ALL, rare=True))
def test_each_rare_bug_is_found(bug: Bug) -> None:
    """Up to a minute each: something rare has to go wrong at one moment."""
    assert find(bug, range(10 * SEEDS))


def test_each_bug_of_the_simulation_is_found_here_or_makes_no_sense_here() -> None:
    """Then there is a reason: a line."""
    assert FOUND.keys() | ELSEWHERE.keys() == SIMULATED.keys()
    assert not FOUND.keys() & ELSEWHERE.keys()
    assert all(reason and "\n" not in reason for reason in ELSEWHERE.values())
    assert len({bug.name for bug in ALL}) == len(ALL)
