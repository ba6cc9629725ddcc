"""Metrics in the embedded format of a function's log reach the emulator's CloudWatch."""

from typing import Any

import pytest

from delayer.engines.aws.telemetry import Telemetry
from local.emulator.metrics import FED, EmbeddedMetrics
from tests.cfn import resources


def recorded(log: str) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = []
    EmbeddedMetrics(lambda *values: found.append(values)).read(log)
    return found


def test_what_a_function_writes_is_recorded_value_by_value(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the dimension that the alarms ask for. What is of each schedule is left out."""
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", "delayer")
    monkeypatch.setenv("POWERTOOLS_METRICS_NAMESPACE", "Delayer")
    telemetry = Telemetry("executor-canary")

    def handler(_event: Any, _context: Any) -> None:
        telemetry.measure_lateness(12, "CanaryNearLateness")
        telemetry.measure_lateness(7, "CanaryNearLateness")
        telemetry.measure_lateness(5)
        telemetry.count("DeadLettered")

    telemetry.observed(handler)({}, None)
    service = {"service": "delayer"}
    assert sorted(recorded("a line of text\n" + capsys.readouterr().out)) == [
        ("Delayer", "Attention", 1.0, "Count", service),
        ("Delayer", "CanaryNearLateness", 7.0, "Milliseconds", service),
        ("Delayer", "CanaryNearLateness", 12.0, "Milliseconds", service),
        ("Delayer", "DeadLettered", 1.0, "Count", service),
    ]


def test_another_line_is_none() -> None:
    quoting = '{"message": "about \\"_aws\\" and \\"CloudWatchMetrics\\""}'
    assert recorded(f'{quoting}\n{{"_aws": {{"CloudWatchMetrics": 1}}}}\nabout "CloudWatchMetrics"\n') == []


def test_what_is_fed_is_what_alarms_watch() -> None:
    """But for those on expressions, which ministack does not have."""
    alarms = resources("AWS::CloudWatch::Alarm").values()
    assert {alarm["MetricName"] for alarm in alarms if alarm.get("Namespace") == "Delayer"} == FED
