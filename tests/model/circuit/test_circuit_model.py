"""The whole space of one circuit, within the bound: nothing is wrong in it, and each rule is missed (ADR 0112)."""

from typing import Any

import pytest

from tests.model.chosen import check_guard, check_space, guards, spaces
from tests.model.circuit.guards import GUARDS
from tests.model.circuit.search import remaining
from tests.model.circuit.steps import FROM_BEFORE
from tests.model.guard import Guard
from tests.model.models import MODELS


@pytest.mark.parametrize("choice", spaces("circuit"))
def test_no_interleaving_lets_two_probe_or_leaves_a_circuit_open(choice: str) -> None:
    """Each state is visited, and their number is on record. The big spaces take seconds."""
    check_space("circuit", choice, MODELS["circuit"].search(MODELS["circuit"].spaces[choice]))


@pytest.mark.parametrize("guard", guards("circuit", GUARDS))
def test_each_rule_of_a_circuit_is_missed(guard: Guard[Any, Any]) -> None:
    """A search that finds nothing without it would prove nothing with it. The longest ones take seconds."""
    check_guard("circuit", guard)


def test_what_remains_possible_is_known() -> None:
    """It costs one pause, and is in the documentation. It takes some seconds, because it is found late."""
    assert remaining(FROM_BEFORE).wrong == FROM_BEFORE
