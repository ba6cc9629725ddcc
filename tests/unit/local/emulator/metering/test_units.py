"""The units follow the rules of the price lists."""

from typing import Any

import pytest

from local.emulator.metering.units import item_bytes, read_units, write_units


def as_stored(_table: str, item: dict[str, Any]) -> dict[str, Any]:
    return item


@pytest.mark.parametrize(
    ("item", "size"),
    [
        ({}, 0),
        ({"id": {"S": "é"}}, 4),
        ({"n": {"N": "1234"}}, 4),
        ({"n": {"N": "0"}}, 2),
        ({"b": {"BOOL": True}}, 2),
        ({"l": {"L": [{"S": "ab"}]}}, 1 + 3 + 1 + 2),
        ({"m": {"M": {"k": {"S": "ab"}}}}, 1 + 3 + 1 + 1 + 2),
    ],
)
def test_the_size_of_an_item(item: dict[str, Any], size: int) -> None:
    assert item_bytes(item) == size


def test_a_write_costs_the_sum_of_the_tables_capacity_in_the_response() -> None:
    response = {"ConsumedCapacity": [{"CapacityUnits": 2.0}, {"CapacityUnits": 3.0}]}
    assert write_units({}, response) == 5


@pytest.mark.parametrize(("length", "units"), [(10, 1), (1500, 2)])
def test_a_failed_condition_costs_as_much_as_it_would_have_put(length: int, units: int) -> None:
    response = {"__type": "com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException"}
    assert write_units({"Item": {"p": {"S": "x" * length}}}, response) == units


def test_each_write_of_a_transaction_costs_twice() -> None:
    items = [{"Put": {"Item": {"p": {"S": "x" * length}}}} for length in (10, 1500)]
    assert (
        write_units({"TransactItems": [*items, {"Delete": {"Key": {}}}, {"ConditionCheck": {}}]}, {}) == 2 + 4 + 2 + 2
    )


@pytest.mark.parametrize(
    ("length", "consistent", "units"), [(0, True, 1), (0, False, 0.5), (5000, True, 2), (5000, False, 1)]
)
def test_a_read_costs_a_unit_per_started_four_kilobytes(length: int, consistent: bool, units: float) -> None:
    request = {"TableName": "t", "ConsistentRead": consistent}
    assert read_units(request, {"Items": [{"p": {"S": "x" * length}}]}, as_stored) == units


def test_a_projected_read_is_billed_by_the_whole_item() -> None:
    whole = {"p": {"S": "x" * 9000}}
    assert read_units({"TableName": "t", "ConsistentRead": True}, {"Item": {}}, lambda _table, _item: whole) == 3


def test_each_statement_of_a_batch_costs_what_it_writes() -> None:
    """Also one whose condition has failed; not one that DynamoDB did not take."""
    insert = "INSERT INTO \"t\" VALUE {'id': ?, 'detail': ?}"
    update = 'UPDATE "t" SET "detail"=? REMOVE "by" WHERE "id"=? AND "revision"=?'
    small = {"Statement": insert, "Parameters": [{"S": "1"}, {"S": "x"}]}
    large = {"Statement": insert, "Parameters": [{"S": "1"}, {"S": "x" * 1500}]}
    changed = {"Statement": update, "Parameters": [{"S": "x" * 1500}, {"S": "1"}, {"N": "1"}]}
    codes = ["", "DuplicateItem", "ConditionalCheckFailed", "ValidationError", "ThrottlingError"]
    answers = [{"Error": {"Code": code}} if code else {"TableName": "t"} for code in codes]
    assert write_units({"Statements": [small, large, changed, small, small]}, {"Responses": answers}) == 1 + 2 + 2
