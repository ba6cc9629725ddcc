"""The whole space of one schedule, and of one that replaces another, within the bound: nothing is wrong in it."""

from typing import Any

import pytest

from tests.model.__main__ import remaining
from tests.model.chosen import check_guard, check_space, guards, spaces
from tests.model.configurations import REMAINING, SMALL
from tests.model.guard import Guard
from tests.model.guards import GUARDS, OLDER
from tests.model.search import search


@pytest.mark.parametrize("name", spaces("schedule", SMALL))
def test_no_interleaving_breaks_an_invariant(name: str) -> None:
    """Every state is visited, which takes up to ten seconds.

    Their number is on record: only a change of behaviour changes it.
    """
    check_space("schedule", name, search(SMALL[name]))


@pytest.mark.thorough
def test_rows_of_an_older_version_break_none_either() -> None:
    """They do not say that there may be several messages for one attempt. Some seconds, for 18,000 states."""
    assert not search(SMALL["relay's message twice, crash"], OLDER).wrong


@pytest.mark.parametrize("guard", guards("schedule", GUARDS))
def test_each_guard_is_missed(guard: Guard[Any, Any]) -> None:
    """A search that finds nothing without it would prove nothing with it. The shortest way to it is on record.

    The longest searches take seconds.
    """
    check_guard("schedule", guard)


@pytest.mark.parametrize("name", REMAINING)
def test_what_remains_possible_is_known(name: str) -> None:
    """It is in ADR 0044, and in the documentation; if it became impossible, those would be wrong.

    Up to two seconds, for what is found late.
    """
    assert remaining(name).wrong == name
