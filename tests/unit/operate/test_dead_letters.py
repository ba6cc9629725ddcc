"""`make dead-letters`, with the function's own code behind the call."""

import io
import json
import shlex
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from attrs import define, evolve, field
from botocore.exceptions import ClientError, NoCredentialsError, ReadTimeoutError

from delayer.core.schedule.instants import SECOND
from delayer.use_cases.recovery.commands import respond
from delayer_client.operator.bulk import PATIENCE
from delayer_client.operator.credentials import ONCE
from operate.dead_letters import main, parser
from tests.looking import put_row
from tests.samples import a_dead_letter
from tests.unit.use_cases.recovery.test_bulk import a_claim_of, bulk_of, letter_of, stored
from tests.world import World


def refused(code: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": "because"}}, "Invoke")


@define
class Lambda:
    """Answers as boto3 does. `failing` says what goes wrong with which call."""

    world: World
    failing: dict[int, BaseException | str] = field(factory=dict)
    events: list[dict[str, Any]] = field(factory=list)
    name: str = ""
    region_name: str = "eu-west-1"

    @property
    def meta(self) -> "Lambda":
        return self

    def invoke(self, FunctionName: str, Payload: bytes) -> dict[str, Any]:  # noqa: N803 - boto3's names
        self.name = FunctionName
        self.events.append(json.loads(Payload))
        problem = self.failing.get(len(self.events))
        if isinstance(problem, BaseException):
            raise problem
        if problem:
            return {"FunctionError": "Unhandled", "Payload": io.BytesIO(json.dumps({"errorMessage": problem}).encode())}
        answer = respond(evolve(bulk_of(self.world), budget=SECOND), self.events[-1])
        return {"Payload": io.BytesIO(json.dumps(answer).encode())}


@define
class Terminal:
    """Runs the program and keeps what it says."""

    function: Lambda
    lines: list[str] = field(factory=list)
    slept: list[float] = field(factory=list)

    def __call__(self, text: str) -> int:
        def make(service: str, config: object) -> Lambda:
            assert (service, config) == ("lambda", ONCE)
            return self.function

        return main(shlex.split(text), self.lines.append, make, self.slept.append)

    @property
    def last(self) -> str:
        return self.lines[-1]


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def run(world: World) -> Terminal:
    return Terminal(Lambda(world))


def test_many_are_redriven_call_after_call_with_progress(world: World, run: Terminal) -> None:
    stored(world, 200)
    assert run("--stack mine redrive --reason 'could not'") == 0
    assert run.function.name == "mine-operator-dead-letters"
    assert len(run.function.events) == 4
    assert run.lines[0].endswith("0 left as they are")
    assert run.last == "Done: 200 looked at, 200 matched, 200 redriven, 0 left as they are."
    assert world.store.objects == {}
    assert world.delayer_queue.sent == 200
    assert {event["where"]["reason"] for event in run.function.events} == {"could not"}
    assert len({event["where"].get("until") for event in run.function.events[1:]}) == 1


def test_a_dry_run_shows_counts_and_examples_by_reason(world: World, run: Terminal) -> None:
    claimed, *_ = stored(world, 3, reason="HTTP 503 \x1b[2J")
    put_row(world.ledger, a_claim_of(claimed))
    assert run("discard --prefix dead-lettered/ --dry-run") == 0
    assert run.lines[0] == "Done: 3 looked at, 3 matched, 2 would be discarded, 1 left as they are."
    assert run.lines[1] == "  3 stored because: HTTP 503 ?[2J", "nothing in it commands the terminal"
    assert run.lines[2].strip() in world.store.objects
    assert run.last == "  1 left: it is claimed: on its way; wait for its end"
    assert len(world.store.objects) == 3


def test_all_conditions_are_passed_on(run: Terminal) -> None:
    conditions = (
        "--prefix failed/ --reason x --from 2026-11-21T08:00:00Z --until 2026-11-21T09:00:00Z --owner o --group g "
        "--action sqs-send"
    )
    assert run(f"redrive {conditions} --per-second 200 --after failed/k") == 0
    assert run.function.events == [
        {
            "command": "redrive",
            "where": {
                "prefix": "failed/",
                "reason": "x",
                "from": "2026-11-21T08:00:00Z",
                "until": "2026-11-21T09:00:00Z",
                "owner": "o",
                "group": "g",
                "action": "sqs-send",
            },
            "dryRun": False,
            "perSecond": 200,
            "after": "failed/k",
        }
    ]


@pytest.mark.parametrize(
    "problem",
    ["Task timed out after 60.00 seconds", ReadTimeoutError(endpoint_url="x"), refused("ThrottlingException")],
)
def test_a_call_that_was_not_answered_is_repeated(world: World, run: Terminal, problem: Exception | str) -> None:
    stored(world, 200)
    run.function.failing = {2: problem}
    assert run("redrive --all") == 0
    assert run.function.events[1] == run.function.events[2]
    # What the call did that was not answered is in no answer.
    assert run.last == "Done: at least 200 looked at, 200 matched, 200 redriven, 0 left as they are."
    assert run.slept == [5]


@pytest.mark.parametrize(
    ("failing", "says"),
    [
        (lambda at: dict.fromkeys(range(at, at + PATIENCE), "Task timed out"), ""),
        (lambda at: {at: KeyboardInterrupt()}, ""),
        (lambda at: {at: refused("ExpiredTokenException")}, "AWS refused the call (ExpiredTokenException): because"),
    ],
    ids=["too often", "Ctrl-C", "expired"],
)
def test_a_run_that_stopped_says_how_to_go_on(
    world: World, run: Terminal, capsys: pytest.CaptureFixture[str], failing: Callable[[int], Any], says: str
) -> None:
    schedules = stored(world, 200)
    run.function.failing = failing(3)
    assert run("redrive --reason 'could not' --per-second 60") == 1
    assert says in capsys.readouterr().err
    words = shlex.split(run.last)
    assert words[:4] == ["To", "go", "on:", "make"]
    run.function.failing = {}
    assert run(words[-1].removeprefix("ARGS=")) == 0
    world.run_until(world.clock.now() + 60 * SECOND)
    assert len(world.target.reached) == len(schedules)


def test_one_by_its_key(world: World, run: Terminal) -> None:
    first, second = stored(world, 2)
    assert run("list --prefix dead-lettered/") == 0
    assert [line.split()[1] for line in run.lines] == sorted(world.store.objects)
    assert run(f"show {letter_of(first).key}") == 0
    assert json.loads(run.last)["scheduleId"] == first.id
    assert run(f"redrive {letter_of(first).key}") == 0
    assert run(f"discard {letter_of(second).key}") == 0
    assert world.store.objects == {}


def test_a_long_list_comes_whole(world: World, run: Terminal) -> None:
    for at in range(250):
        world.store.put(a_dead_letter(body=str(at)))
    assert run("list") == 0
    assert len(run.lines) == 250


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("redrive", "give a KEY, or conditions"),
        ("discard --dry-run", "give a KEY, or conditions"),
        ("redrive --all --group g", "only one of these"),
        ("redrive key --group g", "only one of these"),
        ("redrive key --dry-run", "not for one KEY"),
        ("redrive --grup g", "unrecognized arguments"),
        ("", "required: COMMAND"),
    ],
)
def test_a_wrong_command_line_is_explained(
    run: Terminal, capsys: pytest.CaptureFixture[str], text: str, problem: str
) -> None:
    with pytest.raises(SystemExit) as caught:
        run(text)
    assert caught.value.code == 2
    assert problem in capsys.readouterr().err
    assert run.function.events == []


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (refused("ResourceNotFoundException"), "no function delayer-operator-dead-letters in eu-west-1: check --stack"),
        (refused("AccessDeniedException"), "AWS refused the call (AccessDeniedException): because"),
        (NoCredentialsError(), "Unable to locate credentials"),
        ("Task timed out", "The call failed: delayer-operator-dead-letters failed: Task timed out"),
    ],
    ids=str,
)
def test_what_cannot_be_done_is_said_in_one_line(
    run: Terminal, capsys: pytest.CaptureFixture[str], error: Exception | str, says: str
) -> None:
    run.function.failing = {1: error}
    assert run("list") == 1
    assert says in capsys.readouterr().err


def test_the_functions_own_refusal_is_shown(run: Terminal, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("redrive --from yesterday") == 1
    assert "from: not an RFC 3339 date-time" in capsys.readouterr().err


def test_the_help_says_what_it_needs(capsys: pytest.CaptureFixture[str]) -> None:
    def shown(arguments: Sequence[str]) -> str:
        with pytest.raises(SystemExit):
            parser().parse_args([*arguments, "--help"])
        return capsys.readouterr().out

    assert "lambda:InvokeFunction" in shown([]).replace("\n", " ")
    for option in ("--dry-run", "--reason", "--per-second", "--after", "--owner", "--group", "--until"):
        assert option in shown(["redrive"])
