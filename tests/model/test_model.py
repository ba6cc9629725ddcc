"""The whole space of one schedule, and of one that replaces another, within the bound: nothing is wrong in it."""

import pytest

from tests.model.__main__ import remaining
from tests.model.configurations import SMALL, described
from tests.model.guards import GUARDS, Guard
from tests.model.properties import REMAINING
from tests.model.search import search
from tests.model.state import Budget


@pytest.mark.parametrize("budget", SMALL.values(), ids=described)
def test_no_interleaving_breaks_an_invariant(budget: Budget) -> None:
    """Every state is visited; that the search gets anywhere is seen by their number."""
    found = search(budget)
    assert not found.wrong, [label for label, _ in found.way]
    assert found.states > 1_000


@pytest.mark.parametrize("guard", GUARDS, ids=lambda guard: guard.name)
def test_each_guard_is_missed(guard: Guard) -> None:
    """A search that finds nothing without it would prove nothing with it."""
    found = guard.search()
    assert found.wrong
    assert found.way


@pytest.mark.parametrize("name", REMAINING)
def test_what_remains_possible_is_known(name: str) -> None:
    """It is in ADR 0044, and in the documentation; if it became impossible, those would be wrong."""
    assert remaining(name).wrong == name
