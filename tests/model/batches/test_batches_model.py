"""The whole space of executors that work by batch: nothing is wrong in it, and each rule is missed (ADR 0180)."""

from typing import Any

import pytest

from tests.model.batches.guards import GUARDS
from tests.model.batches.search import REMAINING, remaining
from tests.model.chosen import check_guard, check_space, guards, spaces
from tests.model.guard import Guard
from tests.model.models import MODELS


@pytest.mark.parametrize("choice", spaces("batches"))
def test_no_interleaving_of_two_batches_breaks_an_invariant(choice: str) -> None:
    """Each state is visited, and their number is on record. The big spaces take seconds."""
    check_space("batches", choice, MODELS["batches"].search(MODELS["batches"].spaces[choice]))


@pytest.mark.parametrize("guard", guards("batches", GUARDS))
def test_each_rule_of_a_batch_is_missed(guard: Guard[Any, Any]) -> None:
    """A search that finds nothing without it would prove nothing with it. The longest one takes two seconds."""
    check_guard("batches", guard)


@pytest.mark.parametrize("what", REMAINING)
def test_what_remains_possible_is_known(what: str) -> None:
    """Why a target is reached once more: each reason is found, and there is no other one."""
    assert remaining(what).wrong == what
