"""The whole space of one connection, within the bound: nothing is wrong in it, and each rule is missed (ADR 0105)."""

import pytest

from tests.model.connections.guards import GUARDS, Guard
from tests.model.connections.search import WHOLE, search


@pytest.mark.parametrize("choice", WHOLE)
def test_no_interleaving_loses_a_secret_or_a_connection_in_use(choice: str) -> None:
    found = search(WHOLE[choice])
    assert not found.wrong, (found.wrong, [label for label, _ in found.way])


@pytest.mark.parametrize("guard", GUARDS, ids=lambda guard: guard.name)
def test_each_rule_of_a_connection_is_missed(guard: Guard) -> None:
    """A search that finds nothing without it would prove nothing with it."""
    assert guard.search().wrong
