"""Each deliberate bug of a machine is found, by the promise that it breaks."""

import pytest

from tests.machine.bugs import BUGS, Bug, find

SEEDS = 60


@pytest.mark.parametrize("bug", [pytest.param(bug, id=bug.name) for bug in BUGS if not bug.is_rare])
def test_each_deliberate_bug_is_found(bug: Bug) -> None:
    """Most of them by one of the first stories, in a second."""
    assert find(bug, range(SEEDS))


@pytest.mark.thorough
@pytest.mark.parametrize("bug", [pytest.param(bug, id=bug.name) for bug in BUGS if bug.is_rare])
def test_each_rare_bug_is_found(bug: Bug) -> None:
    """Up to a minute each: something rare has to go wrong at one moment."""
    assert find(bug, range(10 * SEEDS))
