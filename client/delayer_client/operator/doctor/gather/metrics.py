"""Figures of CloudWatch: many metrics with one call."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from delayer_client.operator.calls import asking
from delayer_client.operator.stack import OperatorStack

PERMISSION: Final = "cloudwatch:GetMetricData"
AT_ONCE: Final = 500  # metrics of one call
WINDOW: Final = timedelta(minutes=15)


@dataclass(frozen=True, kw_only=True)
class Metric:
    """One metric, and how the values of a minute are put together."""

    namespace: str
    name: str
    dimensions: Mapping[str, str]
    statistic: str  # Maximum, Sum


def figures(stack: OperatorStack, metrics: Mapping[str, Metric], now: datetime) -> dict[str, list[float]]:
    """The values of the last fifteen minutes by the same keys, the oldest first. Raises NotAllowed, and botocore's."""
    found: dict[str, list[float]] = {key: [] for key in metrics}
    keys = list(metrics)
    for begin in range(0, len(keys), AT_ONCE):
        some = keys[begin : begin + AT_ONCE]
        queries = [_query(f"m{number}", metrics[key]) for number, key in enumerate(some)]
        for result in _results(stack, queries, now):
            found[some[int(result["Id"][1:])]] += result["Values"]
    return found


def _results(stack: OperatorStack, queries: list[dict[str, Any]], now: datetime) -> list[dict[str, Any]]:
    cloudwatch = stack.client("cloudwatch")
    token: dict[str, str] = {}
    results: list[dict[str, Any]] = []
    while True:
        with asking(PERMISSION):
            answer = cloudwatch.get_metric_data(
                MetricDataQueries=queries,
                StartTime=now - WINDOW,
                EndTime=now + timedelta(minutes=1),
                ScanBy="TimestampAscending",
                **token,
            )
        results += answer["MetricDataResults"]
        if not answer.get("NextToken"):
            return results
        token = {"NextToken": answer["NextToken"]}


def _query(key: str, metric: Metric) -> dict[str, Any]:
    named = [{"Name": name, "Value": value} for name, value in metric.dimensions.items()]
    described = {"Namespace": metric.namespace, "MetricName": metric.name, "Dimensions": named}
    return {"Id": key, "MetricStat": {"Metric": described, "Period": 60, "Stat": metric.statistic}}
