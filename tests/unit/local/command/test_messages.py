"""A request that arrived is shown in one line, and what the user can do in a few."""

import re
from collections.abc import Iterator

import pytest
from attrs import evolve

from delayer.schedule.instants import format_instant
from local.arrivals import arrival, summary
from local.command.demonstration import obstacle_in
from local.command.messages import explanation
from local.receiver import ReceivedRequest, Receiver
from local.signatures import UNSIGNED, VERIFIED, WRONG
from local.stack.emulated_stack import EmulatedStack
from tests.cfn import ROOT

REQUEST = ReceivedRequest(
    at_ms=1_500,
    method="POST",
    path="/hello",
    headers={"delayer-point-in-time": "1970-01-01T00:00:01.450Z"},
    body=b"x" * 300,
    status=200,
)


def test_an_arrival_is_shown_with_its_lateness() -> None:
    assert summary(REQUEST, UNSIGNED) == f"00:00:01.500Z (50 ms late, not signed) POST /hello {'x' * 200}"
    due = "1970-01-01T00:00:01.450Z"
    assert arrival(due, REQUEST, VERIFIED) == f"due {due}, arrived 00:00:01.500Z: 50 ms late, signature verified"


SHOWN = re.compile(r"(\d\d):(\d\d):(\d\d)\.(\d{3})Z \((\d+) ms late, ([a-z ]+)\) ([A-Z]+) (/\w+) (.*)")


def test_the_pages_show_such_lines_word_for_word() -> None:
    """And no others, such as those of an earlier version."""
    docs = ROOT / "docs"
    pages = {path.relative_to(docs).as_posix(): path.read_text() for path in docs.rglob("*.md")}
    lines = [(name, line) for name, text in pages.items() for line in text.splitlines() if "ms late, " in line]
    shown = [(name, line, found) for name, line in lines if (found := SHOWN.fullmatch(line))]
    assert {name for name, _, _ in shown} == {"extend/extending.md", "start/one-machine.md", "use/policies.md"}
    for _, line, found in shown:
        hours, minutes, seconds, millis, late, checked, method, path, body = found.groups()
        at = ((int(hours) * 60 + int(minutes)) * 60 + int(seconds)) * 1000 + int(millis)
        due = format_instant(at - int(late))
        headers = {"delayer-point-in-time": due}
        request = evolve(REQUEST, at_ms=at, method=method, path=path, headers=headers, body=body.encode())
        assert summary(request, checked) == line
        assert checked in (VERIFIED, UNSIGNED)
    assert not [name for name, text in pages.items() if re.search(r"ms late\) [A-Z]+ /", text)]


def test_a_request_cannot_control_the_terminal() -> None:
    """Nor does a line break pretend to be a line of ours."""
    request = evolve(REQUEST, path="/\x9b2J\x1b]0;x\x07", body=b"\x1b[2J\r\n12:00:00.000Z POST /faked")
    line = summary(request, WRONG)
    assert line.isprintable()
    assert "POST /faked" in line


@pytest.mark.parametrize("header", ["\x1b[2J", "tomorrow", "0001-01-01T00:00:00", "", None])
def test_a_header_that_is_no_point_in_time_does_no_harm(header: str | None) -> None:
    """Anybody may send it. It ended the whole stack."""
    headers = {} if header is None else {"delayer-point-in-time": header}
    line = summary(evolve(REQUEST, headers=headers), UNSIGNED)
    assert line.startswith("00:00:01.500Z")
    assert line.isprintable()


@pytest.fixture
def stack() -> EmulatedStack:
    """One that was not started."""
    return EmulatedStack(8080)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as receiver:
        yield receiver


def test_the_user_learns_where_the_keys_are(stack: EmulatedStack, receiver: Receiver) -> None:
    text = explanation(stack, receiver)
    assert ". .local/8080/aws.env" in text
    assert stack.pair.secret_access_key not in text


def test_the_user_learns_why_the_example_fails(stack: EmulatedStack, receiver: Receiver) -> None:
    obstacle = obstacle_in({"AllowPrivateTargets": "false"})
    assert "AllowPrivateTargets=false" in explanation(stack, receiver, obstacle)
    assert "fails" not in explanation(stack, receiver, obstacle_in({"Shards": "2"}))
    assert obstacle_in({"ApiAuthorization": "AWS_IAM"})
    assert obstacle_in({"PrivateTargetsAccount": "123456789012"})
    assert obstacle_in({"Actions": "sqs-send,remote,canary"})
    assert obstacle_in({"Actions": "http-request,remote,canary"}) is None
    assert obstacle_in({"ApiAuthorization": "NONE", "AllowPrivateTargets": "true"}) is None
