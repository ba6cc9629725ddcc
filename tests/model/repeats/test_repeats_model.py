"""The whole space of a call that the client repeats: nothing is wrong, and each rule is missed (ADR 0149)."""

from typing import Any

import pytest

from tests.model.chosen import check_guard, check_space, guards, spaces
from tests.model.guard import Guard
from tests.model.models import MODELS
from tests.model.repeats.guards import GUARDS


@pytest.mark.parametrize("choice", spaces("repeats"))
def test_no_repeat_ends_what_somebody_has_made_since(choice: str) -> None:
    """Each state is visited, and their number is on record."""
    check_space("repeats", choice, MODELS["repeats"].search(MODELS["repeats"].spaces[choice]))


@pytest.mark.parametrize("guard", guards("repeats", GUARDS))
def test_each_rule_of_a_repeat_is_missed(guard: Guard[Any, Any]) -> None:
    """A search that finds nothing without it would prove nothing with it."""
    check_guard("repeats", guard)
