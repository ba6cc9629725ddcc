"""The whole space of one limit, within the bound: nothing is wrong in it, and each rule is missed (ADR 0114)."""

from typing import Any

import pytest

from tests.model.chosen import check_guard, check_space, guards, spaces
from tests.model.guard import Guard
from tests.model.limits.guards import GUARDS
from tests.model.models import MODELS


@pytest.mark.parametrize("choice", spaces("limits"))
def test_no_interleaving_exceeds_a_limit_or_leaves_a_message(choice: str) -> None:
    """Each state is visited, and their number is on record. The big spaces take seconds."""
    check_space("limits", choice, MODELS["limits"].search(MODELS["limits"].spaces[choice]))


@pytest.mark.parametrize("guard", guards("limits", GUARDS))
def test_each_rule_of_a_limit_is_missed(guard: Guard[Any, Any]) -> None:
    """A search that finds nothing without it would prove nothing with it. The longest ones take seconds."""
    check_guard("limits", guard)
