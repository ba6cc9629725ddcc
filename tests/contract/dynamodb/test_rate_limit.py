"""How much an owner creates: at most so much in a window of time."""

from typing import Any

import pytest

from delayer.aws.dynamodb.rate_limit import DynamoRateLimit
from delayer.core.schedule.instants import HOUR, SECOND
from delayer.fakes import MemoryRateLimit
from delayer.ports.rate_limit import RateLimit
from delayer.ports.unavailable import Unavailable
from tests.clients import ERRORS, Failing, Wrapped
from tests.contract.conftest import create_table
from tests.samples import NOW, OWNER

WINDOW = "2026-11-21T09:00"
LATER = "2026-11-21T09:01"
EXPIRY = NOW + HOUR
ADAPTER = DynamoRateLimit


def adapter(dynamodb: Any) -> DynamoRateLimit:
    return DynamoRateLimit(dynamodb=dynamodb, table=create_table(dynamodb, "list", "entry"))


@pytest.fixture
def rate_limit(dynamodb_or_fake: Any) -> RateLimit:
    return MemoryRateLimit() if dynamodb_or_fake is None else adapter(dynamodb_or_fake)


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
    assert DynamoRateLimit(dynamodb=client, table="t").spend(OWNER, WINDOW, 0, EXPIRY) is False
    assert client.calls == []


def test_one_creation_is_one_request(dynamodb: Any) -> None:
    """Also one that is refused."""
    client = Wrapped(dynamodb)
    spent(DynamoRateLimit(dynamodb=client, table=adapter(dynamodb).table), 3, 2)
    assert [name for name, _ in client.calls] == ["update_item"] * 3


def test_ttl_is_in_seconds(dynamodb: Any) -> None:
    rate_limit = adapter(dynamodb)
    spent(rate_limit, 2, 2)
    [item] = dynamodb.scan(TableName=rate_limit.table)["Items"]
    assert item["expiresAt"] == {"N": str(EXPIRY // SECOND)}


@pytest.mark.parametrize("error", ERRORS)
def test_what_failed_is_unavailable(error: str) -> None:
    """And neither allowed nor refused."""
    with pytest.raises(Unavailable):
        DynamoRateLimit(dynamodb=Failing(ERRORS[error]), table="t").spend(OWNER, WINDOW, 1, EXPIRY)
