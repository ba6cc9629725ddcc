"""`make flow`, with the function's own code behind the call."""

import io
import json
import shlex
from typing import Any

import pytest
from attrs import define, field
from botocore.exceptions import ClientError, NoCredentialsError

from delayer.core.flow.block import opened
from delayer.core.flow.party import Party
from delayer.repositories.flow.blocks import LIST
from delayer.store.items import entry_key
from delayer.wiring import use_cases
from delayer_client.operator.credentials import ONCE
from operate.flow import main, parser
from tests.looking import put_item
from tests.world import START, World

OPEN = opened(Party(owner="ann", target="http-request api.example.com"), START, "HTTP 503 \x1b[2J")


@define
class Lambda:
    """Answers as boto3 does."""

    world: World = field(factory=World)
    problem: BaseException | str = ""
    names: list[str] = field(factory=list)
    region_name: str = "eu-west-1"

    @property
    def meta(self) -> "Lambda":
        return self

    def invoke(self, FunctionName: str, Payload: bytes) -> dict[str, Any]:  # noqa: N803 - boto3's names
        self.names.append(FunctionName)
        if isinstance(self.problem, BaseException):
            raise self.problem
        if self.problem:
            content: Any = {"errorMessage": self.problem}
            return {"FunctionError": "Unhandled", "Payload": io.BytesIO(json.dumps(content).encode())}
        answer = use_cases.operate_flow(self.world.ports("operator-flow"))(json.loads(Payload))
        return {"Payload": io.BytesIO(json.dumps(answer).encode())}


@define
class Terminal:
    """Runs the program and keeps what it says."""

    function: Lambda = field(factory=Lambda)
    lines: list[str] = field(factory=list)

    def __call__(self, text: str) -> int:
        def make(service: str, config: object) -> Lambda:
            assert (service, config) == ("lambda", ONCE)
            return self.function

        self.lines.clear()
        return main(shlex.split(text), self.lines.append, make)


@pytest.fixture
def run() -> Terminal:
    return Terminal()


def test_without_anything_that_waits_it_says_so(run: Terminal) -> None:
    assert run("--stack mine list") == 0
    assert run.function.names == ["mine-operator-flow"]
    assert run.lines[:2] == ["Nothing is suspended.", "No circuit is open."]
    assert run.lines[2].startswith("In the delayer queue are about 0 delayed messages and 0 that are ready")


def test_from_suspension_to_release(run: Terminal) -> None:
    assert run("suspend --owner ann --target api.example.com --reason 'until noon' --by eve") == 0
    assert run.lines[0] == "Suspended:"
    assert run.lines[1].split() == ["OWNER", "TARGET", "SINCE", "BY", "REASON"]
    assert run.lines[2].split()[:3] == ["ann", "http-request", "api.example.com"]
    assert run.lines[2].endswith("eve  until noon")
    assert run("suspend --owner ann --target api.example.com --reason 'until noon'") == 0
    assert run.lines[0].startswith("It was suspended before")
    assert run("suspend --target api.example.com --reason moved") == 0
    assert run("list") == 0
    assert [line.split()[0] for line in run.lines[:4]] == ["Suspensions:", "OWNER", "(all)", "ann"]
    assert run("release --owner ann --target 'http-request api.example.com'") == 0
    assert [line.split()[0] for line in run.lines] == ["Released:", "OWNER", "ann", "Still", "OWNER", "(all)"]
    assert run("release --owner ann --target api.example.com") == 0
    assert run.lines[0] == "There is no such suspension."


def test_a_circuit_is_listed_and_closed(run: Terminal) -> None:
    run.function.world.blocks.change(OPEN)
    assert run("list") == 0
    assert run.lines[1] == "Circuits:"
    assert run.lines[2].split() == ["OWNER", "TARGET", "STATE", "SINCE", "UNTIL", "PAUSES", "REASON"]
    assert run.lines[2].index("STATE") == run.lines[3].index("open")
    assert run.lines[3].split()[:4] == ["ann", "http-request", "api.example.com", "open"]
    assert run.lines[3].endswith("1       HTTP 503 ?[2J"), "nothing in it commands the terminal"
    assert run("close --target api.example.com") == 0
    assert run.lines[0] == "Closed:"
    assert run("close --target api.example.com") == 0
    assert run.lines == ["There is no such circuit."]


