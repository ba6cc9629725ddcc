"""The whole space of one schedule, and of one that replaces another, within the bound: nothing is wrong in it."""

import pytest

from tests.model.__main__ import remaining
from tests.model.configurations import REMAINING, SMALL
from tests.model.guards import GUARDS, OLDER, Guard
from tests.model.search import search
from tests.proofs.test_record import RECORD


@pytest.mark.parametrize("name", SMALL)
def test_no_interleaving_breaks_an_invariant(name: str) -> None:
    """Every state is visited. Their number is on record: only a change of behaviour changes it."""
    found = search(SMALL[name])
    assert not found.wrong, [label for label, _ in found.way]
    assert (found.states, found.steps) == (RECORD["spaces"][name]["states"], RECORD["spaces"][name]["steps"])


def test_rows_of_an_older_version_break_none_either() -> None:
    """They do not say that there may be several messages for one attempt."""
    assert not search(SMALL["relay's message twice, crash"], OLDER).wrong


@pytest.mark.parametrize("guard", GUARDS, ids=lambda guard: guard.name)
def test_each_guard_is_missed(guard: Guard) -> None:
    """A search that finds nothing without it would prove nothing with it. The shortest way to it is on record."""
    found, on_record = guard.search(), RECORD["guards"][guard.name]
    assert found.wrong
    assert (found.wrong, len(found.way)) == (on_record["violation"], on_record["steps"])


@pytest.mark.parametrize("name", REMAINING)
def test_what_remains_possible_is_known(name: str) -> None:
    """It is in ADR 0044, and in the documentation; if it became impossible, those would be wrong."""
    assert remaining(name).wrong == name
