"""`delayer dead-letters`, with the function's own code behind the call."""

import json
import shlex
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

import pytest
from attrs import evolve, frozen
from botocore.exceptions import ClientError, NoCredentialsError, ReadTimeoutError

from delayer.dead_letters.commands import respond
from delayer.schedule.instants import SECOND
from delayer_client.operator.bulk import PATIENCE
from tests.client.cli.conftest import Cli, Ran
from tests.client.cli.operators.conftest import Lambda, Operating
from tests.looking import put_row
from tests.samples import a_dead_letter
from tests.unit.dead_letters.test_bulk import a_claim_of, bulk_of, letter_of, stored
from tests.world import World


def refused(code: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": "because"}}, "Invoke")


@frozen
class Terminal:
    """Runs the command, as a shell reads it."""

    delayer: Cli
    function: Lambda

    def __call__(self, text: str) -> Ran:
        return self.delayer("dead-letters", *shlex.split(text))


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def run(world: World, operating: Operating) -> Terminal:
    function = Lambda(lambda event: respond(evolve(bulk_of(world), budget=SECOND), event))
    return Terminal(operating(function), function)


def test_many_are_redriven_call_after_call(world: World, run: Terminal) -> None:
    stored(world, 200)
    done = run("redrive --stack mine --reason 'could not' --yes")
    assert done.out == "200 dead letters looked at, 200 matched; 200 schedules redriven, 0 left as they are.\n"
    assert done.status == 0
    assert set(run.function.names) == {"mine-operator-dead-letters"}
    assert len(run.function.events) == 4
    assert world.store.objects == {}
    assert world.delayer_queue.sent == 200
    assert {event["where"]["reason"] for event in run.function.events} == {"could not"}
    assert len({event["where"].get("until") for event in run.function.events[1:]}) == 1


def test_a_dry_run_shows_counts_and_examples_by_reason(world: World, run: Terminal) -> None:
    claimed, *_ = stored(world, 3, reason="HTTP 503 \x1b[2J")
    put_row(world.ledger, a_claim_of(claimed))
    lines = run("discard --prefix dead-lettered/ --dry-run").out.splitlines()
    assert lines[0] == "  3 stored because: HTTP 503 \ufffd[2J", "nothing in it commands the terminal"
    assert lines[1].strip() in world.store.objects
    assert lines[-2] == "3 dead letters looked at, 3 matched; 2 schedules would be discarded, 1 left as they are."
    assert lines[-1] == "  1 left: it is claimed: on its way; wait for its end"
    assert len(world.store.objects) == 3


@pytest.mark.parametrize(("of", "since"), [("--of", "--since"), ("--owner", "--from")])
def test_all_conditions_are_passed_on(run: Terminal, of: str, since: str) -> None:
    """In either spelling."""
    conditions = (
        f"--prefix failed/ --reason x {since} 2026-11-21T08:00:00Z --until 2026-11-21T09:00:00Z {of} o --group g "
        "--action sqs-send"
    )
    assert run(f"redrive {conditions} --per-second 200 --after failed/k --by eve --yes").status == 0
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
            "by": "eve",
        }
    ]


@pytest.mark.parametrize(
    "problem",
    ["Task timed out after 60.00 seconds", ReadTimeoutError(endpoint_url="x"), refused("ThrottlingException")],
)
def test_a_call_that_was_not_answered_is_repeated(world: World, run: Terminal, problem: Exception | str) -> None:
    stored(world, 200)
    run.function.failing = {2: problem}
    before = run.delayer.fake.now
    done = run("redrive --all --yes")
    assert done.status == 0
    assert run.function.events[1] == run.function.events[2]
    # What the call did that was not answered is in no answer.
    assert done.out.startswith("at least 200 dead letters looked at, 200 matched; 200 schedules redriven, 0 left")
    assert "A call was interrupted: " in done.err
    assert (run.delayer.fake.now - before).total_seconds() == 5


@pytest.mark.parametrize(
    ("failing", "says", "status"),
    [
        (lambda at: dict.fromkeys(range(at, at + PATIENCE), "Task timed out"), "to repeat it does no harm", 5),
        (lambda at: {at: KeyboardInterrupt()}, "Interrupted.", 130),
        (lambda at: {at: refused("ExpiredTokenException")}, "AWS refused the call (ExpiredTokenException): because", 4),
    ],
    ids=["too often", "Ctrl-C", "expired"],
)
def test_a_run_that_stopped_says_how_to_go_on(
    world: World, run: Terminal, failing: Callable[[int], Any], says: str, status: int
) -> None:
    """It may take a second: two hundred schedules go to their target."""
    schedules = stored(world, 200)
    run.function.failing = failing(3)
    command = "redrive --reason 'could not' --per-second 60 --yes"
    stopped = run(command)
    assert stopped.status == status
    assert says in stopped.err
    [more] = [line for line in stopped.err.splitlines() if line.startswith("To go on")]
    run.function.failing = {}
    assert run(f"{command} {more.partition(': ')[2]}").status == 0
    world.run_until(world.clock.now() + 60 * SECOND)
    assert len(world.target.reached) == len(schedules)


def counted_up_to(key: str, answer: Callable[[Mapping[str, Any]], Any]) -> Callable[[Mapping[str, Any]], Any]:
    """As a function answers whose time is up."""

    def some(event: Mapping[str, Any]) -> Any:
        found = answer(event)
        return {**found, "result": {**found["result"], "next": key}}

    return some


