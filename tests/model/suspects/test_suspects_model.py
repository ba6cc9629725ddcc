"""The whole space of messages that come back: nothing is wrong, and each rule is missed (ADR 0158)."""

from typing import Any

import pytest

from tests.model.chosen import check_guard, check_space, guards, spaces
from tests.model.guard import Guard
from tests.model.models import MODELS
from tests.model.suspects.guards import GUARDS


@pytest.mark.parametrize("choice", spaces("suspects"))
def test_nothing_is_a_suspect_that_has_killed_nobody_and_all_come_to_their_end(choice: str) -> None:
    """Each state is visited, and their number is on record."""
    check_space("suspects", choice, MODELS["suspects"].search(MODELS["suspects"].spaces[choice]))


@pytest.mark.parametrize("guard", guards("suspects", GUARDS))
def test_each_rule_of_what_comes_back_is_missed(guard: Guard[Any, Any]) -> None:
    """A search that finds nothing without it would prove nothing with it."""
    check_guard("suspects", guard)
