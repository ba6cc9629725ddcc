"""`delayer flow`, with the function's own code behind the call."""

import shlex

import pytest
from attrs import frozen
from botocore.exceptions import ClientError, EndpointConnectionError, NoCredentialsError

from delayer.engines.store.model import entry_key
from delayer.flow.commands import OperateFlow
from delayer.flow.repository import LIST
from delayer.flow.rules.block import Party, opened
from delayer.wiring.build import build
from tests.client.cli.conftest import Cli, Ran
from tests.client.cli.operators.conftest import Lambda, Operating
from tests.looking import put_item
from tests.world import START, World

OPEN = opened(Party(owner="ann", target="http-request api.example.com"), START, "HTTP 503 \x1b[2J")


@frozen
class Terminal:
    """Runs the command, as a shell reads it."""

    delayer: Cli
    function: Lambda
    world: World

    def ran(self, text: str) -> Ran:
        return self.delayer("flow", *shlex.split(text))

    def __call__(self, text: str) -> list[str]:
        done = self.ran(text)
        assert done.status == 0, done.err
        return [line.rstrip() for line in done.out.splitlines()]


@pytest.fixture
def run(operating: Operating) -> Terminal:
    world = World()
    function = Lambda(lambda event: build(OperateFlow, world.ports("operator-flow"))(event))
    return Terminal(operating(function), function, world)


def test_without_anything_that_waits_it_says_so(run: Terminal) -> None:
    lines = run("list --stack mine")
    assert run.function.names == ["mine-operator-flow"]
    assert lines[:2] == ["Nothing is suspended.", "No circuit is open."]
    assert lines[2].startswith("In the delayer queue are about 0 delayed messages and 0 that are ready")


@pytest.mark.parametrize("of", ["--of", "--owner"])
def test_from_suspension_to_release(run: Terminal, of: str) -> None:
    lines = run(f"suspend {of} ann --target api.example.com --reason 'until noon' --by eve")
    assert lines[0] == "Suspended:"
    assert lines[1].split() == ["OWNER", "TARGET", "SINCE", "BY", "REASON"]
    assert lines[2].split()[:3] == ["ann", "http-request", "api.example.com"]
    assert lines[2].endswith("eve  until noon")
    lines = run(f"suspend {of} ann --target api.example.com --reason 'until noon'")
    assert lines[0] == "It was suspended before, with this reason:"
    run("suspend --target api.example.com --reason moved")
    assert [line.split()[0] for line in run("list")[:4]] == ["Suspensions:", "OWNER", "(all)", "ann"]
    lines = run(f"release {of} ann --target 'http-request api.example.com'")
    assert [line.split()[0] for line in lines] == ["Released:", "OWNER", "ann", "Still", "OWNER", "(all)"]
    assert run(f"release {of} ann --target api.example.com")[0] == "There is no such suspension."


def test_a_circuit_is_listed_and_closed(run: Terminal) -> None:
    run.world.blocks.change(OPEN)
    lines = run("list")
    assert lines[1] == "Circuits:"
    assert lines[2].split() == ["OWNER", "TARGET", "STATE", "SINCE", "UNTIL", "PAUSES", "REASON"]
    assert lines[2].index("STATE") == lines[3].index("open")
    assert lines[3].split()[:4] == ["ann", "http-request", "api.example.com", "open"]
    assert lines[3].endswith("1       HTTP 503 \ufffd[2J"), "nothing in it commands the terminal"
    assert run("close --target api.example.com")[0] == "Closed:"
    assert run("close --target api.example.com") == ["There is no such circuit."]


@pytest.mark.parametrize("columns", ["40", "80"])
def test_a_narrow_window_loses_nothing(run: Terminal, monkeypatch: pytest.MonkeyPatch, columns: str) -> None:
    """Targets and owners are copied, reasons are read."""
    monkeypatch.setenv("COLUMNS", columns)
    owner, reason = "arn:aws:iam::123456789012:user/reports", "a loop in your code: write to us at once"
    run(f"suspend --of {owner} --target api.example.com:8443 --reason '{reason}' --by eve-the-operator")
    _, titles, *lines = run("list")
    lines = lines[: lines.index("No circuit is open.")]
    assert max(map(len, lines)) <= int(columns)
    starts = [titles.index(title) for title in titles.split()]
    cells = ["".join(line[begin:end] for line in lines) for begin, end in zip(starts, [*starts[1:], None], strict=True)]
    found = ["".join(cell.split()) for cell in cells]
    assert found[:2] == [owner, "http-requestapi.example.com:8443"]
    assert found[3:] == ["eve-the-operator", "".join(reason.split())]


