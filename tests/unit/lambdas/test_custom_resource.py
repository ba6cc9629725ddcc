"""CloudFormation always gets an answer: without one it waits."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from attrs import define, field

from delayer.actions.rules.registration import CannotRegister, Command
from delayer.engines.memory import MemoryObserver
from delayer.engines.ports import Unavailable
from delayer.lambdas.custom_resource import LONGEST_PAUSE, REPEATED_FOR, settle

STACK = "arn:aws:cloudformation:eu-west-1:123456789012:stack/reports/1a2b"
EVENT: dict[str, Any] = {
    "RequestType": "Create",
    "RequestId": "r-1",
    "ResponseURL": "https://cloudformation-custom-resource-response-euwest1.s3.amazonaws.com/x",
    "StackId": STACK,
    "LogicalResourceId": "SlackPost",
    "ResourceType": "Custom::DelayerAction",
    "ResourceProperties": {"ServiceToken": "arn", "ServiceTimeout": "420", "Type": "slack-post", "Function": "arn:f"},
}
OURS = {"RequestId": "r-1", "StackId": STACK, "LogicalResourceId": "SlackPost"}


@define
class Answers:
    """What CloudFormation is sent, if it takes it."""

    refused: int = 0  # how many attempts fail
    taken: list[tuple[str, dict[str, Any]]] = field(factory=list)

    def put(self, url: str, body: bytes) -> None:
        if self.refused:
            self.refused -= 1
            raise OSError("connection reset")
        self.taken.append((url, json.loads(body)))


def answer_to(event: dict[str, Any], do: Callable[[Command], str]) -> dict[str, Any]:
    answers = Answers()
    settle(event, do, MemoryObserver(), answers.put, sleep=lambda _: None)
    [(url, answer)] = answers.taken
    assert url == event["ResponseURL"]
    return answer


def raising(error: BaseException) -> Callable[[Command], str]:
    def do(_: Command) -> str:
        raise error

    return do


def test_it_says_what_became_of_the_resource() -> None:
    done: list[Command] = []

    def do(command: Command) -> str:
        done.append(command)
        return "slack-post/r-1"

    assert answer_to(EVENT, do) == {"Status": "SUCCESS", "PhysicalResourceId": "slack-post/r-1", **OURS}
    [command] = done
    assert command == Command(
        request="Create",
        request_id="r-1",
        stack=STACK,
        resource="SlackPost",
        properties=EVENT["ResourceProperties"],
    )
    assert command.text("Function") == "arn:f"


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (CannotRegister("the type 'x' belongs to the stack others"), "the type 'x' belongs to the stack others"),
        (CannotRegister("a" * 5_000 + "\n"), "a" * 197 + "..."),
        (Unavailable("table arn:secret"), "AWS did not do what was asked: try again"),
        (KeyError("secret"), "a defect of Delayer: the log of the function that was asked says more"),
        (SystemExit("no setting"), "a defect of Delayer: the log of the function that was asked says more"),
        (RecursionError(), "a defect of Delayer: the log of the function that was asked says more"),
    ],
    ids=str,
)
def test_a_failure_is_answered_with_a_short_reason_of_ours(error: BaseException, reason: str) -> None:
    answer = answer_to(EVENT, raising(error))
    assert answer == {"Status": "FAILED", "Reason": reason, "PhysicalResourceId": "slack-post/r-1", **OURS}


def test_what_a_role_may_not_do_yet_is_tried_again_for_half_a_minute() -> None:
    """In a stack that is created, the policy of a role is seconds old."""
    pauses: list[float] = []
    calls: list[Command] = []

    def do(command: Command) -> str:
        calls.append(command)
        if sum(pauses) < seconds:
            raise Unavailable("write the actions: AccessDeniedException")
        return "slack-post/r-1"

    for seconds, status in ((0.0, "SUCCESS"), (20.0, "SUCCESS"), (REPEATED_FOR, "SUCCESS"), (60.0, "FAILED")):
        pauses.clear()
        calls.clear()
        answers = Answers()
        settle(EVENT, do, MemoryObserver(), answers.put, sleep=pauses.append)
        [(_, answer)] = answers.taken
        assert answer["Status"] == status
        assert min(seconds, REPEATED_FOR) <= sum(pauses) < min(seconds, REPEATED_FOR) + LONGEST_PAUSE
        assert len(calls) <= 12, "it does not press"


def test_what_will_never_be_possible_is_answered_at_once() -> None:
    answers = Answers()
    settle(
        EVENT, raising(CannotRegister("no")), MemoryObserver(), answers.put, sleep=lambda _: pytest.fail("it waited")
    )
    assert [answer["Status"] for _, answer in answers.taken] == ["FAILED"]


def test_what_could_not_be_changed_keeps_its_name() -> None:
    """With another one, CloudFormation would take it for a new resource, and delete the old one."""
    event = EVENT | {"RequestType": "Update", "PhysicalResourceId": "slack-post/r-0"}
    assert answer_to(event, raising(CannotRegister("no")))["PhysicalResourceId"] == "slack-post/r-0"


@pytest.mark.parametrize(
    "spoiled",
    [
        {"RequestType": "Explode"},
        {"ResourceProperties": None},
        {"ResourceProperties": {"Type": "\x1b" * 5_000}},
        {"RequestType": None, "StackId": None, "PhysicalResourceId": None},
    ],
    ids=lambda one: ",".join(one),
)
def test_whatever_the_request_is_there_is_an_answer(spoiled: dict[str, Any]) -> None:
    answer = answer_to(EVENT | spoiled, raising(CannotRegister("no")))
    assert answer["Status"] == "FAILED"
    assert len(json.dumps(answer)) < 4_096, "CloudFormation takes no more"
    without_properties = {name: value for name, value in EVENT.items() if name != "ResourceProperties"}
    assert answer_to(without_properties, raising(CannotRegister("no")))["Status"] == "FAILED"


def test_an_operator_reads_the_answer_himself() -> None:
    """By hand, to take out what a forced deletion of a stack has left."""
    by_hand = {name: value for name, value in EVENT.items() if name != "ResponseURL"}
    answer = settle(by_hand, lambda _: "slack-post/r-1", MemoryObserver(), Answers(refused=9).put)
    assert answer == {"Status": "SUCCESS", "PhysicalResourceId": "slack-post/r-1", **OURS}


def test_an_answer_that_is_not_taken_is_sent_again() -> None:
    answers = Answers(refused=1)
    settle(EVENT, lambda _: "id", MemoryObserver(), answers.put)
    assert len(answers.taken) == 1
    with pytest.raises(OSError, match="reset"):
        settle(EVENT, lambda _: "id", MemoryObserver(), Answers(refused=9).put)


# ------------------------------------------------------------ through a socket


class Received(HTTPServer):
    """Where the URL leads to."""

    puts: list[tuple[str, dict[str, str], bytes]]


class Handler(BaseHTTPRequestHandler):
    """Takes a PUT."""

    server: Received

    def do_PUT(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.puts.append((self.path, {name.lower(): value for name, value in self.headers.items()}, body))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Quiet."""


@contextmanager
def receiving() -> Iterator[Received]:
    server = Received(("127.0.0.1", 0), Handler)
    server.puts = []
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_it_is_a_put_without_a_content_type() -> None:
    """The URL is presigned for that."""
    with receiving() as server:
        settle(
            EVENT | {"ResponseURL": f"http://127.0.0.1:{server.server_port}/r?sig=a%2Fb"},
            lambda _: "id",
            MemoryObserver(),
        )
    [(path, headers, body)] = server.puts
    assert path == "/r?sig=a%2Fb"
    assert headers["content-type"] == ""
    assert json.loads(body)["Status"] == "SUCCESS"


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "http://example.com/", "ftp://localhost/", "http://localhost.evil/"]
)
def test_it_goes_nowhere_else(url: str) -> None:
    with pytest.raises(ValueError, match="https"):
        settle(EVENT | {"ResponseURL": url}, lambda _: "id", MemoryObserver())
