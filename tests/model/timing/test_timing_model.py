"""The whole space of one decision, within the bound: nothing is wrong in it, and each rule is missed (ADR 0096)."""

from typing import Any

import pytest

from tests.model.chosen import check_guard, check_space, guards, spaces
from tests.model.guard import Guard
from tests.model.models import MODELS
from tests.model.timing.guards import GUARDS


@pytest.mark.parametrize("choice", spaces("timing"))
def test_no_interleaving_breaks_the_promise_of_a_decision(choice: str) -> None:
    """Each state is visited, and their number is on record. The big spaces take seconds."""
    check_space("timing", choice, MODELS["timing"].search(MODELS["timing"].spaces[choice]))


@pytest.mark.parametrize("guard", guards("timing", GUARDS))
def test_each_rule_of_a_decision_is_missed(guard: Guard[Any, Any]) -> None:
    """A search that finds nothing without it would prove nothing with it. The longest ones take seconds."""
    check_guard("timing", guard)
