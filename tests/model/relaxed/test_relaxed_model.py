"""The whole space of one relaxed schedule, within the bound: nothing is wrong, and each rule is missed (ADR 0097)."""

from typing import Any

import pytest

from tests.model.chosen import check_guard, check_space, guards, spaces
from tests.model.guard import Guard
from tests.model.models import MODELS
from tests.model.relaxed.guards import GUARDS


@pytest.mark.parametrize("choice", spaces("relaxed"))
def test_no_interleaving_breaks_the_promise_of_the_relaxed_lane(choice: str) -> None:
    """Each state is visited, and their number is on record. The big spaces take seconds."""
    check_space("relaxed", choice, MODELS["relaxed"].search(MODELS["relaxed"].spaces[choice]))


@pytest.mark.parametrize("guard", guards("relaxed", GUARDS))
def test_each_rule_of_the_relaxed_lane_is_missed(guard: Guard[Any, Any]) -> None:
    """A search that finds nothing without it would prove nothing with it. The longest ones take seconds."""
    check_guard("relaxed", guard)
