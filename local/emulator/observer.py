"""The corrections of ministack report this: invocations, and the requests of event source mappings."""

from typing import Any, Protocol

from local.deployment.settings import STACK_NAME
from local.emulator.function_logs import FunctionLogs
from local.emulator.metering.meter import Meter
from local.emulator.metrics import EmbeddedMetrics

# How ministack describes the end of an invocation: {error, body, log}. ministack has no type for it.
InvocationResult = dict[str, Any]


class Observer(Protocol):
    """Is called for every invocation, and for every batch that an SQS event source mapping receives or deletes."""

    def invoked(self, function: str, result: InvocationResult, seconds: float) -> None:
        """One invocation has ended after this time."""

    def mapping_called(self, function: str, operation: str) -> None:
        """An event source mapping made one SQS request on behalf of this function."""


class LogsAndMeter:
    """The observer that writes the function logs, reads the metrics in them, and counts if there is a meter."""

    def __init__(self, logs: FunctionLogs, meter: Meter | None) -> None:
        self.logs = logs
        self.metrics = EmbeddedMetrics()
        self.meter = meter

    def invoked(self, function: str, result: InvocationResult, seconds: float) -> None:
        """Write the log of one invocation, and count it."""
        self.logs.write(folder_of(function), result.get("log") or "", error=error_of(result))
        self.metrics.read(result.get("log") or "")
        if self.meter:
            self.meter.invoked(folder_of(function), bool(result.get("error")), seconds)

    def mapping_called(self, function: str, operation: str) -> None:
        """Count one SQS request of an event source mapping."""
        if self.meter:
            self.meter.mapping_called(folder_of(function), operation)


def folder_of(function: str) -> str:
    """The function's name without the name of the stack: its folder's name, and the caller in its User-Agent."""
    return function.removeprefix(f"{STACK_NAME}-")


def error_of(result: InvocationResult) -> str:
    """The message of a failed invocation; empty if it succeeded."""
    body = result.get("body")
    return str(body.get("errorMessage", "")) if result.get("error") and isinstance(body, dict) else ""
