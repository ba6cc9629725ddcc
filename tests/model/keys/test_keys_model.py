"""The whole space of one idempotency key, within the bound: nothing is wrong, and each rule is missed (ADR 0126)."""

import pytest

from tests.model.keys.guards import GUARDS, Guard
from tests.model.keys.search import WHOLE, search


@pytest.mark.parametrize("choice", WHOLE)
def test_no_interleaving_does_a_call_twice_or_answers_it_otherwise(choice: str) -> None:
    found = search(WHOLE[choice])
    assert not found.wrong, (found.wrong, [label for label, _ in found.way])


@pytest.mark.parametrize("guard", GUARDS, ids=lambda guard: guard.name)
def test_each_rule_of_a_key_is_missed(guard: Guard) -> None:
    """A search that finds nothing without it would prove nothing with it."""
    assert guard.search().wrong
