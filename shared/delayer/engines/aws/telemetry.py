"""Logs and metrics through Powertools: structured lines, metrics in CloudWatch's embedded format (ADR 0031)."""

import os
from collections.abc import Callable, Collection
from functools import wraps
from threading import Lock
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit

from delayer.engines.aws import start
from delayer.engines.aws.bounded_calls import DEADLINE
from delayer.engines.aws.clients import log
from delayer.engines.ports import NEEDS_SOMEBODY, TOO_LONG, TRACED, WRITTEN_WITH_ALL
from delayer.schedule.instants import Millis

if TYPE_CHECKING:
    from delayer.engines.ports import Count, Lateness, Metric

Handler = Callable[[Any, Any], Any]  # the event depends on what invokes the function


class Telemetry:
    """Writes lines and metrics to standard output. One per execution environment.

    `function` is the Lambda's name without its stack.

    With `metrics`, these are written and no others: what the canary does is not counted among the users' schedules.
    """

    def __init__(self, function: str, metrics: "Collection[Metric] | None" = None) -> None:
        self.function = function
        self._written = metrics
        self._logger = Logger(service=function, location=None, utc=True, use_rfc3339=True)
        log.handlers = [self._logger.registered_handler]  # the lines of the adapters have the same form
        log.propagate = False
        self._metrics = Metrics()
        self._lock = Lock()

    def note(self, event: str, schedule_id: str = "", **facts: object) -> None:
        write = self._logger.debug if event in TRACED else self._logger.info
        write(event, extra=_with_id(schedule_id, facts))

    def warn(self, event: str, schedule_id: str = "", **facts: object) -> None:
        self._logger.warning(event, extra=_with_id(schedule_id, facts))

    def count(self, metric: "Count", number: int = 1) -> None:
        if number:
            self._add(metric, MetricUnit.Count, number)

    def measure_lateness(self, lateness: Millis, metric: "Lateness" = "Lateness") -> None:
        self._add(metric, MetricUnit.Milliseconds, lateness)

    def _add(self, metric: "Metric", unit: MetricUnit, value: int) -> None:
        """Messages of a batch are handled on several threads; Powertools' metrics are not made for that."""
        if metric not in self._written if self._written is not None else metric in _left_out():
            return
        with self._lock:
            self._metrics.add_metric(metric, unit, value)
            if metric in NEEDS_SOMEBODY or value >= TOO_LONG.get(metric, value + 1):
                self._metrics.add_metric("Attention", MetricUnit.Count, 1)

    def observed(self, handler: Handler) -> Handler:
        """Starts the deadline of each invocation; flushes its metrics, also if it raised; traces it if it is to be.

        A function that has a handler has imported what it needs.
        """
        start.work()

        @wraps(handler)
        def call(event: dict[str, Any], context: Any) -> Any:
            DEADLINE.begin(event, context)
            # The access log of the API has it, too: it leads from a call to its lines (ADR 0068).
            self._logger.append_keys(functionRequestId=getattr(context, "aws_request_id", None))
            try:
                return handler(event, context)
            except Exception:
                self._logger.exception("the batch failed as a whole and will be delivered again")
                raise
            finally:
                if self._metrics.metric_set:
                    self._metrics.flush_metrics()

        return _traced(call)


def _left_out() -> "Collection[Metric]":
    """Returns the metrics that are written only where all alarms and all metrics are wanted."""
    return () if os.environ.get("ALL_METRICS", "true") == "true" else WRITTEN_WITH_ALL


def _with_id(schedule_id: str, facts: dict[str, object]) -> dict[str, object]:
    return {"scheduleId": schedule_id, **facts} if schedule_id else facts


def _traced(handler: Handler) -> Handler:
    """X-Ray's SDK is imported only where tracing is on: it costs a cold start.

    A trace holds times and no answers: those hold payloads, and that of api-signing-secret a secret (ADR 0067).
    """
    if os.environ.get("POWERTOOLS_TRACE_DISABLED", "true") != "false":
        return handler
    from aws_lambda_powertools import Tracer

    traced: Handler = Tracer().capture_lambda_handler(handler, capture_response=False, capture_error=False)
    return traced
