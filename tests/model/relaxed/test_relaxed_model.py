"""The whole space of one relaxed schedule, within the bound: nothing is wrong, and each rule is missed (ADR 0097)."""

import pytest

from tests.model.relaxed.guards import GUARDS, Guard
from tests.model.relaxed.search import CHOICES, search


@pytest.mark.parametrize("choice", CHOICES)
def test_no_interleaving_breaks_the_promise_of_the_relaxed_lane(choice: str) -> None:
    found = search(CHOICES[choice])
    assert not found.wrong, [label for label, _ in found.way]


@pytest.mark.parametrize("guard", GUARDS, ids=lambda guard: guard.name)
def test_each_rule_of_the_relaxed_lane_is_missed(guard: Guard) -> None:
    """A search that finds nothing without it would prove nothing with it."""
    assert guard.search().wrong
