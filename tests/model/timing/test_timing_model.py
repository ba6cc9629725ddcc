"""The whole space of one decision, within the bound: nothing is wrong in it, and each rule is missed (ADR 0096)."""

import pytest

from tests.model.timing.guards import GUARDS, Guard
from tests.model.timing.search import WHOLE, search


@pytest.mark.parametrize("choice", WHOLE)
def test_no_interleaving_breaks_the_promise_of_a_decision(choice: str) -> None:
    found = search(WHOLE[choice])
    assert not found.wrong, [label for label, _ in found.way]


@pytest.mark.parametrize("guard", GUARDS, ids=lambda guard: guard.name)
def test_each_rule_of_a_decision_is_missed(guard: Guard) -> None:
    """A search that finds nothing without it would prove nothing with it."""
    assert guard.search().wrong
