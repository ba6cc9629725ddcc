"""The whole space of the net over one series, within the bound: nothing is wrong in it, and each rule is missed."""

from typing import Any

import pytest

from tests.model.chosen import check_guard, check_space, guards, spaces
from tests.model.guard import Guard
from tests.model.models import MODELS
from tests.model.net.guards import GUARDS


@pytest.mark.parametrize("choice", spaces("net"))
def test_what_a_series_waits_for_is_always_filed_where_the_net_will_look(choice: str) -> None:
    """Each state is visited, and their number is on record. The big spaces take seconds."""
    check_space("net", choice, MODELS["net"].search(MODELS["net"].spaces[choice]))


@pytest.mark.parametrize("guard", guards("net", GUARDS))
def test_each_rule_of_the_net_is_missed(guard: Guard[Any, Any]) -> None:
    """A search that finds nothing without it would prove nothing with it. The longest ones take seconds."""
    check_guard("net", guard)