@pytest.mark.parametrize("command", ["redrive --all", "discard --all --dry-run"])
def test_a_count_that_stopped_changes_nothing_and_leaves_nothing_out(world: World, run: Terminal, command: str) -> None:
    """With --after, as if it had done something, the next run would leave out what was counted."""
    first, _ = stored(world, 2)
    run.function.answer = counted_up_to(letter_of(first).key, run.function.answer)
    run.function.failing = {2: KeyboardInterrupt()}
    stopped = run(command)
    assert stopped.status == 130
    assert "Stopped while counting: nothing was changed." in stopped.err
    assert "--after" not in stopped.err
    assert len(world.store.objects) == 2


def test_a_run_that_stopped_in_its_first_call_says_so(world: World, run: Terminal) -> None:
    """The call may have done something all the same."""
    stored(world, 2)
    run.function.failing = {1: KeyboardInterrupt()}
    stopped = run("redrive --all --yes")
    assert stopped.status == 130
    assert "Stopped: at least 0 dead letters looked at" in stopped.err
    assert "To go on, repeat the command: that does no harm." in stopped.err
    run.function.failing = {2: refused("AccessDeniedException")}
    assert "Stopped" not in run("redrive --all --yes").err, "nothing was begun"


def test_a_log_shows_how_far_a_long_run_has_come(world: World, run: Terminal) -> None:
    """A call takes 40 seconds at most, and no bar is shown in a pipe."""
    stored(world, 150)
    answer = run.function.answer

    def slowly(event: Mapping[str, Any]) -> Any:
        run.delayer.fake.advance(timedelta(seconds=40))
        return answer(event)

    run.function.answer = slowly
    done = run("redrive --all --yes --per-second 60")
    assert done.err.splitlines() == ["  Redrive: 60", "  Redrive: 120", "  Redrive: 150"]
    assert run("redrive --all --dry-run --json").err == ""


def test_one_by_its_key(world: World, run: Terminal) -> None:
    first, second = stored(world, 2)
    listed = run("list --prefix dead-lettered/").out.splitlines()
    assert [line.split()[-1] for line in listed] == ["KEY", *sorted(world.store.objects)]
    assert json.loads(run(f"show {letter_of(first).key}").out)["scheduleId"] == first.id
    assert run(f"redrive {letter_of(first).key}").status == 0
    assert run(f"discard {letter_of(second).key}").status == 0
    assert world.store.objects == {}


def test_a_key_is_whole_in_a_narrow_window(world: World, run: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    [one] = stored(world, 1)
    assert run("list").out.splitlines()[1].strip() == letter_of(one).key


def test_a_long_list_comes_whole_into_a_pipe(world: World, run: Terminal) -> None:
    for at in range(250):
        world.store.put(a_dead_letter(body=str(at)))
    listed = run("list").out
    assert [listed.count(key) for key in world.store.objects] == [1] * 250


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("redrive", "Give one of these: a KEY, or conditions"),
        ("discard --dry-run", "Give one of these: a KEY, or conditions"),
        ("redrive --all --group g", "Give one of these"),
        ("redrive key --group g", "Give one of these"),
        ("redrive key --dry-run", "not for one KEY"),
        ("redrive key --after k", "not for one KEY"),
        ("redrive --grup g", "No such option"),
        (
            "--owner ann redrive --all",
            "`--owner` before `redrive` means who calls. Whose it is about stands behind: "
            "`delayer dead-letters redrive --owner NAME`.",
        ),
        ("--owner ann discard --all --yes", "`delayer dead-letters discard --owner NAME`"),
        ("--owner '' discard --all --yes", "`--owner` before `discard` means who calls"),
        ("discard --of '' --reason X --yes", "`--of` is empty: give it a value, or leave it out."),
        ("discard --reason X --group '' --yes", "`--group` is empty: give it a value, or leave it out."),
        ("discard --reason X --until '' --yes", "`--until` is empty: give it a value, or leave it out."),
        ("discard '' --yes", "KEY is empty: give it a value, or leave it out."),
        ("show ''", "KEY is empty: give it a value."),
        ("list --prefix ''", "`--prefix` is empty"),
        ("--yes list", "`delayer dead-letters list` does not take --yes: leave it out."),
        ("--yes show failed/k", "`delayer dead-letters show` does not take --yes"),
        ("list --owner ann", "`delayer dead-letters list` does not take --owner"),
        ("show key --owner ann", "does not take --owner"),
    ],
)
def test_a_wrong_command_line_is_explained(run: Terminal, text: str, problem: str) -> None:
    done = run(text)
    assert done.status == 2
    assert problem in done.err
    assert run.function.events == []


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (refused("ResourceNotFoundException"), "no function delayer-operator-dead-letters in eu-west-1: check --stack"),
        (refused("AccessDeniedException"), "AWS refused the call (AccessDeniedException): because"),
        (NoCredentialsError(), "Unable to locate credentials"),
        ("Task timed out", "delayer-operator-dead-letters failed: Task timed out. To repeat it does no harm."),
    ],
    ids=str,
)
def test_what_cannot_be_done_is_said_in_one_line(run: Terminal, error: Exception | str, says: str) -> None:
    run.function.failing = {1: error}
    done = run("list")
    assert done.status > 0
    assert says in done.err


def test_the_functions_own_refusal_is_shown(run: Terminal) -> None:
    done = run("redrive --all --yes --per-second 5")
    assert done.status == 1
    assert "perSecond" in done.err


def test_what_is_said_to_the_group_is_meant_for_its_commands(world: World, run: Terminal) -> None:
    """So `make dead-letters` asks nothing."""
    stored(world, 2)
    assert run("redrive --all").status == 2
    assert run("--yes redrive --all").status == 0
    assert world.store.objects == {}


def test_the_help_says_what_it_needs(run: Terminal) -> None:
    assert "lambda:InvokeFunction" in run("--help").out
    shown = run("redrive --help").out
    for option in ("--dry-run", "--reason", "--per-second", "--after", "--owner", "--group", "--until", "--from"):
        assert option in shown
