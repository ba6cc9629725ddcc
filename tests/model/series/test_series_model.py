"""The whole space of one series, within the bound: nothing is wrong in it, and each rule is missed (ADR 0094)."""

from typing import Any

import pytest
from attrs import evolve

from tests.model.chosen import check_guard, check_space, guards, spaces
from tests.model.guard import Guard
from tests.model.models import MODELS
from tests.model.series.guards import GUARDS, ONE_BATCH
from tests.model.series.rules import REAL
from tests.model.series.search import search


@pytest.mark.parametrize("choice", spaces("series"))
def test_no_interleaving_breaks_the_promise_of_a_series(choice: str) -> None:
    """Each state is visited, and their number is on record. The big spaces take seconds."""
    check_space("series", choice, MODELS["series"].search(MODELS["series"].spaces[choice]))


@pytest.mark.parametrize("guard", guards("series", GUARDS))
def test_each_rule_of_a_series_is_missed(guard: Guard[Any, Any]) -> None:
    """A search that finds nothing without it would prove nothing with it. The longest ones take seconds."""
    check_guard("series", guard)


def test_a_batch_that_goes_by_what_it_read_first_is_harmless_as_long_as_its_conditions_hold() -> None:
    """They have the last word. It is done otherwise because DynamoDB bills what is refused (ADR 0181)."""
    stale = evolve(REAL, known=lambda change: change.over)
    assert not search(ONE_BATCH, stale).wrong
