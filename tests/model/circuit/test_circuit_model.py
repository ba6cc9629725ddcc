"""The whole space of one circuit, within the bound: nothing is wrong in it, and each rule is missed (ADR 0112)."""

import pytest

from tests.model.circuit.guards import GUARDS, Guard
from tests.model.circuit.search import WHOLE, remaining, search
from tests.model.circuit.steps import FROM_BEFORE


@pytest.mark.parametrize("choice", WHOLE)
def test_no_interleaving_lets_two_probe_or_leaves_a_circuit_open(choice: str) -> None:
    found = search(WHOLE[choice])
    assert not found.wrong, [label for label, _ in found.way]


@pytest.mark.parametrize("guard", GUARDS, ids=lambda guard: guard.name)
def test_each_rule_of_a_circuit_is_missed(guard: Guard) -> None:
    """A search that finds nothing without it would prove nothing with it."""
    assert guard.search().wrong


def test_what_remains_possible_is_known() -> None:
    """It costs one pause, and is in the documentation."""
    assert remaining(FROM_BEFORE).wrong == FROM_BEFORE
