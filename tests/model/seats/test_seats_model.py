"""The whole space of the seats of a limit, within the bound: nothing is wrong in it, and each rule is missed."""

from typing import Any

import pytest

from tests.model.chosen import check_guard, check_space, guards, spaces
from tests.model.guard import Guard
from tests.model.models import MODELS
from tests.model.seats.guards import GUARDS


@pytest.mark.parametrize("choice", spaces("seats"))
def test_no_interleaving_has_more_attempts_at_a_time_or_leaves_a_message(choice: str) -> None:
    """Each state is visited, and their number is on record. The big spaces take seconds."""
    check_space("seats", choice, MODELS["seats"].search(MODELS["seats"].spaces[choice]))


@pytest.mark.parametrize("guard", guards("seats", GUARDS))
def test_each_rule_of_seats_is_missed(guard: Guard[Any, Any]) -> None:
    """A search that finds nothing without it would prove nothing with it. The longest ones take seconds."""
    check_guard("seats", guard)
