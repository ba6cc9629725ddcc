"""One JSON line for each fact; metrics in CloudWatch's embedded format."""

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import aws_lambda_powertools
import pytest
from aws_lambda_powertools.metrics import Metrics
from aws_lambda_powertools.tracing import Tracer

from delayer.engines.aws.bounded_calls import DEADLINE
from delayer.engines.aws.clients import log
from delayer.engines.aws.telemetry import Telemetry
from delayer.engines.ports import NEEDS_SOMEBODY, TRACED
from tests.cfn import ROOT
from tests.samples import an_id


@pytest.fixture(autouse=True)
def _settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", "delayer")
    monkeypatch.setenv("POWERTOOLS_METRICS_NAMESPACE", "Delayer")
    monkeypatch.setenv("POWERTOOLS_LOG_LEVEL", "INFO")
    monkeypatch.setenv("POWERTOOLS_TRACE_DISABLED", "true")
    logging.Logger.manager.loggerDict.pop("delayer-relay", None)
    Metrics().clear_metrics()


def a_telemetry() -> Telemetry:
    """A new one, which writes to where the test captures."""
    return Telemetry("delayer-relay")


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    captured = capsys.readouterr()
    return [json.loads(line) for line in (captured.out + captured.err).split("\n") if line.startswith("{")]


def test_a_line_names_the_function_and_the_schedule(capsys: pytest.CaptureFixture[str]) -> None:
    telemetry = a_telemetry()
    telemetry.note("waits", an_id(), delaySeconds=90)
    telemetry.warn("dead-lettered", an_id(), reason="why")
    telemetry.note("brought back", records=3)
    kept, aside, brought = lines(capsys)
    assert (kept["message"], kept["level"], kept["service"]) == ("waits", "INFO", "delayer-relay")
    assert (kept["scheduleId"], kept["delaySeconds"]) == (an_id(), 90)
    assert (aside["level"], aside["reason"]) == ("WARNING", "why")
    assert "scheduleId" not in brought
    assert kept["timestamp"].endswith(("Z", "+00:00"))


def test_each_invocation_begins_its_deadline() -> None:
    """What is left of the one before says nothing about this one."""
    left: list[float] = []
    handler = a_telemetry().observed(lambda event, context: left.append(DEADLINE.left()))
    for millis in (60_000, 10_000):
        handler({}, SimpleNamespace(aws_request_id="r", get_remaining_time_in_millis=lambda millis=millis: millis))
    handler({}, None)
    assert 50 < left[0] < 60
    assert 5 < left[1] < 10
    assert left[2] == float("inf")


def test_a_line_leads_to_its_call(capsys: pytest.CaptureFixture[str]) -> None:
    """The access log of the API has the same id. Each invocation has its own."""
    telemetry = a_telemetry()
    handler = telemetry.observed(lambda event, context: telemetry.note("executed"))
    for request_id in ("r1", "r2"):
        handler({}, SimpleNamespace(aws_request_id=request_id))
    assert [line["functionRequestId"] for line in lines(capsys)] == ["r1", "r2"]


