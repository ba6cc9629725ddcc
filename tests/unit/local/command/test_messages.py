"""A request that arrived is shown in one line, and what the user can do in a few."""

from collections.abc import Iterator

import pytest
from attrs import evolve

from local.command.demonstration import obstacle_in
from local.command.messages import arrival, explanation, summary
from local.receiver import ReceivedRequest, Receiver
from local.stack.emulated_stack import EmulatedStack

REQUEST = ReceivedRequest(
    at_ms=1_500,
    method="POST",
    path="/hello",
    headers={"delayer-point-in-time": "1970-01-01T00:00:01.450Z"},
    body=b"x" * 300,
    status=200,
)


def test_an_arrival_is_shown_with_its_lateness() -> None:
    assert summary(REQUEST) == f"00:00:01.500Z (50 ms late) POST /hello {'x' * 200}"
    due = "1970-01-01T00:00:01.450Z"
    assert arrival(due, REQUEST) == f"due {due}, arrived 00:00:01.500Z: 50 ms late"


def test_a_request_cannot_control_the_terminal() -> None:
    """Nor does a line break pretend to be a line of ours."""
    request = evolve(REQUEST, path="/\x9b2J\x1b]0;x\x07", body=b"\x1b[2J\r\n12:00:00.000Z POST /faked")
    line = summary(request)
    assert line.isprintable()
    assert "POST /faked" in line


@pytest.mark.parametrize("header", ["\x1b[2J", "tomorrow", "0001-01-01T00:00:00", "", None])
def test_a_header_that_is_no_point_in_time_does_no_harm(header: str | None) -> None:
    """Anybody may send it. It ended the whole stack."""
    headers = {} if header is None else {"delayer-point-in-time": header}
    line = summary(evolve(REQUEST, headers=headers))
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
    assert obstacle_in({"ApiAuthorization": "NONE", "AllowPrivateTargets": "true"}) is None
