"""Billed units, by the rules of the price lists.

A write costs one unit per started KB, also if its condition fails. A strongly consistent read costs one unit per
started 4 KB, an eventually consistent one half of that. SQS bills one request per started 64 KB.
"""

import re
from collections.abc import Callable
from typing import Any

# DynamoDB's JSON on the wire, of whichever operation: the types of boto3 describe what its clients make of it.
Item = dict[str, Any]
Json = dict[str, Any]
SQS_REQUEST_BYTES = 64 * 1024
READ_UNIT_BYTES = 4 * 1024
WRITE_UNIT_BYTES = 1024
RAN = ("ConditionalCheckFailed", "DuplicateItem")  # what the condition of a statement can come to
STATED = re.compile(r"'([^']+)': \?|\"([^\"]+)\"=\?")  # the names in a statement, one for each parameter
READS = ("GetItem", "BatchGetItem", "Query", "Scan", "TransactGetItems")


def sqs_requests(body: bytes) -> int:
    """How many SQS requests are billed for one with this body."""
    return started_units(len(body), SQS_REQUEST_BYTES)


def write_units(request: Json, response: Json) -> float:
    """Write units of one request.

    The response to a failed condition has no capacity. It is counted as what the request would have put. That to a
    transaction has none either: each of its items costs two units for each started KB, also if it was cancelled. What a
    transaction deletes or compares is taken for a KB at most, as it is not in the request.
    """
    if "TransactItems" in request:
        puts = (write.get("Put", {}).get("Item", {}) for write in request["TransactItems"])
        return float(sum(2 * started_units(item_bytes(item), WRITE_UNIT_BYTES) for item in puts))
    if "Statements" in request:
        return float(sum(map(statement_units, request["Statements"], response.get("Responses", []))))
    if "ConditionalCheckFailed" in response.get("__type", ""):
        return started_units(item_bytes(request.get("Item", {})), WRITE_UNIT_BYTES)
    consumed = response.get("ConsumedCapacity", [])
    tables = consumed if isinstance(consumed, list) else [consumed]
    return float(sum(table["CapacityUnits"] for table in tables))


def statement_units(statement: Json, answer: Json) -> float:
    """Write units of one PartiQL statement; of one whose condition failed, too. All others that failed cost nothing."""
    if answer.get("Error", {}).get("Code", RAN[0]) not in RAN:
        return 0
    names = STATED.findall(statement["Statement"])
    item = dict(zip(("".join(name) for name in names), statement.get("Parameters", []), strict=False))
    return started_units(item_bytes(item), WRITE_UNIT_BYTES)


def read_units(request: Json, response: Json, stored: Callable[[str, Item], Item]) -> float:
    """Read units of one read. They are computed here, because ministack reports one unit whatever the size is."""
    if "RequestItems" in request:
        return batch_read_units(request, response, stored)
    table = request.get("TableName", "")
    items = response.get("Items", [response["Item"]] if "Item" in response else [])
    size = sum(item_bytes(stored(table, item)) for item in items)
    return started_units(size, READ_UNIT_BYTES) * units_factor(request)


def batch_read_units(request: Json, response: Json, stored: Callable[[str, Item], Item]) -> float:
    """Read units of one BatchGetItem: each item is rounded up by itself, and a missing item costs one unit."""
    units = 0.0
    for table, read in request["RequestItems"].items():
        items = response.get("Responses", {}).get(table, [])
        found = sum(started_units(item_bytes(stored(table, item)), READ_UNIT_BYTES) for item in items)
        missing = len(read["Keys"]) - len(items)
        units += (found + missing) * units_factor(read)
    return units


def units_factor(read: Json) -> float:
    """An eventually consistent read costs half."""
    return 1.0 if read.get("ConsistentRead") else 0.5


def started_units(size: int, unit: int) -> int:
    """How many units of this size are started; at least one."""
    return max(1, -(-size // unit))


def item_bytes(item: Item) -> int:
    """The size of an item: names and values as UTF-8; a number has half a byte per digit and one byte more."""
    return sum(len(name.encode()) + value_bytes(value) for name, value in item.items())


def value_bytes(value: Json) -> int:
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
