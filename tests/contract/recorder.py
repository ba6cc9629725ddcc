"""Writes down which calls of AWS an adapter makes, and for which of its methods."""

import re
from collections.abc import Iterable, Iterator
from functools import wraps
from typing import Any, Final

import pytest
from attrs import Factory, define, evolve, fields
from typing_extensions import get_protocol_members

from delayer.engines.aws.dynamo_store import DynamoStore
from delayer.engines.aws.objects import S3Objects
from tests.clients import AnyClient
from tests.contract.aws_calls import CALLS, PORTS, ROWS, Call

CLIENTS: Final = ("dynamodb", "sqs", "sns", "s3", "lambda_", "secretsmanager")  # the fields of adapters that hold one
RESOURCES: Final = (
    "TableName",
    "QueueUrl",
    "TopicArn",
    "Bucket",
    "FunctionName",
    "SecretId",
    "Name",
)  # the arguments that name one

IN_CONTROL_TABLE: Final = (
    "StoredActions",
    "StoredControl",
    "StoredSigningRows",
    "StoredTrials",
)  # the adapters whose rows are declared, too

ACTIONS: Final = {
    "put_item": "dynamodb:PutItem",
    "get_item": "dynamodb:GetItem",
    "update_item": "dynamodb:UpdateItem",
    "delete_item": "dynamodb:DeleteItem",
    "batch_write_item": "dynamodb:BatchWriteItem",
    "batch_get_item": "dynamodb:BatchGetItem",
    "query": "dynamodb:Query",
    "send_message_batch": "sqs:SendMessage",
    "get_queue_attributes": "sqs:GetQueueAttributes",
    "receive_message": "sqs:ReceiveMessage",
    "delete_message": "sqs:DeleteMessage",
    "change_message_visibility_batch": "sqs:ChangeMessageVisibility",
    "publish_batch": "sns:Publish",
    "put_object": "s3:PutObject",
    "get_object": "s3:GetObject",
    "delete_object": "s3:DeleteObject",
    "list_objects_v2": "s3:ListBucket",
    "invoke": "lambda:InvokeFunction",
    "create_secret": "secretsmanager:CreateSecret",
    "get_secret_value": "secretsmanager:GetSecretValue",
    "delete_secret": "secretsmanager:DeleteSecret",
}
WRITES: Final = {
    "Put": "dynamodb:PutItem",
    "Delete": "dynamodb:DeleteItem",
    "Update": "dynamodb:UpdateItem",
    "ConditionCheck": "dynamodb:ConditionCheckItem",
}