def test_the_log_level_is_the_templates(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("POWERTOOLS_LOG_LEVEL", "WARNING")
    quiet = Telemetry("quiet")
    quiet.note("enqueued", an_id())
    quiet.warn("dead-lettered", an_id())
    assert [line["message"] for line in lines(capsys)] == ["dead-lettered"]


def test_what_the_adapters_say_looks_like_all_else(capsys: pytest.CaptureFixture[str]) -> None:
    a_telemetry()
    log.warning("messages not sent: %s", "throttled")
    [line] = lines(capsys)
    assert (line["message"], line["service"]) == ("messages not sent: throttled", "delayer-relay")


def test_metrics_are_flushed_once_per_invocation(capsys: pytest.CaptureFixture[str]) -> None:
    """With their sum, every single lateness, the namespace and the one dimension that the alarms ask for."""

    telemetry = a_telemetry()

    def handler(event: dict[str, Any], context: Any) -> str:
        telemetry.count("Claimed")
        telemetry.count("Claimed", 2)
        telemetry.count("Enqueued", 0)
        telemetry.measure_lateness(12)
        telemetry.measure_lateness(340)
        return "answer"

    assert telemetry.observed(handler)({}, None) == "answer"
    [metrics] = lines(capsys)
    [directive] = metrics["_aws"]["CloudWatchMetrics"]
    assert directive["Namespace"] == "Delayer"
    assert directive["Dimensions"] == [["service"]]
    assert metrics["service"] == "delayer"
    assert sum(metrics["Claimed"]) == 3
    assert metrics["Lateness"] == [12, 340]
    assert {"Name": "Lateness", "Unit": "Milliseconds"} in directive["Metrics"]
    assert "Enqueued" not in metrics
    telemetry.observed(lambda event, context: None)({}, None)
    assert lines(capsys) == [], "nothing counted, nothing written"


def test_the_canarys_executor_writes_the_canarys_metrics_alone(capsys: pytest.CaptureFixture[str]) -> None:
    """Its lateness is not that of the users' schedules, and what it executes is not among theirs."""
    telemetry = Telemetry("delayer-relay", metrics={"CanaryNearLateness"})

    def handler(event: dict[str, Any], context: Any) -> None:
        telemetry.count("Executed")
        telemetry.measure_lateness(340)
        telemetry.measure_lateness(12, "CanaryNearLateness")

    telemetry.observed(handler)({}, None)
    [metrics] = lines(capsys)
    assert metrics["_aws"]["CloudWatchMetrics"][0]["Metrics"] == [
        {"Name": "CanaryNearLateness", "Unit": "Milliseconds"}
    ]
    assert metrics["CanaryNearLateness"] == [12]


def test_a_batch_that_raises_is_logged_and_still_counted(capsys: pytest.CaptureFixture[str]) -> None:
    telemetry = a_telemetry()

    def handler(event: dict[str, Any], context: Any) -> None:
        telemetry.count("Claimed")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        telemetry.observed(handler)({}, None)
    error, metrics = sorted(lines(capsys), key=lambda line: "_aws" in line)
    assert error["level"] == "ERROR"
    assert "ZeroDivisionError" in error["exception"]
    assert metrics["Claimed"] == [1]


def test_facts_of_any_kind_are_logged(capsys: pytest.CaptureFixture[str]) -> None:
    """What JSON has no word for is written as Python shows it."""
    telemetry = a_telemetry()
    telemetry.note("refused", problem={"errors": [{"field": "\u2028\n", "value": object()}]})
    telemetry.note("next")
    written = lines(capsys)
    assert written[-1]["message"] == "next"
    assert [line["message"] for line in written] == ["refused", "next"]


class Traces:
    """Takes what the tracer would send to X-Ray."""

    def __init__(self) -> None:
        self.held: list[Any] = []

    @contextmanager
    def in_subsegment(self, **named: str) -> Iterator["Traces"]:
        self.held.append(named)
        yield self

    def put_annotation(self, **kept: Any) -> None:
        self.held.append(kept)

    put_metadata = put_annotation


def test_a_trace_holds_no_answer_and_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer of api-signing-secret is a secret, and others hold payloads."""
    traces = Traces()

    def tracer() -> Tracer:
        return Tracer(provider=traces, auto_patch=False, disabled=False)  # type: ignore[arg-type]

    monkeypatch.setattr(aws_lambda_powertools, "Tracer", tracer)
    monkeypatch.setenv("POWERTOOLS_TRACE_DISABLED", "false")
    monkeypatch.setenv("LAMBDA_TASK_ROOT", "/var/task")  # elsewhere the tracer is off
    telemetry = a_telemetry()

    def handler(event: dict[str, Any], context: Any) -> Any:
        if event["fails"]:
            raise OSError("whsec_hidden")
        return {"current": "whsec_hidden"}

    traced = telemetry.observed(handler)
    traced({"fails": False}, SimpleNamespace())
    with pytest.raises(OSError, match="whsec_hidden"):
        traced({"fails": True}, SimpleNamespace())
    assert len([one for one in traces.held if "name" in one]) == 2
    assert "whsec_hidden" not in str(traces.held)


def counted_with(capsys: pytest.CaptureFixture[str], **metrics: int) -> dict[str, Any]:
    """What an invocation writes that counts these."""
    telemetry = Telemetry("delayer-relay")

    @telemetry.observed
    def handler(_event: object, _context: object) -> None:
        for name, number in metrics.items():
            if name.endswith(("Lateness", "Age")):
                telemetry.measure_lateness(number, name)  # type: ignore[arg-type] # one of them
            else:
                telemetry.count(name, number)  # type: ignore[arg-type] # one of them

    handler({}, None)
    written = lines(capsys)
    return written[0] if written else {}


@pytest.mark.parametrize("metric", sorted(NEEDS_SOMEBODY))
def test_what_somebody_must_look_at_rings_one_alarm(capsys: pytest.CaptureFixture[str], metric: str) -> None:
    assert counted_with(capsys, **{metric: 3})["Attention"] == [1]


def test_what_waits_too_long_does_so_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert counted_with(capsys, UndecidedAge=15 * 60_000)["Attention"] == [1]
    assert "Attention" not in counted_with(capsys, UndecidedAge=15 * 60_000 - 1, Executed=1, Failed=1, Lateness=9**9)


def test_an_idle_stack_writes_no_metric_but_the_canarys(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is paid for by the month. With `Alarms=all` they are there."""
    monkeypatch.setenv("ALL_METRICS", "false")
    assert counted_with(capsys, Claimed=1, Enqueued=2, Swept=3) == {}
    monkeypatch.setenv("ALL_METRICS", "true")
    assert counted_with(capsys, Claimed=1, Enqueued=2, Swept=3)["Swept"] == [3]


def written_at(capsys: pytest.CaptureFixture[str], level: str, event: str, **facts: object) -> list[str]:
    """The lines of a note with this LogLevel."""
    logging.Logger.manager.loggerDict.pop("delayer-relay", None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("POWERTOOLS_LOG_LEVEL", level)
        telemetry = Telemetry("delayer-relay")
        telemetry.observed(lambda _event, _context: telemetry.note(event, an_id(), **facts))({}, None)
    return capsys.readouterr().out.splitlines()


def test_a_schedule_writes_one_short_line(capsys: pytest.CaptureFixture[str]) -> None:
    """For how its attempt ended; what leads there is a trace."""
    for step in ("accepted", "enqueued", "claimed", "swept", "canary"):
        assert written_at(capsys, "INFO", step) == []
    [line] = written_at(capsys, "INFO", "executed", attempt=1, latenessMs=12, detail="HTTP 200")
    assert len(line) <= 512


@pytest.mark.parametrize("event", sorted(TRACED))
def test_a_trace_is_one_level_away(capsys: pytest.CaptureFixture[str], event: str) -> None:
    [line] = written_at(capsys, "DEBUG", event)
    assert json.loads(line)["message"] == event


def test_what_is_traced_is_written_somewhere() -> None:
    """A line that got another name would be written for each schedule."""
    code = "".join(path.read_text() for path in (ROOT / "shared/delayer").glob("*/**/*.py"))
    assert [event for event in sorted(TRACED) if f'note("{event}"' not in code] == []
