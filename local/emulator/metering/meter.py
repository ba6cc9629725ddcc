"""Counts what AWS would bill: requests per caller and operation, DynamoDB units, Lambda invocations."""

import json
import threading
from collections import defaultdict
from typing import TypedDict

Numbers = dict[str, float]  # name of a unit, for example "requests" or "writeUnits" -> sum


class Reading(TypedDict):
    """Everything counted since the last reset."""

    requests: dict[str, dict[str, Numbers]]  # caller -> operation -> sums
    invocations: dict[str, Numbers]  # function -> {invocations, errors, seconds}


class Meter:
    """Sums per caller and operation; several threads may use it at once."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.reset()

    def reset(self) -> None:
        """Start all sums at zero again."""
        with self.lock:
            self.requests: dict[str, dict[str, Numbers]] = defaultdict(lambda: defaultdict(lambda: defaultdict(float)))
            self.invocations: dict[str, Numbers] = defaultdict(lambda: defaultdict(float))

    def count(self, caller: str, operation: str, **numbers: float) -> None:
        """Add one request of this caller, and its units in `numbers`."""
        with self.lock:
            sums = self.requests[caller][operation]
            for name, number in {"requests": 1, **numbers}.items():
                sums[name] += number

    def invoked(self, function: str, failed: bool, seconds: float) -> None:
        """Count one invocation of a function and its duration."""
        with self.lock:
            sums = self.invocations[function]
            sums["invocations"] += 1
            sums["errors"] += failed
            sums["seconds"] += seconds

    def mapping_called(self, function: str, operation: str) -> None:
        """Count one SQS request that an event source mapping makes for a function."""
        self.count(function, f"sqs.{operation} (event source mapping)", billed=1)

    def reading(self) -> Reading:
        """Everything counted since the last reset, as a copy."""
        with self.lock:
            copy: Reading = json.loads(json.dumps({"requests": self.requests, "invocations": self.invocations}))
            return copy