def test_a_limit_is_set_listed_and_removed(run: Terminal) -> None:
    assert run("limit --target api.example.com --rate 10/s --by eve") == 0
    assert run.lines[0] == "Limited:"
    assert run.lines[1].split() == ["OWNER", "TARGET", "RATE", "BOOKED", "CONCURRENCY", "SINCE", "BY"]
    assert run.lines[2].split()[:6] == ["(all)", "http-request", "api.example.com", "10/s", "0", "s"]
    assert run("limit --target api.example.com --rate 10/s") == 0
    assert run.lines[0] == "It was limited so before:"
    assert run("list") == 0
    assert "Limits:" in run.lines
    assert run("unlimit --target api.example.com") == 0
    assert run.lines[0] == "Removed:"
    assert run("unlimit --target api.example.com") == 0
    assert run.lines == ["There is no such limit."]
    assert run("limit --owner ann --connection crm --rate 100/h") == 0
    assert run.lines[2].split()[:3] == ["ann", "connection", "crm"]


def test_a_limit_of_concurrency_is_set_alone_or_with_a_rate(run: Terminal) -> None:
    assert run("limit --target api.example.com --concurrency 5 --by eve") == 0
    assert run.lines[2].split()[:4] == ["(all)", "http-request", "api.example.com", "5"]
    assert run("limit --target api.example.com --concurrency 5 --rate 10/s") == 0
    assert run.lines[2].split()[:7] == ["(all)", "http-request", "api.example.com", "10/s", "0", "s", "5"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "required: COMMAND"),
        ("suspend --owner ann", "required: --reason"),
        ("suspend --reason r", "give --owner, --target, or both"),
        ("release", "give --owner, --target, or both"),
        ("close --by eve", "give --owner, --target, or both"),
        ("limit --owner ann", "give --rate, --concurrency, or both"),
        ("limit --rate 10/s", "give --owner, --target, or both"),
        ("limit --owner ann --target t --connection c --rate 1/s", "give --target or --connection, not both"),
        ("list --owner ann", "unrecognized arguments"),
    ],
)
def test_a_wrong_command_line_is_explained(
    run: Terminal, capsys: pytest.CaptureFixture[str], text: str, problem: str
) -> None:
    with pytest.raises(SystemExit) as caught:
        run(text)
    assert caught.value.code == 2
    assert problem in capsys.readouterr().err
    assert run.function.names == []


@pytest.mark.parametrize(
    ("problem", "says"),
    [
        (ClientError({"Error": {"Code": "ResourceNotFoundException"}}, "Invoke"), "no function delayer-operator-flow"),
        (ClientError({"Error": {"Code": "AccessDeniedException"}}, "Invoke"), "AWS refused the call"),
        (NoCredentialsError(), "Unable to locate credentials"),
        ("Task timed out", "Task timed out. To repeat it does no harm."),
    ],
    ids=str,
)
def test_what_cannot_be_done_is_said_in_one_line(
    run: Terminal, capsys: pytest.CaptureFixture[str], problem: BaseException | str, says: str
) -> None:
    run.function.problem = problem
    assert run("list") == 1
    assert says in capsys.readouterr().err


def test_the_functions_own_refusal_is_shown(run: Terminal, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("suspend --target 'sqs-send' --reason r") == 1
    assert "sqs-send has many targets" in capsys.readouterr().err


def test_the_help_says_how_a_target_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parser().parse_args(["suspend", "--help"])
    said = " ".join(capsys.readouterr().out.split())
    assert "a host and its port (api.example.com:8443)" in said
    assert "--reason" in said


def test_a_row_that_cannot_be_read_is_shown_and_discarded(run: Terminal) -> None:
    put_item(run.function.world.blocks, entry_key(LIST, "limit#1"), {"kind": "limit"})
    assert run("list") == 0
    assert run.lines[2:4] == ["Rows that this version cannot read:", "  limit#1"]
    assert run("discard limit#1 --by ann") == 0
    assert run.lines == ["Discarded: limit#1"]
    assert run("discard limit#1") == 0
    assert run.lines == ["There is no such row."]
