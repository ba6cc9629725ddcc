"""Every request is passed on unchanged and counted for its caller."""

import asyncio
import json
from typing import Any

from local.emulator.asgi import Message, Receive, Scope, Send, body_of, respond_json
from local.emulator.metering.meter import Meter
from local.emulator.metering.middleware import Metering, caller_of, operation_of


def test_caller_and_operation_are_in_the_headers() -> None:
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

    async def emulator(scope: Scope, receive: Receive, send: Send) -> None:
        body = await body_of(receive)
        arrived.append((json.loads(body), int(dict(scope["headers"])[b"content-length"]) == len(body)))
        await respond_json(send, 200, {"ConsumedCapacity": {"CapacityUnits": 1.0}})

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
    asyncio.run(Metering(emulator, meter, 2, lambda _table, item: item)(scope, receive, send))
    assert arrived == [({"TableName": "t"}, True)], "the body is the one that was signed"
    assert meter.reading()["requests"] == {"relay": {"dynamodb.PutItem": {"requests": 1, "writeUnits": 1}}}
