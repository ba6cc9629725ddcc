"""The whole space of one connection, within the bound: nothing is wrong in it, and each rule is missed (ADR 0105)."""

from typing import Any

import pytest

from tests.model.chosen import check_guard, check_space, guards, spaces
from tests.model.connections.guards import GUARDS
from tests.model.guard import Guard
from tests.model.models import MODELS


@pytest.mark.parametrize("choice", spaces("connections"))
def test_no_interleaving_loses_a_secret_or_a_connection_in_use(choice: str) -> None:
    """Each state is visited, and their number is on record. The big spaces take seconds."""
    check_space("connections", choice, MODELS["connections"].search(MODELS["connections"].spaces[choice]))


@pytest.mark.parametrize("guard", guards("connections", GUARDS))
def test_each_rule_of_a_connection_is_missed(guard: Guard[Any, Any]) -> None:
    """A search that finds nothing without it would prove nothing with it. The longest ones take seconds."""
    check_guard("connections", guard)
