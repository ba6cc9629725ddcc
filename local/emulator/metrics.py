"""Metrics that functions write into their logs, as CloudWatch reads them there: ministack does not."""

import importlib
import json
from collections.abc import Callable
from typing import Any, Final

# Those that a single metric's alarm watches, and the canary's. They are rare: ministack forgets no value, and looks at
# all of them for each alarm. So neither `Lateness` nor the counts of each schedule are among them.
FED: Final = frozenset(
    {
        "CanaryFarLateness",
        "CanaryNearLateness",
        "Attention",
        "DeadLettered",
        "Failed",
        "SweepHeld",
        "NotBroughtBack",
        "NotHandled",
        "SeriesFailed",
        "SeriesHealed",
        "NotDecided",
        "TimeRefused",
        "UndecidedAge",
        "Unannounced",
        "Undelivered",
        "Unexpected",
    }
)

Record = Callable[[str, str, float, str, dict[str, str]], None]  # namespace, name, value, unit, dimensions


class EmbeddedMetrics:
    """Reads what one invocation logged. `record` is ministack's own, if it is not given."""

    def __init__(self, record: Record | None = None) -> None:
        self.record = record

    def read(self, log: str) -> None:
        """Record each value of the metrics in FED."""
        for line in log.splitlines():
            if '"CloudWatchMetrics"' in line:
                for values in _values(line):
                    (self.record or record_and_evaluate)(*values)


def _values(line: str) -> list[tuple[str, str, float, str, dict[str, str]]]:
    """In CloudWatch's embedded metric format directives name the metrics, and the values are beside them."""
    try:
        document = json.loads(line)
        return [
            (directive["Namespace"], metric["Name"], float(value), metric["Unit"], _named(dimensions, document))
            for directive in document["_aws"]["CloudWatchMetrics"]
            for metric in directive["Metrics"]
            for value in (document[metric["Name"]] if metric["Name"] in FED else [])
            for dimensions in directive["Dimensions"]
        ]
    except (ValueError, KeyError, TypeError):
        return []  # a line that only quotes the format


def _named(dimensions: list[str], document: dict[str, Any]) -> dict[str, str]:
    return {name: str(document[name]) for name in dimensions}


def record_and_evaluate(namespace: str, name: str, value: float, unit: str, dimensions: dict[str, str]) -> None:
    """As PutMetricData does it. Imported late: ministack reads its environment when it is imported."""
    cloudwatch: Any = importlib.import_module("ministack.services.cloudwatch")
    cloudwatch.record_metric(namespace, name, value, unit, dimensions)
    cloudwatch._evaluate_all_alarms()