def test_a_limit_is_set_listed_and_removed(run: Terminal) -> None:
    lines = run("limit --target api.example.com --rate 10/s --by eve")
    assert lines[0] == "Limited:"
    assert lines[1].split() == ["OWNER", "TARGET", "RATE", "BOOKED", "SINCE", "BY"]
    assert lines[2].split()[:6] == ["(all)", "http-request", "api.example.com", "10/s", "0", "s"]
    assert run("limit --target api.example.com --rate 10/s")[0] == "It was limited so before:"
    assert "Limits:" in run("list")
    assert run("unlimit --target api.example.com")[0] == "Removed:"
    assert run("unlimit --target api.example.com") == ["There is no such limit."]
    assert run("limit --of ann --connection crm --rate 100/h")[2].split()[:3] == ["ann", "connection", "crm"]
    assert run("unlimit --of ann --connection crm")[0] == "Removed:"


def test_a_limit_of_concurrency_is_set_alone_or_with_a_rate(run: Terminal) -> None:
    lines = run("limit --target api.example.com --concurrency 5 --by eve")
    assert lines[2].split()[:4] == ["(all)", "http-request", "api.example.com", "5"]
    lines = run("limit --target api.example.com --concurrency 5 --rate 10/s")
    assert lines[2].split()[:7] == ["(all)", "http-request", "api.example.com", "10/s", "0", "s", "5"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("suspend --of ann", "Missing option '--reason'"),
        ("suspend --reason r", "Say whom it is about"),
        ("release", "Say whom it is about"),
        (
            "--owner ann release --target t",
            "`--owner` before `release` means who calls. Whose it is about stands behind: "
            "`delayer flow release --owner NAME`.",
        ),
        ("suspend --of '' --target t --reason r", "`--of` is empty: give it a value, or leave it out."),
        ("suspend --owner '' --target t --reason r", "`--of` is empty"),
        ("suspend --of ann --target '' --reason r", "`--target` is empty: give it a value, or leave it out."),
        ("suspend --of ann --reason ''", "`--reason` is empty: give it a value."),
        ("release --of ann --target ''", "`--target` is empty"),
        ("limit --of ann --connection '' --rate 1/s", "`--connection` is empty: give it a value, or leave it out."),
        ("limit --of ann --rate 1/s --concurrency ''", "`--concurrency` is empty: give it a value, or leave it out."),
        ("discard ''", "BLOCK is empty: give it a value."),
        ("--stack '' list", "`--stack` is empty: give it a value, or leave it out."),
        ("list --by-name --url ''", "`--url` is empty: give it a value, or leave it out."),
        ("list --owner ann", "`delayer flow list` does not take --owner"),
        ("discard 'limit#1' --owner ann", "does not take --owner"),
        ("--token t list", "does not take --token"),
        ("list --by-name --url https://abc.example.com", "not both"),
        ("close --by eve", "Say whom it is about"),
        ("limit --of ann", "Give --rate, such as 10/s, --concurrency, or both"),
        ("limit --rate 10/s", "Say whom it is about"),
        ("limit --of ann --target t --connection c --rate 1/s", "Give --target or --connection, not both"),
    ],
)
def test_a_wrong_command_line_is_explained(run: Terminal, text: str, problem: str) -> None:
    done = run.ran(text)
    assert done.status == 2
    assert problem in done.err
    assert run.function.names == []


@pytest.mark.parametrize(
    ("problem", "says"),
    [
        (ClientError({"Error": {"Code": "ResourceNotFoundException"}}, "Invoke"), "no function delayer-operator-flow"),
        (ClientError({"Error": {"Code": "AccessDeniedException"}}, "Invoke"), "AWS refused the call"),
        (NoCredentialsError(), "Unable to locate credentials"),
        ("Task timed out", "Task timed out. To repeat it does no harm."),
        (EndpointConnectionError(endpoint_url="x"), "The call failed: Could not connect to the endpoint URL"),
    ],
    ids=str,
)
def test_what_cannot_be_done_is_said_in_one_line(run: Terminal, problem: BaseException | str, says: str) -> None:
    run.function.failing = {1: problem}
    done = run.ran("list")
    assert done.status > 0
    assert says in done.err


def test_the_functions_own_refusal_is_shown(run: Terminal) -> None:
    done = run.ran("suspend --target 'sqs-send' --reason r")
    assert done.status == 1
    assert "sqs-send has many targets" in done.err


def test_the_help_says_how_a_target_is_written(run: Terminal) -> None:
    said = " ".join(run.ran("suspend --help").out.replace("│", " ").split())
    assert "a host and its port (api.example.com:8443)" in said
    assert "--reason" in said


def test_a_row_that_cannot_be_read_is_shown_and_discarded(run: Terminal) -> None:
    put_item(run.world.blocks, entry_key(LIST, "limit#1"), {"kind": "limit"})
    assert run("list")[2:4] == ["Rows that this version cannot read:", "  limit#1"]
    assert run("discard limit#1 --by ann") == ["Discarded: limit#1"]
    assert run("discard limit#1") == ["There is no such row."]
