"""How much an owner creates: at most so much in a window of time."""

from typing import Any

import pytest
from attrs import evolve

from delayer.engines.aws.dynamo_store import DynamoStore
from delayer.engines.ports import Unavailable
from delayer.engines.store.store import Store
from delayer.owners.ports import RateLimit
from delayer.owners.repository import StoredRateLimit
from delayer.schedule.instants import HOUR, SECOND
from tests.clients import ERRORS, Failing, Wrapped
from tests.contract.conftest import create_table
from tests.contract.every_row import every_row
from tests.samples import NOW, OWNER

WINDOW = "2026-11-21T09:00"
LATER = "2026-11-21T09:01"
EXPIRY = NOW + HOUR
ADAPTER = StoredRateLimit


def repository(store: Store) -> StoredRateLimit:
    return StoredRateLimit(store=store, table=create_table(store, "list", "entry"))


@pytest.fixture
def rate_limit(store: Store) -> RateLimit:
    return repository(store)


def spent(rate_limit: RateLimit, times: int, at_most: int, owner: str = OWNER, window: str = WINDOW) -> list[bool]:
    return [rate_limit.spend(owner, window, at_most, EXPIRY) for _ in range(times)]


@pytest.mark.parametrize("at_most", [0, 1, 2, 5])
def test_no_more_is_spent_than_the_limit(rate_limit: RateLimit, at_most: int) -> None:
    assert spent(rate_limit, at_most + 3, at_most) == [True] * at_most + [False] * 3


def test_each_window_begins_at_zero(rate_limit: RateLimit) -> None:
    """And leaves the one before as it was: the clocks of two functions differ."""
    assert spent(rate_limit, 2, 2) == [True, True]
    assert spent(rate_limit, 3, 2, window=LATER) == [True, True, False]
    assert spent(rate_limit, 1, 2) == [False]


def test_each_owner_has_its_own(rate_limit: RateLimit) -> None:
    assert spent(rate_limit, 3, 2) == [True, True, False]
    assert spent(rate_limit, 3, 2, owner="somebody else") == [True, True, False]


def test_a_limit_may_change_within_a_window(rate_limit: RateLimit) -> None:
    """What was spent stays spent; what was refused was not."""
    assert spent(rate_limit, 5, 3) == [True] * 3 + [False] * 2
    assert spent(rate_limit, 3, 4) == [True, False, False]
    assert spent(rate_limit, 1, 2) == [False]


# ------------------------------------------------------------ the adapter alone


def test_the_first_is_refused_without_asking_if_none_is_allowed() -> None:
    client = Wrapped(None)
    assert StoredRateLimit(store=DynamoStore(client), table="t").spend(OWNER, WINDOW, 0, EXPIRY) is False
    assert client.calls == []


def test_one_creation_is_one_request(dynamodb: Any) -> None:
    """Also one that is refused."""
    client = Wrapped(dynamodb)
    spent(evolve(repository(DynamoStore(dynamodb)), store=DynamoStore(client)), 3, 2)
    assert [name for name, _ in client.calls] == ["update_item"] * 3


def test_ttl_is_in_seconds(store: Store) -> None:
    rate_limit = repository(store)
    spent(rate_limit, 2, 2)
    [item] = every_row(store, rate_limit.table)
    assert item["expiresAt"] == EXPIRY // SECOND


@pytest.mark.parametrize("error", ERRORS)
def test_what_failed_is_unavailable(error: str) -> None:
    """And neither allowed nor refused."""
    with pytest.raises(Unavailable):
        StoredRateLimit(store=DynamoStore(Failing(ERRORS[error])), table="t").spend(OWNER, WINDOW, 1, EXPIRY)
