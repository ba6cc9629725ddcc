"""Requests to DynamoDB: many items in few requests, and requests that meet a transaction of somebody else."""

import random
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from botocore.exceptions import ClientError

from delayer.aws.dynamodb.items.attributes import Item
from delayer.aws.runtime.clients import AWS_ERRORS, error_code, log
from delayer.ports.unavailable import Unavailable

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import WriteRequestTypeDef

Outcome = TypeVar("Outcome")

ITEMS: Final = 25  # in one BatchWriteItem
KEYS: Final = 100  # in one BatchGetItem
ROUNDS: Final = 6  # tries for UnprocessedItems and UnprocessedKeys, with 20, 40, 80 … ms in between
PAUSES: Final = (0.01, 0.02, 0.04, 0.08, 0.16)  # seconds, each more or less by half
CONDITION_FAILED: Final = "ConditionalCheckFailedException"


def once_free(request: Callable[[], Outcome]) -> Outcome:
    """Makes the request, again after a pause as long as a transaction holds one of its items. Raises as it does.

    DynamoDB refuses such a request at once, and boto3 does not try again. A moment later it succeeds.
    """
    for pause in PAUSES:
        try:
            return request()
        except ClientError as error:
            if not is_conflict(error):
                raise
        time.sleep(pause * random.uniform(0.5, 1.5))
    return request()


def updated(dynamodb: "DynamoDBClient", what: str, **arguments: Any) -> bool:
    """Whether the condition of an UpdateItem held; without one it does. Raises Unavailable, with `what` was to be done.

    An empty set of values is left out: DynamoDB refuses it.
    """
    given = {name: value for name, value in arguments.items() if value or name != "ExpressionAttributeValues"}
    try:
        dynamodb.update_item(**given)
    except AWS_ERRORS as error:
        if error_code(error) != CONDITION_FAILED:
            raise Unavailable(f"{what}: {error}") from error
        return False
    return True


def is_conflict(error: ClientError) -> bool:
    """Whether another transaction is all that was in the way: no condition failed."""
    response: Any = error.response  # its stubs do not have the reasons
    if response["Error"]["Code"] == "TransactionConflictException":
        return True
    codes = {reason.get("Code") for reason in response.get("CancellationReasons", [])}
    return "TransactionConflict" in codes and codes <= {"TransactionConflict", "None", None}


def failed_conditions(error: Exception) -> list[Item | None]:
    """For each write of a transaction the item whose condition failed, empty if there is none; None for the others."""
    response: Any = getattr(error, "response", None) or {}
    return [
        reason.get("Item", {}) if reason.get("Code") == "ConditionalCheckFailed" else None
        for reason in response.get("CancellationReasons", [])
    ]


def item_in_the_way(error: Exception) -> Item | None:
    """The item whose condition failed; None if there is none, or if it was not asked for."""
    response: Any = getattr(error, "response", None) or {}
    return response.get("Item") or None


def put_all(dynamodb: "DynamoDBClient", table: str, items: Sequence[Item]) -> list[Item]:
    """BatchWriteItem, until all are stored; returns the items that are not known to be. No key may come twice."""
    left = _write_all(dynamodb, table, [{"PutRequest": {"Item": item}} for item in items])
    return [cast("Item", request["PutRequest"]["Item"]) for request in left]


def delete_all(dynamodb: "DynamoDBClient", table: str, keys: Sequence[Item]) -> list[Item]:
    """BatchWriteItem, until all are deleted; returns the keys that are not known to be. No key may come twice."""
    left = _write_all(dynamodb, table, [{"DeleteRequest": {"Key": key}} for key in keys])
    return [cast("Item", request["DeleteRequest"]["Key"]) for request in left]


def _write_all(
    dynamodb: "DynamoDBClient", table: str, requests: "list[WriteRequestTypeDef]"
) -> "list[WriteRequestTypeDef]":
    starts = range(0, len(requests), ITEMS)
    return [left for start in starts for left in _write(dynamodb, table, requests[start : start + ITEMS])]


def _write(
    dynamodb: "DynamoDBClient", table: str, requests: "list[WriteRequestTypeDef]"
) -> "list[WriteRequestTypeDef]":
    for attempt in range(ROUNDS):
        try:
            answer = dynamodb.batch_write_item(RequestItems={table: requests})
        except AWS_ERRORS as error:
            log.warning("items not written: %s", error)
            break
        requests = cast("list[WriteRequestTypeDef]", answer.get("UnprocessedItems", {}).get(table, []))
        if not requests:
            break
        time.sleep(0.02 * 2**attempt)
    return requests


def read_all(dynamodb: "DynamoDBClient", table: str, keys: Sequence[Item], *, latest: bool = True) -> list[Item]:
    """BatchGetItem until all is read; `latest`: strongly consistent. No key may come twice. Raises Unavailable."""
    items: list[Item] = []
    for start in range(0, len(keys), KEYS):
        items += _read(dynamodb, table, list(keys[start : start + KEYS]), latest=latest)
    return items


def _read(dynamodb: "DynamoDBClient", table: str, keys: list[Item], *, latest: bool) -> list[Item]:
    """An answer holds 16 MB at most, and what DynamoDB had the capacity for."""
    items: list[Item] = []
    for attempt in range(ROUNDS):
        try:
            answer = dynamodb.batch_get_item(RequestItems={table: {"Keys": keys, "ConsistentRead": latest}})
        except AWS_ERRORS as error:
            raise Unavailable(f"read {table}: {error}") from error
        items += answer.get("Responses", {}).get(table, [])
        keys = list(answer.get("UnprocessedKeys", {}).get(table, {"Keys": []})["Keys"])
        if not keys:
            return items
        if attempt < ROUNDS - 1:
            time.sleep(0.02 * 2**attempt)
    raise Unavailable(f"read {table}: {len(keys)} items were not answered")
