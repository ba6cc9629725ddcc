"""The whole space of the seats of a limit, within the bound: nothing is wrong in it, and each rule is missed."""

import pytest

from tests.model.seats.guards import GUARDS, Guard
from tests.model.seats.search import WHOLE, search


@pytest.mark.parametrize("choice", WHOLE)
def test_no_interleaving_has_more_attempts_at_a_time_or_leaves_a_message(choice: str) -> None:
    found = search(WHOLE[choice])
    assert not found.wrong, [label for label, _ in found.way]


@pytest.mark.parametrize("guard", GUARDS, ids=lambda guard: guard.name)
def test_each_rule_of_seats_is_missed(guard: Guard) -> None:
    """A search that finds nothing without it would prove nothing with it."""
    assert guard.search().wrong
