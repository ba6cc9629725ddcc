"""The whole space of one series, within the bound: nothing is wrong in it, and each rule is missed (ADR 0094)."""

import pytest

from tests.model.series.configurations import SMALL
from tests.model.series.guards import GUARDS, Guard
from tests.model.series.search import search


@pytest.mark.parametrize("choice", SMALL)
def test_no_interleaving_breaks_the_promise_of_a_series(choice: str) -> None:
    found = search(SMALL[choice])
    assert not found.wrong, [label for label, _ in found.way]


@pytest.mark.parametrize("guard", GUARDS, ids=lambda guard: guard.name)
def test_each_rule_of_a_series_is_missed(guard: Guard) -> None:
    """A search that finds nothing without it would prove nothing with it."""
    assert guard.search().wrong
