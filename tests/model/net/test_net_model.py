"""The whole space of the net over one series, within the bound: nothing is wrong in it, and each rule is missed."""

import pytest

from tests.model.net.configurations import SMALL
from tests.model.net.guards import GUARDS, Guard
from tests.model.net.search import search


@pytest.mark.parametrize("choice", SMALL)
def test_what_a_series_waits_for_is_always_filed_where_the_net_will_look(choice: str) -> None:
    found = search(SMALL[choice])
    assert not found.wrong, [label for label, _ in found.way]


@pytest.mark.parametrize("guard", GUARDS, ids=lambda guard: guard.name)
def test_each_rule_of_the_net_is_missed(guard: Guard) -> None:
    """A search that finds nothing without it would prove nothing with it."""
    assert guard.search().wrong