def asked(operation: str, arguments: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The IAM actions that a call needs, each with the table, queue, topic or bucket that it goes to."""
    if operation == "transact_write_items":
        for item in arguments["TransactItems"]:
            [(kind, write)] = item.items()
            yield WRITES[kind], write["TableName"]
    elif operation == "batch_execute_statement":
        for statement in arguments["Statements"]:
            verb, _, table = re.match(r'(INSERT|UPDATE) (INTO )?"([^"]+)"', statement["Statement"]).groups()  # type: ignore[union-attr] # any other would be an error
            yield f"dynamodb:PartiQL{verb.title()}", table
    elif "RequestItems" in arguments:
        yield from ((ACTIONS[operation], table) for table in arguments["RequestItems"])
    else:
        [resource] = [arguments[name] for name in RESOURCES if name in arguments]
        yield ACTIONS[operation], resource
        if "Tags" in arguments:
            yield "secretsmanager:TagResource", resource


def rows_in(arguments: dict[str, Any]) -> set[str]:
    """The rows of the control table that a call is about."""
    keys = [arguments.get("Key") or arguments.get("Item") or {}]
    for asked in arguments.get("RequestItems", {}).values():
        keys += asked["Keys"] if "Keys" in asked else [_key_of_write(one) for one in asked]
    return {re.sub("#.*", "#*", key["name"]["S"]) for key in keys if "name" in key}


def _key_of_write(request: dict[str, Any]) -> dict[str, Any]:
    """Of one request of a BatchWriteItem."""
    deleted: dict[str, Any] | None = request.get("DeleteRequest")
    written: dict[str, Any] = deleted["Key"] if deleted else request["PutRequest"]["Item"]
    return written


@define
class Calls:
    """What was recorded so far, by adapter and method. What was not declared is an error at once."""

    seen: dict[tuple[str, str], set[Call]] = Factory(dict)
    rows: dict[str, set[str]] = Factory(dict)

    def begin(self, method: tuple[str, str]) -> None:
        """A method of an adapter is called."""
        assert method in CALLS, f"{method} is not declared in aws_calls.py"
        self.seen.setdefault(method, set())

    def record(self, method: tuple[str, str], adapter: Any, operation: str, arguments: dict[str, Any]) -> None:
        """One call that the adapter makes for a method."""
        for action, resource in asked(operation, arguments):
            call = (action, field_of(adapter, resource))
            assert call in CALLS[method], f"{method} is not declared to call {call}"
            self.seen[method].add(call)
        if method[0] in IN_CONTROL_TABLE:
            rows = rows_in(arguments)
            assert rows <= ROWS[method[1]], f"{method} is not declared to touch {rows}"
            self.rows.setdefault(method[1], set()).update(rows)

    def missing(self, adapter: type) -> list[str]:
        """What is declared for an adapter, and was not recorded."""
        names = {(adapter.__name__, method) for method in get_protocol_members(PORTS[adapter])}
        calls = [f"{name}: {call}" for name in names for call in CALLS[name] - self.seen.get(name, set())]
        never = [f"{name}: never called" for name in names - set(self.seen)]
        of_control = [method for name, method in names if name in IN_CONTROL_TABLE]
        rows = [f"{method}: row {row}" for method in of_control for row in ROWS[method] - self.rows.get(method, set())]
        return sorted(calls + never + rows)


def field_of(adapter: Any, resource: str) -> str:
    """The field of the adapter that names a resource, or what all of its names begin with."""
    beginnings = (resource, resource.partition("/connections/")[0] + "/connections", resource.partition("-")[0])
    holders = [adapter, adapter.objects] if hasattr(adapter, "objects") else [adapter]
    found = [(str(one.name), getattr(holder, one.name)) for holder in holders for one in fields(type(holder))]
    return next(name for name, value in found if isinstance(value, str) and value in beginnings)


class Recording(AnyClient):
    """The client of an adapter while one of its methods runs. The method is the one that was called from outside."""

    def __init__(self, client: Any, calls: Calls, method: tuple[str, str], adapter: Any) -> None:
        self.client = client
        self.calls = calls
        self.method = method
        self.adapter = adapter

    def __getattr__(self, operation: str) -> Any:
        def call(**arguments: Any) -> Any:
            self.calls.record(self.method, self.adapter, operation, arguments)
            return getattr(self.client, operation)(**arguments)

        return call

    def get_paginator(self, operation: str) -> "RecordingPaginator":
        """A call for each page."""
        return RecordingPaginator(self, operation, self.client.get_paginator(operation))


@define
class RecordingPaginator:
    """A paginator of such a client."""

    recording: Recording
    operation: str
    paginator: Any

    def paginate(self, **arguments: Any) -> Iterable[Any]:
        """Records the call, whether its pages are read or not."""
        one = self.recording
        one.calls.record(one.method, one.adapter, self.operation, arguments)
        pages: Iterable[Any] = self.paginator.paginate(**arguments)
        return pages


def record_calls(monkeypatch: pytest.MonkeyPatch) -> Calls:
    """From now on, whatever adapters are made, their calls are recorded."""
    calls = Calls()
    for adapter, port in PORTS.items():
        for method in get_protocol_members(port):
            monkeypatch.setattr(adapter, method, _recorded(calls, adapter, method))
    return calls


def _recorded(calls: Calls, adapter: type, method: str) -> Any:
    original = getattr(adapter, method)
    names = {one.name for one in fields(adapter)}
    name = (adapter.__name__, method)

    @wraps(original)
    def run(self: Any, *arguments: Any, **named: Any) -> Any:
        below = next((name for name in ("store", "objects") if name in names), "")
        held = getattr(self, below) if below else self
        if not isinstance(held, DynamoStore | S3Objects) and held is not self:
            return original(self, *arguments, **named)  # on another engine there is nothing to record
        [client] = [one.name for one in fields(type(held)) if one.name in CLIENTS]
        if isinstance(getattr(held, client), Recording):
            return original(self, *arguments, **named)  # called by another method, which is recorded
        calls.begin(name)
        recorded = evolve(held, **{client: Recording(getattr(held, client), calls, name, self)})
        return original(evolve(self, **{below: recorded}) if below else recorded, *arguments, **named)

    return run
