"""The whole space of a schedule in the turns of one machine: nothing is wrong, and each rule is missed (ADR 0185)."""

from typing import Any

import pytest

from tests.model.chosen import check_guard, check_space, guards, spaces
from tests.model.guard import Guard
from tests.model.models import MODELS
from tests.model.turns.guards import GUARDS


@pytest.mark.parametrize("choice", spaces("turns"))
def test_nothing_is_lost_or_doubled_whenever_a_commit_fails_or_the_process_dies(choice: str) -> None:
    """Each state is visited, and their number is on record."""
    check_space("turns", choice, MODELS["turns"].search(MODELS["turns"].spaces[choice]))


@pytest.mark.parametrize("guard", guards("turns", GUARDS))
def test_each_rule_of_a_turn_is_missed(guard: Guard[Any, Any]) -> None:
    """A search that finds nothing without it would prove nothing with it."""
    check_guard("turns", guard)
