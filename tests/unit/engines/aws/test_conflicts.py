"""A transaction of somebody else is in the way: DynamoDB refuses at once, and a moment later it goes."""

from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError

from delayer.accept.ports import ScheduleTransaction
from delayer.accept.repository import StoredRegistry
from delayer.engines.aws.dynamo_store import DynamoStore
from delayer.engines.aws.each import PAUSES, is_conflict, once_free
from delayer.engines.ports import Unavailable
from delayer.engines.process import InOrder
from delayer.ledger.model import LedgerChange
from delayer.ledger.ports import WriteResult, Written
from delayer.ledger.repository import StoredLedger
from tests.clients import OTHER_REASONS, AnyClient, cancelled
from tests.samples import a_claim, a_schedule

ITEM = ClientError({"Error": {"Code": "TransactionConflictException"}}, "PutItem")
CONFLICTS = {"of an item": ITEM, "of a transaction": OTHER_REASONS["a conflict"]}


@pytest.fixture(autouse=True)
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """What would have been slept."""
    slept: list[float] = []
    monkeypatch.setattr("time.sleep", slept.append)
    return slept


class Busy(AnyClient):
    """A client that is in the way of others so many times."""

    def __init__(self, error: ClientError, times: int) -> None:
        self.error, self.left, self.calls = error, times, 0

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(**_: Any) -> dict[str, Any]:
            self.calls += 1
            self.left -= 1
            if self.left >= 0:
                raise self.error
            return {}

        return call


def written_with(client: Busy) -> list[WriteResult]:
    ledger = StoredLedger(store=DynamoStore(client), table="ledger", parallel=InOrder())
    return ledger.write([LedgerChange(row=a_claim())])


@pytest.mark.parametrize("error", CONFLICTS.values(), ids=CONFLICTS)
@pytest.mark.parametrize("times", [0, 1, len(PAUSES)])
def test_it_is_tried_again_with_longer_and_longer_pauses(error: ClientError, times: int, pauses: list[float]) -> None:
    client = Busy(error, times)
    assert written_with(client) == [Written()]
    assert client.calls == times + 1
    assert all(pause / 2 <= slept <= pause * 1.5 for pause, slept in zip(PAUSES, pauses, strict=False))
    assert len(pauses) == times


def test_a_transaction_is_tried_again() -> None:
    client = Busy(CONFLICTS["of a transaction"], 2)
    registry = StoredRegistry(
        store=DynamoStore(client),
        schedules_table="s",
        relaxed_table="x",
        waiting_table="w",
        ledger_table="l",
        registry_table="r",
    )
    assert registry.create(ScheduleTransaction(put=a_schedule()))
    assert client.calls == 3


@pytest.mark.parametrize("error", CONFLICTS.values(), ids=CONFLICTS)
def test_one_that_never_ends_is_unavailable(error: ClientError) -> None:
    [result] = written_with(Busy(error, 100))
    assert isinstance(result, Unavailable)


OTHERS = {
    "a condition": cancelled("ConditionalCheckFailed", "None"),
    "a condition beside a conflict": cancelled("ConditionalCheckFailed", "TransactionConflict"),
    "throttled beside a conflict": cancelled("ThrottlingError", "TransactionConflict"),
    "throttled": OTHER_REASONS["throttled"],
    "no reasons": OTHER_REASONS["no reasons"],
}


@pytest.mark.parametrize("error", OTHERS.values(), ids=OTHERS)
def test_nothing_else_is_tried_again(error: ClientError, pauses: list[float]) -> None:
    """A condition that failed is an answer; what is throttled, boto3 has tried again already."""
    assert not is_conflict(error)
    with pytest.raises(ClientError):
        once_free(Busy(error, 1).put_item)
    assert pauses == []
