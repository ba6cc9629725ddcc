"""Requests that meet a transaction of somebody else.

DynamoDB refuses them at once, and boto3 does not try again. Nothing was written: a moment later it can be.
"""

import random
import time
from collections.abc import Callable
from typing import Any, Final, TypeVar

from botocore.exceptions import ClientError

Outcome = TypeVar("Outcome")

PAUSES: Final = (0.01, 0.02, 0.04, 0.08, 0.16)  # seconds, each more or less by half


def once_free(request: Callable[[], Outcome]) -> Outcome:
    """Makes the request, again after a pause as long as a transaction holds one of its items. Raises as it does."""
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
    response: Any = error.response
    if response["Error"]["Code"] == "TransactionConflictException":
        return True
    codes = {reason.get("Code") for reason in response.get("CancellationReasons", [])}
    return "TransactionConflict" in codes and codes <= {"TransactionConflict", "None", None}
