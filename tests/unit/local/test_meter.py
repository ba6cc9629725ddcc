"""The meter's arithmetic follows the price lists."""

import asyncio
import json
from typing import Any

import pytest

from local.gateway import Message, Receive, Scope, Send, answer_json, body_of
from local.meter import (
    Meter,
    Metered,
    asking_for_capacity,
    caller_of,
    item_bytes,
    operation_of,
    read_units,
    write_units,
)


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


def test_a_write_costs_what_the_answer_says_summed_over_tables() -> None:
    answer = {"ConsumedCapacity": [{"CapacityUnits": 2.0}, {"CapacityUnits": 3.0}]}
    assert write_units({}, answer) == 5


@pytest.mark.parametrize(("length", "units"), [(10, 1), (1500, 2)])
def test_a_failed_condition_costs_as_much_as_it_would_have_put(length: int, units: int) -> None:
    answer = {"__type": "com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException"}
    assert write_units({"Item": {"p": {"S": "x" * length}}}, answer) == units


@pytest.mark.parametrize(
    ("length", "consistent", "units"), [(0, True, 1), (0, False, 0.5), (5000, True, 2), (5000, False, 1)]
)
def test_a_read_costs_a_unit_per_started_four_kilobytes(length: int, consistent: bool, units: float) -> None:
    request = {"TableName": "t", "ConsistentRead": consistent}
    assert read_units(request, {"Items": [{"p": {"S": "x" * length}}]}, as_stored) == units


def test_a_projected_read_is_billed_by_the_whole_item() -> None:
    whole = {"p": {"S": "x" * 9000}}
    assert read_units({"TableName": "t", "ConsistentRead": True}, {"Item": {}}, lambda _table, _item: whole) == 3


def test_the_capacity_is_asked_for_but_an_own_wish_stays() -> None:
    assert json.loads(asking_for_capacity(b"{}")) == {"ReturnConsumedCapacity": "TOTAL"}
    assert json.loads(asking_for_capacity(b'{"ReturnConsumedCapacity": "INDEXES"}')) == {
        "ReturnConsumedCapacity": "INDEXES"
    }


def test_caller_and_operation_stand_in_the_headers() -> None:
    headers = {
        "user-agent": "Boto3/1.43.106 md/x app/delayer-delayer-relay",
        "x-amz-target": "DynamoDB_20120810.PutItem",
        "authorization": "AWS4-HMAC-SHA256 Credential=test/20261120/us-east-1/dynamodb/aws4_request, ...",
    }
    assert caller_of(headers) == "delayer-delayer-relay"
    assert operation_of(headers, "POST") == "dynamodb.PutItem"
    assert (caller_of({}), operation_of({}, "GET")) == ("unknown", "unknown.GET")


def test_a_metered_request_arrives_whole_and_is_counted() -> None:
    meter = Meter()
    arrived: list[Any] = []

    async def embedded_aws(scope: Scope, receive: Receive, send: Send) -> None:
        body = await body_of(receive)
        arrived.append((json.loads(body), int(dict(scope["headers"])[b"content-length"]) == len(body)))
        await answer_json(send, 200, {"ConsumedCapacity": {"CapacityUnits": 1.0}})

    async def receive() -> Message:
        return {"type": "http.request", "body": b'{"TableName": "t"}', "more_body": False}

    async def send(message: Message) -> None:
        pass

    headers = [
        (b"user-agent", b"Boto3 app/relay"),
        (b"x-amz-target", b"DynamoDB_20120810.PutItem"),
        (b"authorization", b"AWS4-HMAC-SHA256 Credential=test/20261120/us-east-1/dynamodb/aws4_request"),
        (b"content-length", b"18"),
    ]
    scope = {"type": "http", "method": "POST", "path": "/", "server": ("127.0.0.1", 1), "headers": headers}
    asyncio.run(Metered(embedded_aws, meter, 1, as_stored)(scope, receive, send))
    assert arrived == [({"TableName": "t"}, True)], "as it was signed"
    assert meter.reading()["requests"] == {"relay": {"dynamodb.PutItem": {"requests": 1, "writeUnits": 1}}}


def test_invocations_and_mappings_are_counted_until_the_reset() -> None:
    meter = Meter()
    meter.invoked("relay", {"error": True}, 0.5)
    meter.mapping_called("relay", "ReceiveMessage")
    assert meter.reading() == {
        "invocations": {"relay": {"invocations": 1, "errors": 1, "seconds": 0.5}},
        "requests": {"relay": {"sqs.ReceiveMessage (event source mapping)": {"requests": 1, "billed": 1}}},
    }
    meter.reset()
    assert meter.reading() == {"invocations": {}, "requests": {}}
