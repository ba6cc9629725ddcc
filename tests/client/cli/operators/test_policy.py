"""`delayer policy`, with the function's own code behind the call."""

import json
from pathlib import Path

import pytest
from attrs import frozen
from botocore.exceptions import ClientError

from delayer.owners.model import RULES
from delayer.schedule.instants import SECOND
from delayer_client.cli.commands.operators.policy import AS_FLAG
from tests.client.cli.conftest import Cli, Ran
from tests.client.cli.operators.conftest import Lambda, Operating
from tests.unit.owners.test_commands import SCHEDULE, commands_of, ok
from tests.world import World

POLICY = '{"hosts": ["x.example"]}'


@frozen
class Terminal:
    """Runs the command."""

    delayer: Cli
    function: Lambda
    world: World

    def __call__(self, *words: str) -> Ran:
        self.world.clock.move(SECOND)
        return self.delayer("policy", *words)

    def kept(self, owner: str = "") -> object:
        """The policy that counts for it alone."""
        return commands_of(self.world)({"command": "show", "owner": owner})["result"]["policy"]


@pytest.fixture
def run(operating: Operating) -> Terminal:
    world = World()
    function = Lambda(lambda event: commands_of(world)(event))
    return Terminal(operating(function), function, world)


@pytest.fixture
def body(tmp_path: Path) -> str:
    written = tmp_path / "body.json"
    written.write_text(SCHEDULE)
    return str(written)


def test_a_policy_is_set_tried_and_removed(run: Terminal, body: str) -> None:
    done = run("set", "a", "--policy", POLICY, "--stack", "s", "--by", "eve")
    assert (done.status, run.function.names[-1]) == (0, "s-operator-owner-policy")
    assert json.loads(done.out)["by"] == "eve"
    revision = str(json.loads(done.out)["revision"])
    tried = run("try", "a", "--schedule", f"@{body}")
    assert tried.status == 1
    assert "Not allowed: hosts." in tried.err
    assert run("try", "--schedule", f"@{body}").status == 0
    assert "x.example" in run("list").out
    assert run("show", "a").status == 0
    assert "Nobody can be asked here" in run("remove", "a").err
    assert "has the revision" in run("remove", "a", "--revision", "1").err
    assert run("remove", "a", "--revision", revision).status == 0
    assert run.kept("a") is None


def test_what_make_owner_policy_took_is_taken(run: Terminal, body: str, tmp_path: Path) -> None:
    """Its spellings: an option for the owner, a document behind --json, a file for the schedule that is tried."""
    assert run("set", "--owner", "a", "--json", POLICY).status == 0
    assert run.kept("a") == json.loads(POLICY)
    (tmp_path / "policy.json").write_text('{"series": 3}')
    assert run("set", "--owner", "b", "--file", str(tmp_path / "policy.json")).status == 0
    assert run.kept("b") == {"series": 3}
    assert run("try", "--owner", "a", body).status == 1
    assert run("try", body).status == 0
    assert run("try", body, '--json={"hosts": []}').status == 1
    assert [one["policy"] for one in run("show", "a", "--json").objects] == [json.loads(POLICY)], "the flag of all"
    assert run("set", "c", "--policy", POLICY, "--json").objects[0]["owner"] == "c", "and so here, at the end"
    assert run("set", "--json", "--of", "d", "--policy", POLICY).objects[0]["owner"] == "d", "or before another flag"


@pytest.mark.parametrize("spelling", [("--json", "policy.json"), ("--json=policy.json",), ("--json", "@policy.json")])
def test_a_word_behind_json_is_never_an_owner(run: Terminal, spelling: tuple[str, ...], body: str) -> None:
    """It was meant as a policy, and would have one set, or tried, for an owner of that name."""
    ok(run.world, command="set", policy={"hosts": []}, over=0)
    for words in (("set",), ("try", "--schedule", f"@{body}"), ("set", "--policy", "{}"), ("set", "--file", body)):
        done = run(*words, *spelling)
        assert done.status == 2, words
        assert "--json is not JSON" in done.err or "--json: the file" in done.err or "policy once" in done.err
    assert run.kept("policy.json") is None
    assert {event["command"] for event in run.function.events} == set()


def test_of_two_policies_none_is_taken(run: Terminal) -> None:
    done = run("set", "a", "--policy", POLICY, "--json", '{"series": 3}')
    assert done.status == 2
    assert "Give the policy once: --policy or --json, not both." in done.err


def test_a_policy_from_standard_input(run: Terminal) -> None:
    assert run.delayer("policy", "set", "a", "--file", "-", input=POLICY).status == 0
    assert run.kept("a") == json.loads(POLICY)


