"""The whole space of one idempotency key, within the bound: nothing is wrong, and each rule is missed (ADR 0126)."""

from typing import Any

import pytest

from tests.model.chosen import check_guard, check_space, guards, spaces
from tests.model.guard import Guard
from tests.model.keys.guards import GUARDS
from tests.model.models import MODELS


@pytest.mark.parametrize("choice", spaces("keys"))
def test_no_interleaving_does_a_call_twice_or_answers_it_otherwise(choice: str) -> None:
    """Each state is visited, and their number is on record. The big spaces take seconds."""
    check_space("keys", choice, MODELS["keys"].search(MODELS["keys"].spaces[choice]))


@pytest.mark.parametrize("guard", guards("keys", GUARDS))
def test_each_rule_of_a_key_is_missed(guard: Guard[Any, Any]) -> None:
    """A search that finds nothing without it would prove nothing with it. The longest ones take seconds."""
    check_guard("keys", guard)
