"""Counts what AWS would bill: requests per caller and operation, DynamoDB units, Lambda invocations.

The rules are those of the price lists: a write unit per started KB (a failed condition is billed too), a strongly
consistent read unit per started 4 KB (half of it when eventually consistent), an SQS request per started 64 KB.
"""

import json
import re
import threading
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from local.gateway import Application, Message, Receive, Scope, Send, answer_json, body_of

Item = dict[str, Any]
Numbers = dict[str, float]
SQS_REQUEST_BYTES = 64 * 1024
READ_UNIT_BYTES = 4 * 1024
WRITE_UNIT_BYTES = 1024
METER_PATH = "/_local/meter"
READS = ("GetItem", "BatchGetItem", "Query", "Scan", "TransactGetItems")
# In the User-Agent of every request of a function whose AWS_SDK_UA_APP_ID is set.
APP_ID = re.compile(r"\bapp/(\S+)")
CREDENTIAL_SERVICE = re.compile(r"Credential=[^/]+/\d+/[^/]+/([^/]+)/")


class Meter:
    """Sums per caller and operation; safe to use from several threads."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.reset()

    def reset(self) -> None:
        """Forget everything counted so far."""
        with self.lock:
            self.requests: dict[str, dict[str, Numbers]] = defaultdict(lambda: defaultdict(lambda: defaultdict(float)))
            self.invocations: dict[str, Numbers] = defaultdict(lambda: defaultdict(float))

    def count(self, caller: str, operation: str, **numbers: float) -> None:
        """Add one request of this caller; `numbers` are the units beside it."""
        with self.lock:
            sums = self.requests[caller][operation]
            for name, number in {"requests": 1, **numbers}.items():
                sums[name] += number

    def invoked(self, function: str, result: dict[str, Any], seconds: float) -> None:
        """Count one invocation of a function and its duration."""
        with self.lock:
            sums = self.invocations[function]
            sums["invocations"] += 1
            sums["errors"] += bool(result.get("error"))
            sums["seconds"] += seconds

    def mapping_called(self, function: str, operation: str) -> None:
        """Count one SQS request that an event source mapping makes for a function."""
        self.count(function, f"sqs.{operation} (event source mapping)", billed=1)

    def reading(self) -> dict[str, Any]:
        """Everything counted: {requests: {caller: {operation: numbers}}, invocations: {function: numbers}}."""
        with self.lock:
            content = {"requests": self.requests, "invocations": self.invocations}
            reading: dict[str, Any] = json.loads(json.dumps(content))
            return reading


class Metered:
    """ASGI middleware that meters every request of the AWS port and serves the reading at `/_local/meter`."""

    def __init__(
        self, embedded_aws: Application, meter: Meter, aws_port: int, stored: Callable[[str, Item], Item]
    ) -> None:
        self.embedded_aws = embedded_aws
        self.meter = meter
        self.aws_port = aws_port
        self.stored = stored

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection of either port."""
        if scope["type"] != "http" or scope["server"][1] != self.aws_port:
            await self.embedded_aws(scope, receive, send)
        elif scope["path"] == METER_PATH:
            await self.serve_reading(scope, send)
        else:
            await self.metered(scope, receive, send)

    async def serve_reading(self, scope: Scope, send: Send) -> None:
        """GET reads, DELETE reads and resets."""
        reading = self.meter.reading()
        if scope["method"] == "DELETE":
            self.meter.reset()
        await answer_json(send, 200, reading)

    async def metered(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass one request on, and count it when it has been answered."""
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        caller, operation = caller_of(headers), operation_of(headers, scope["method"])
        body = await body_of(receive)
        reply: list[bytes] = []

        async def replay() -> Message:
            return {"type": "http.request", "body": body, "more_body": False}

        async def listen(message: Message) -> None:
            reply.append(message.get("body", b""))
            await send(message)

        await self.embedded_aws(scope, replay, listen)
        self.meter.count(caller, operation, **self.units_of(operation, body, b"".join(reply)))

    def units_of(self, operation: str, body: bytes, reply: bytes) -> Numbers:
        """What one request costs beside itself."""
        service, _, name = operation.partition(".")
        if service == "sqs":
            return {"billed": started(len(body), SQS_REQUEST_BYTES)}
        if service != "dynamodb":
            return {}
        request, answer = json.loads(body or b"{}"), json.loads(reply or b"{}")
        if name in READS:
            return {"readUnits": read_units(request, answer, self.stored)}
        return {"writeUnits": write_units(request, answer)}


def caller_of(headers: dict[str, str]) -> str:
    """The function that sent a request; `unknown` for clients outside the stack."""
    found = APP_ID.search(headers.get("user-agent", ""))
    return found.group(1) if found else "unknown"


def operation_of(headers: dict[str, str], method: str) -> str:
    """`service.Operation`, as in `dynamodb.PutItem`; the HTTP method for services that name no operation."""
    found = CREDENTIAL_SERVICE.search(headers.get("authorization", ""))
    service = found.group(1) if found else "unknown"
    return f"{service}.{headers.get('x-amz-target', method).rpartition('.')[2]}"


def asking_for_capacity(body: bytes) -> bytes:
    """The same DynamoDB request, asking for its consumed capacity."""
    request = json.loads(body or b"{}")
    return json.dumps({"ReturnConsumedCapacity": "TOTAL", **request}).encode()


def write_units(request: dict[str, Any], answer: dict[str, Any]) -> float:
    """Write units of one request. A failed condition answers without capacity, and costs at least what it would put."""
    if "ConditionalCheckFailed" in answer.get("__type", ""):
        return started(item_bytes(request.get("Item", {})), WRITE_UNIT_BYTES)
    consumed = answer.get("ConsumedCapacity", [])
    tables = consumed if isinstance(consumed, list) else [consumed]
    return float(sum(table["CapacityUnits"] for table in tables))


def read_units(request: dict[str, Any], answer: dict[str, Any], stored: Callable[[str, Item], Item]) -> float:
    """Read units of one GetItem, Query or Scan: the embedded AWS answers a flat unit, whatever the size."""
    if "RequestItems" in request:
        return batch_read_units(request, answer, stored)
    table = request.get("TableName", "")
    items = answer.get("Items", [answer["Item"]] if "Item" in answer else [])
    size = sum(item_bytes(stored(table, item)) for item in items)
    return started(size, READ_UNIT_BYTES) * (1.0 if request.get("ConsistentRead") else 0.5)


def batch_read_units(request: dict[str, Any], answer: dict[str, Any], stored: Callable[[str, Item], Item]) -> float:
    """Read units of one BatchGetItem: each item by itself, and those that are not there as one unit."""
    units = 0.0
    for table, wanted in request["RequestItems"].items():
        items = answer.get("Responses", {}).get(table, [])
        found = sum(started(item_bytes(stored(table, item)), READ_UNIT_BYTES) for item in items)
        missing = len(wanted["Keys"]) - len(items)
        units += (found + missing) * (1.0 if wanted.get("ConsistentRead") else 0.5)
    return units


def started(size: int, unit: int) -> int:
    """How many units of this size are begun; one at least."""
    return max(1, -(-size // unit))


def item_bytes(item: Item) -> int:
    """The size of an item: names and values as UTF-8, numbers at half a byte per digit and one more."""
    return sum(len(name.encode()) + value_bytes(value) for name, value in item.items())


def value_bytes(value: dict[str, Any]) -> int:
    """The size of one attribute value in DynamoDB's own notation."""
    ((kind, content),) = value.items()
    match kind:
        case "S":
            return len(content.encode())
        case "N":
            return (len(content.strip("-0.")) + 1) // 2 + 1
        case "B":
            return len(content) * 3 // 4
        case "M":
            return 3 + sum(len(name.encode()) + 1 + value_bytes(inner) for name, inner in content.items())
        case "L":
            return 3 + sum(1 + value_bytes(inner) for inner in content)
        case "SS" | "NS" | "BS":
            return sum(value_bytes({kind[0]: inner}) for inner in content)
        case _:
            return 1