def test_a_revision_said_to_the_group_changes_no_other(run: Terminal) -> None:
    """So `make owner-policy` asks nothing, and yet loses no change of another operator."""
    assert "Nobody can be asked here" in run("set", "--policy", POLICY).err
    assert run("--revision", "0", "set", "--policy", POLICY).status == 0
    refused = run("--revision", "0", "set", "--policy", "{}")
    assert refused.status == 1
    assert "has the revision" in refused.err
    assert run.kept() == json.loads(POLICY)
    revision = str(json.loads(run("show").out)["revision"])
    assert run("--revision", "0", "remove", "--revision", revision).status == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("set",), "Give the policy"),
        (("set", "--policy", "{", "--yes"), "not JSON"),
        (("set", "--file", "/no/such/file"), "cannot be read"),
        (("set", "--policy", "{}", "--file", "f"), "not both"),
        (("list", "--owner", "a"), "`delayer policy list` does not take --owner"),
        (
            ("--owner", "a", "remove", "--yes"),
            "Whose it is about stands behind: `delayer policy remove --owner",
        ),
        (("remove", "", "--yes"), "OWNER is empty: give it a value, or leave it out."),
        (("remove", "--of", "", "--yes"), "`--of` is empty: give it a value, or leave it out."),
        (("set", "", "--policy", POLICY, "--yes"), "OWNER is empty"),
        (("try", "--of", "", "--schedule", SCHEDULE), "`--of` is empty"),
        (("--revision", "3", "list"), "`delayer policy list` does not take --revision: leave it out."),
        (("--revision", "0", "show", "a"), "`delayer policy show` does not take --revision"),
        (("try", "--json", "schedule.json", "--of", "team"), f"a file. {AS_FLAG}"),
        (("try", "--json", "team", "--schedule", SCHEDULE), AS_FLAG),
        (("set", "--json", "team", "--yes"), AS_FLAG),
        (("set", "a", "--owner", "b", "--policy", "{}"), "Two owners are named, a and b."),
        (("set", "a", "--policy", '{"hosts": ["*"]}'), "matches too much"),
        (("try",), "Give the body of a POST"),
        (("try", "/no/such/file"), "cannot be read"),
    ],
    ids=str,
)
def test_it_says_what_is_wrong(words: tuple[str, ...], said: str, run: Terminal) -> None:
    done = run(*words)
    assert done.status in (1, 2)
    assert said in done.err
    assert run.kept() is None


def test_the_list_has_the_default_and_is_whole(run: Terminal) -> None:
    ok(run.world, command="set", policy={"series": 9}, over=0, by="eve")
    for number in range(130):
        ok(run.world, command="set", owner=f"owner-{number:03d}", policy={}, over=0)
    lines = run("list").out.splitlines()
    assert lines[0].split() == ["OWNER", "REVISION", "CHANGED", "BY", "POLICY"]
    assert lines[1].rstrip().endswith('{"series": 9}')
    owners = [f"owner-{number:03d}" for number in range(130)]
    assert [line.split()[0] for line in lines[1:]] == ["(default)", *owners]
    assert len(run.function.events) == 2, "a call for each page"
    default, first, *_ = found = run("list", "--json").objects
    assert [one["owner"] for one in found] == [None, *owners]
    assert (default["policy"], first["policy"]) == ({"series": 9}, {})


def test_the_list_says_who_has_set_what_and_when(run: Terminal) -> None:
    made = json.loads(run("set", "a", "--policy", POLICY, "--by", "eve").out)
    _, line = run("list").out.splitlines()
    assert line.split()[:4] == ["a", str(made["revision"]), made["changedAt"], "eve"]


def test_a_stack_that_is_not_there(run: Terminal) -> None:
    run.function.failing = {1: ClientError({"Error": {"Code": "ResourceNotFoundException", "Message": "x"}}, "Invoke")}
    done = run("list")
    assert done.status == 3
    assert "check --stack" in done.err


def test_what_an_owner_is_called_commands_no_terminal(run: Terminal) -> None:
    ok(run.world, command="set", owner="a\u009b2J", policy={}, over=0)
    assert "\u009b" not in run("list").out + run("show", "a\u009b2J").out


def test_the_help_names_each_rule(run: Terminal) -> None:
    text = " ".join(run("set", "--help").out.split())
    assert [rule for rule in RULES if rule not in text] == []


@pytest.mark.parametrize("name", ["show", "set", "remove"])
def test_the_help_says_whose_policy_it_is(run: Terminal, name: str) -> None:
    text = " ".join(run(name, "--help").out.replace("│", " ").split())
    assert "Whose, in place of OWNER." in text
    assert "those of all" not in text


def test_a_loop_over_the_list_never_removes_the_default(run: Terminal) -> None:
    ok(run.world, command="set", policy={"series": 9}, over=0)
    ok(run.world, command="set", owner="a", policy={}, over=0)
    owners = [json.dumps(one["owner"]).strip('"') for one in run("list", "--json").objects]  # as `jq -r .owner`
    assert owners == ["null", "a"]
    for one in owners:
        run("remove", one, "--yes")
    assert (run.kept(), run.kept("a")) == ({"series": 9}, None)
