"""Requests that meet a transaction of somebody else, and what DynamoDB says about failed conditions."""

import random
import time
from collections.abc import Callable
from typing import Any, Final, TypeVar

from botocore.exceptions import ClientError

from delayer.aws.store.attributes import from_attributes
from delayer.store.items import Item

Outcome = TypeVar("Outcome")

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


def is_conflict(error: ClientError) -> bool:
    """Whether another transaction is all that was in the way: no condition failed."""
    response: Any = error.response  # its stubs do not have the reasons
    if response["Error"]["Code"] == "TransactionConflictException":
        return True
    codes = {reason.get("Code") for reason in response.get("CancellationReasons", [])}
    return "TransactionConflict" in codes and codes <= {"TransactionConflict", "None", None}


def in_the_way(error: Exception) -> list[Item | None]:
    """For each write the item whose condition failed, empty if there is none; None for the others."""
    response: Any = getattr(error, "response", None) or {}
    if response.get("Error", {}).get("Code") == CONDITION_FAILED:
        return [from_attributes(response.get("Item") or {})]
    return [
        from_attributes(reason.get("Item") or {}) if reason.get("Code") == "ConditionalCheckFailed" else None
        for reason in response.get("CancellationReasons", [])
    ]
