"""Many things in few requests, of which AWS may do a part only (ADR 0007)."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from delayer.aws.clients import AWS_ERRORS, log
from delayer.ports import Unavailable

MESSAGES: Final = 10  # in one request to SQS or SNS
ITEMS: Final = 25  # in one BatchWriteItem
KEYS: Final = 100  # in one BatchGetItem
NEVER: Final = frozenset({"InvalidParameter", "InvalidParameterValue", "ParameterValueInvalid"})
ROUNDS: Final = 6  # tries for UnprocessedItems and UnprocessedKeys, with 20, 40, 80 … ms in between


def send_all(
    sizes: Sequence[int],
    at_most: int,
    send: Callable[[Sequence[int]], Mapping[str, Any]],
    *,
    passes_over_faults: bool = False,
) -> list[int]:
    """Calls `send` for ten positions and `at_most` bytes at a time; returns the positions not known to be taken.

    Each entry has its position as its `Id`. `Failed[]` is a list of what was *not* taken, in an answer that says 200.
    `passes_over_faults`: what AWS will never take counts as taken, where losing it is better than trying for ever.
    """
    left: list[int] = []
    for batch in _batches(sizes, at_most):
        try:
            answer = send(batch)
        except AWS_ERRORS as error:
            log.warning("messages not sent: %s", error)
            left += batch
            continue
        for refused in answer.get("Failed", []):
            log.warning("message not sent: %s", refused.get("Message") or refused["Code"])
        taken = {int(one["Id"]) for one in answer.get("Successful", [])}
        if passes_over_faults:
            hopeless = [one for one in answer.get("Failed", []) if one.get("Code") in NEVER]
            for one in hopeless:
                log.error("given up: %s", one["Code"])
            taken |= {int(one["Id"]) for one in hopeless}
        left += [at for at in batch if at not in taken]
    return left


def _batches(sizes: Sequence[int], at_most: int) -> Iterator[list[int]]:
    batch: list[int] = []
    room = at_most
    for at, size in enumerate(sizes):
        if batch and (len(batch) == MESSAGES or size > room):
            yield batch
            batch, room = [], at_most
        batch.append(at)
        room -= size
    if batch:
        yield batch


def write_all(dynamodb: Any, table: str, requests: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """BatchWriteItem, until all is done; returns the requests that are not known to be. No key may come twice."""
    left: list[dict[str, Any]] = []
    for start in range(0, len(requests), ITEMS):
        left += _write(dynamodb, table, list(requests[start : start + ITEMS]))
    return left


def _write(dynamodb: Any, table: str, requests: list[dict[str, Any]]) -> list[dict[str, Any]]:
    for attempt in range(ROUNDS):
        try:
            answer = dynamodb.batch_write_item(RequestItems={table: requests})
        except AWS_ERRORS as error:
            log.warning("items not written: %s", error)
            break
        requests = answer.get("UnprocessedItems", {}).get(table, [])
        if not requests:
            break
        time.sleep(0.02 * 2**attempt)
    return requests


def read_all(dynamodb: Any, table: str, keys: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """BatchGetItem, strongly consistent, until all is read. No key may come twice. Raises Unavailable."""
    items: list[dict[str, Any]] = []
    for start in range(0, len(keys), KEYS):
        items += _read(dynamodb, table, list(keys[start : start + KEYS]))
    return items


def _read(dynamodb: Any, table: str, keys: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """An answer holds 16 MB at most, and what DynamoDB had the capacity for."""
    items: list[dict[str, Any]] = []
    for attempt in range(ROUNDS):
        try:
            answer = dynamodb.batch_get_item(RequestItems={table: {"Keys": keys, "ConsistentRead": True}})
        except AWS_ERRORS as error:
            raise Unavailable(f"read {table}: {error}") from error
        items += answer.get("Responses", {}).get(table, [])
        keys = answer.get("UnprocessedKeys", {}).get(table, {}).get("Keys", [])
        if not keys:
            return items
        if attempt < ROUNDS - 1:
            time.sleep(0.02 * 2**attempt)
    raise Unavailable(f"read {table}: {len(keys)} items were not answered")
