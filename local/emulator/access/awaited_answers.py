"""The answers of custom resources for which the emulator's CloudFormation waits at this moment."""

import importlib
from typing import Any

# On AWS it is a presigned URL. Here it is known to CloudFormation, and to the function that it has just invoked.
CALLBACK = "/_ministack/cfn-response/"
LARGEST = 4_096  # bytes of an answer, as on AWS


class AwaitedAnswers:
    """Knows the addresses to which an answer may be sent, once each. ministack's modules have no types."""

    def __init__(self) -> None:
        self.custom_resources: Any = importlib.import_module("ministack.services.cloudformation.custom_resource")

    def awaits(self, path: str) -> bool:
        """Whether an answer may be sent to this path."""
        token = path.removeprefix(CALLBACK)
        with self.custom_resources._lock:
            entry = self.custom_resources._pending.get(token)
            return token != path and entry is not None and entry["result"] is None
