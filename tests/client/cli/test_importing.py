"""`delayer import eventbridge`, from files."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from delayer_client.api.models import Problem
from delayer_client.calls.call import Call
from delayer_client.cli.commands.operators.destination import ToDelayer
from delayer_client.errors import refusal
from delayer_client.eventbridge import Options, apply, read_files, translate
from tests.client.cli.conftest import Cli

QUEUE = "arn:aws:sqs:eu-west-1:123456789012:delayer-target-jobs"


def schedule(name: str, expression: str, target: str = QUEUE) -> dict[str, object]:
    """As `aws scheduler get-schedule` prints it."""
    return {
        "Arn": f"arn:aws:scheduler:eu-west-1:123456789012:schedule/default/{name}",
        "GroupName": "default",
        "Name": name,
        "ScheduleExpression": expression,
        "ScheduleExpressionTimezone": "UTC",
        "State": "ENABLED",
        "FlexibleTimeWindow": {"Mode": "OFF"},
        "Target": {"Arn": target, "RoleArn": "arn:aws:iam::123456789012:role/scheduler", "Input": '{"order":17}'},
    }


@pytest.fixture
def files(tmp_path: Path) -> str:
    (tmp_path / "nightly.json").write_text(json.dumps(schedule("nightly", "cron(0 3 * * ? *)")))
    return str(tmp_path)


def test_a_dry_run_says_what_can_be_moved(delayer: Cli, files: str) -> None:
    done = delayer("import", "eventbridge", files, "--dry-run")
    assert done.status == 0, done.out + done.err
    assert "ready" in done.out
    assert "default/nightly" in done.out
    assert "There are none." in delayer("series", "list").err


@pytest.mark.parametrize("flags", [("--group", "a"), ("--bus", "b"), ("--region", "eu-west-1")])
def test_what_chooses_in_an_account_is_refused_beside_files(delayer: Cli, files: str, flags: tuple[str, str]) -> None:
    """All of the files would be moved."""
    done = delayer("import", "eventbridge", files, *flags, "--yes")
    assert done.status == 2
    assert "are for an account: of FILES, all is moved" in done.err
    assert "There are none." in delayer("series", "list").err


def test_a_region_of_the_stack_is_refused_where_a_token_calls_it(delayer: Cli) -> None:
    """Without a token it is that for which calls to a domain of one's own are signed, and counts."""
    flags = ("--region", "eu-west-1", "--aws-region", "eu-west-3", "--url", "https://delayer.example.com")
    done = delayer("import", "eventbridge", *flags, "--token", "t", "--dry-run")
    assert done.status == 2
    assert "a token who calls: leave out --aws-region" in done.err


def test_it_is_moved_once(delayer: Cli, files: str) -> None:
    asked = delayer("import", "eventbridge", files)
    assert asked.status == 2
    assert "Move 1 of 1 schedule to http" in asked.err
    [report] = delayer("import", "eventbridge", files, "--yes", "--json").objects
    assert report["counts"] == {"moved": 1}
    [series] = delayer("series", "list", "--json").objects
    assert series["state"] == "active"
    [again] = delayer("import", "eventbridge", files, "--yes", "--json").objects
    assert again["counts"] == {"there": 1}


def test_what_cannot_be_moved_is_a_problem(delayer: Cli, files: str) -> None:
    ec2 = "arn:aws:scheduler:::aws-sdk:ec2:stopInstances"
    (Path(files) / "stop.json").write_text(json.dumps(schedule("stop", "rate(1 hour)", ec2)))
    done = delayer("import", "eventbridge", files, "--dry-run")
    assert done.status == 6
    assert "1 left" in done.out


def test_another_cutover_than_the_first_is_a_problem(delayer: Cli, files: str) -> None:
    first, second = ("--cutover", "2036-01-01T06:00:00Z"), ("--cutover", "2036-01-01T12:00:00Z")
    assert delayer("import", "eventbridge", files, "--yes", *first).status == 0
    again = delayer("import", "eventbridge", files, "--yes", "--json", *second)
    assert again.status == 6
    [report] = again.objects
    assert report["counts"] == {"refused": 1}
    assert "commands" not in report
    assert "aws scheduler" in delayer("import", "eventbridge", files, "--yes", *first).out


def test_a_cutover_that_is_no_whole_minute(delayer: Cli, files: str) -> None:
    done = delayer("import", "eventbridge", files, "--cutover", "2036-01-01T06:00:01Z", "--yes")
    assert done.status == 2
    assert "A cut-over is a whole minute, five minutes from now at the earliest." in done.err


class Answering:
    """A Delayer that refuses each call, after a try that may have been applied or not."""

    def __init__(self, status: int, unclear: bool) -> None:
        self.problem = Problem(type="about:blank", title="Refused", status=status, detail="Refused.")
        self.unclear = unclear

    def send(self, call: Call[Any]) -> Any:
        return call.refused(refusal(self.problem), self.unclear)


@pytest.mark.parametrize(
    ("status", "unclear", "state"),
    [
        *((429, False, "refused"), (429, True, "unknown"), (403, True, "unknown"), (503, False, "unknown")),
        *((403, False, "refused"), (422, True, "refused")),
    ],
)
def test_a_refusal_after_an_unclear_try_leaves_it_unknown(files: str, status: int, unclear: bool, state: str) -> None:
    items = translate(read_files([files]), Options(now=datetime(2026, 11, 23, tzinfo=UTC)))
    there: Any = Answering(status, unclear)
    [outcome] = apply(items, ToDelayer(there))
    assert outcome.state == state
    assert "Refused." in outcome.reason


def test_a_gap_is_said_in_sentences(delayer: Cli, files: str) -> None:
    (Path(files) / "rules.json").write_text('{"Rules": [], "NextToken": "more"}')
    said = " ".join(delayer("import", "eventbridge", files, "--dry-run").err.split())
    assert "it has a NextToken. Print it again" in said


def test_wrong_usage_is_answered_with_what_is_right(delayer: Cli) -> None:
    assert "cannot be read" in delayer("import", "eventbridge", "/not/there.json").err
