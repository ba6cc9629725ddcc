"""Many things in few requests: what AWS did only a part of is asked for again, and reported if it never comes."""

from typing import Any

import pytest
from botocore.exceptions import ParamValidationError

from delayer.engines.aws.dynamo_store import KEYS, ROUNDS, DynamoStore
from delayer.engines.ports import Unavailable
from delayer.engines.store.model import Check, Put, Query, lacks
from delayer.engines.store.store import PartlyRead
from tests.clients import ERRORS, AnyClient, Failing

TABLE = "table"


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)


class Partly(AnyClient):
    """Answers so many keys of each request, and leaves the rest for the next."""

    def __init__(self, at_most: int) -> None:
        self.at_most = at_most
        self.asked: list[int] = []

    def batch_get_item(self, RequestItems: dict[str, Any]) -> dict[str, Any]:  # noqa: N803 - boto3's own name
        wanted = RequestItems[TABLE]
        assert wanted["ConsistentRead"] is True
        keys = wanted["Keys"]
        self.asked.append(len(keys))
        rest = keys[self.at_most :]
        left = {TABLE: {"Keys": rest}} if rest else {}
        return {"Responses": {TABLE: keys[: self.at_most]}, "UnprocessedKeys": left}


class FailsAt(AnyClient):
    """The request of this number fails; the others are answered by a client."""

    def __init__(self, number: int, client: Partly) -> None:
        self.number, self.client = number, client

    def batch_get_item(self, RequestItems: dict[str, Any]) -> dict[str, Any]:  # noqa: N803 - boto3's own name
        if len(self.client.asked) + 1 == self.number:
            raise ERRORS["SlowDown"]
        return self.client.batch_get_item(RequestItems)


def keys(number: int) -> list[dict[str, str]]:
    return [{"key": str(at)} for at in range(number)]


def test_what_was_left_is_asked_for_again() -> None:
    client = Partly(40)
    assert DynamoStore(client).get_many(TABLE, keys(KEYS + 1)) == keys(KEYS + 1)
    assert client.asked == [100, 60, 20, 1]


def test_what_never_comes_is_unavailable() -> None:
    """Not taken for what is not there."""
    client = Partly(0)
    with pytest.raises(Unavailable):
        DynamoStore(client).get_many(TABLE, keys(3))
    assert client.asked == [3] * ROUNDS


def test_a_condition_alone_is_no_write() -> None:
    with pytest.raises(TypeError, match="part of a transaction"):
        DynamoStore(AnyClient()).write(Check(TABLE, {"key": "a"}, lacks("key")))


class Pages(AnyClient):
    """Ten items on each of five pages."""

    def __init__(self) -> None:
        self.asked = 0

    def query(self, **_: Any) -> dict[str, Any]:
        self.asked += 1
        return {"Count": 10} | ({"LastEvaluatedKey": {"entry": {"S": "key"}}} if self.asked < 5 else {})


def test_a_count_ends_when_it_is_enough() -> None:
    client = Pages()
    assert DynamoStore(client).count(Query(TABLE, {"list": "one"}), 15) == 20
    assert client.asked == 2


def test_what_came_is_known_beside_what_never_comes() -> None:
    """Also if it is only the second request that fails: what the first one has answered is known."""
    client = Partly(60)
    with pytest.raises(PartlyRead) as never:
        DynamoStore(FailsAt(2, client)).get_many(TABLE, keys(KEYS + 1))
    assert (list(never.value.items), list(never.value.left)) == (keys(60), keys(KEYS + 1)[60:])


@pytest.mark.parametrize("error", ERRORS.values(), ids=ERRORS)
def test_an_error_is_unavailable(error: Exception) -> None:
    with pytest.raises(Unavailable):
        DynamoStore(Failing(error)).get_many(TABLE, keys(1))


class LeavesTheSecond(AnyClient):
    """And says a set back in another order, and a number in another form."""

    def batch_write_item(self, RequestItems: dict[str, Any]) -> dict[str, Any]:  # noqa: N803 - boto3's own name
        left = [one for one in RequestItems[TABLE] if one["PutRequest"]["Item"]["key"] == {"S": "b"}]
        values = {"names": {"SS": ["y", "x"]}, "number": {"N": "1E+1"}}
        said = [{"PutRequest": {"Item": {**one["PutRequest"]["Item"], **values}}} for one in left]
        return {"UnprocessedItems": {TABLE: said}}


def test_what_is_left_is_known_by_its_key() -> None:
    """However DynamoDB says it back: what it was believed to have written would be lost."""
    values = {"names": frozenset({"x", "y"}), "number": 10}
    puts = [Put(TABLE, {"key": name}, values) for name in "abc"]
    assert DynamoStore(LeavesTheSecond()).write_all(puts) == [puts[1]]


def test_a_request_that_botocore_does_not_take_is_not_shown() -> None:
    """It quotes the value, which may be a secret."""
    error = ParamValidationError(report="Invalid type for parameter Item.token.S, value: hidden")
    with pytest.raises(Unavailable) as unavailable:
        DynamoStore(Failing(error)).write(Put(TABLE, {"key": "a"}))
    assert "hidden" not in str(unavailable.value)


def test_nothing_is_no_request() -> None:
    assert DynamoStore(Failing(ERRORS["SlowDown"])).get_many(TABLE, []) == []
