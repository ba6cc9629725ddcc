"""The operator's commands on owner policies, and the program that sends them."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from botocore.exceptions import ClientError

from delayer.core.owners.owner_policy import OwnerPolicy, StoredOwnerPolicy
from delayer.core.schedule.instants import SECOND
from delayer.use_cases.owners.commands import OwnerPolicyCommands
from delayer.wiring import use_cases
from operate.owner_policy import main, parser
from tests.looking import all_rows
from tests.world import World

SCHEDULE = json.dumps({"delaySeconds": 60, "action": {"type": "http-request", "url": "https://api.example.com/"}})
SERIES = json.dumps({"repeat": {"every": "PT1H"}, "action": {"type": "http-request", "url": "https://x.example/"}})


def commands_of(world: World) -> OwnerPolicyCommands:
    return use_cases.owner_policy_commands(world.ports("operator-owner-policy"))


def ok(world: World, **event: Any) -> Any:
    world.clock.move(SECOND)
    answer = commands_of(world)(event)
    assert answer["ok"], answer
    return answer["result"]


def error(world: World, **event: Any) -> str:
    answer = commands_of(world)(event)
    assert not answer["ok"]
    text: str = answer["error"]
    return text


def test_a_policy_is_set_shown_changed_and_removed() -> None:
    world = World()
    assert ok(world, command="show") == {"owner": "", "policy": None, "revision": 0, "counts": {}}
    first = ok(world, command="set", owner="a", policy={"hosts": ["*.example.com"]}, over=0, by="alice")
    assert (first["policy"], first["by"]) == ({"hosts": ["*.example.com"]}, "alice")
    ok(world, command="set", policy={"payloadBytes": 5, "hosts": []}, over=0)
    shown = ok(world, command="show", owner="a")
    assert shown["counts"] == {"payloadBytes": 5, "hosts": ["*.example.com"]}
    second = ok(world, command="set", owner="a", policy={"hosts": None}, over=first["revision"])
    assert second["counts"] == {"payloadBytes": 5}
    assert second["revision"] > first["revision"]
    listed = ok(world, command="list")
    assert (listed["default"]["policy"], [one["owner"] for one in listed["owners"]]) == (
        {"payloadBytes": 5, "hosts": []},
        ["a"],
    )
    assert ok(world, command="remove", owner="a", over=second["revision"])["counts"] == {"payloadBytes": 5, "hosts": []}


def test_the_policy_of_a_longer_name_can_be_changed_and_removed() -> None:
    """It may be older than the limit of 991 bytes; a new one is for names within it."""
    world, owner = World(), "\u20ac" * 341
    assert error(world, command="set", owner=owner, policy={}, over=0) == (
        "owner: a new policy is for a name of up to 991 bytes"
    )
    stored = StoredOwnerPolicy(policy=OwnerPolicy(rules={"series": 1}), revision=1, changed_at=0, by="")
    assert world.owner_policy_rows.write_owner_policy(owner, stored, 0)
    assert ok(world, command="show", owner=owner)["policy"] == {"series": 1}
    second = ok(world, command="set", owner=owner, policy={"series": 2}, over=1)
    assert not ok(world, command="try", owner=owner, schedule=SCHEDULE, policy={"hosts": []})["allowed"]
    assert ok(world, command="remove", owner=owner, over=second["revision"])["policy"] is None


def test_no_change_is_lost() -> None:
    """Of two operators who begin with the same revision, the second is told."""
    world = World()
    first = ok(world, command="set", owner="a", policy={}, over=0)["revision"]
    assert f"has the revision {first} by now" in error(world, command="set", owner="a", policy={}, over=0)
    second = ok(world, command="set", owner="a", policy={"series": 1}, over=first)["revision"]
    assert str(second) in error(world, command="remove", owner="a", over=first)
    ok(world, command="remove", owner="a", over=second)
    assert "is not there (any more)" in error(world, command="set", owner="a", policy={}, over=second)
    third = ok(world, command="set", owner="a", policy={}, over=0)["revision"]
    assert third > second, "a revision is never used twice"


def test_a_list_has_pages() -> None:
    world = World()
    for number in range(130):
        ok(world, command="set", owner=f"owner-{number:03d}", policy={}, over=0)
    first = ok(world, command="list")
    rest = ok(world, command="list", after=first["next"])
    assert [one["owner"] for one in first["owners"] + rest["owners"]] == [f"owner-{at:03d}" for at in range(130)]
    assert "next" not in rest


def test_a_schedule_is_tried() -> None:
    world = World()
    ok(world, command="set", owner="a", policy={"hosts": ["x.example"]}, over=0)
    tried = ok(world, command="try", owner="a", schedule=SCHEDULE)
    assert (tried["allowed"], tried["rule"], tried["field"]) == (False, "hosts", "action.url")
    assert tried["reason"] == "the owner policy forbids it, by its rule hosts: api.example.com"
    assert ok(world, command="try", owner="b", schedule=SCHEDULE)["allowed"]
    assert ok(world, command="try", owner="a", schedule=SERIES)["allowed"]
    assert ok(world, command="try", owner="a", schedule=SCHEDULE, policy={"hosts": ["*.example.com"]})["allowed"]
    assert not ok(world, command="try", schedule=SCHEDULE, policy={"aheadSeconds": 59})["allowed"]
    assert all_rows(world.owner_policy_rows).keys() == {"a"}, "nothing was set"


def test_a_try_says_which_rules_it_cannot_try() -> None:
    counts = {"createsPerMinute": 1, "liveSchedules": 1, "series": 0}
    tried = ok(World(), command="try", schedule=SERIES, policy={**counts, "payloadBytes": 5})
    assert (tried["allowed"], tried["notTried"]) == (True, list(counts))
    assert "notTried" not in ok(World(), command="try", schedule=SERIES, policy={"payloadBytes": 5})


def test_it_is_a_series_if_it_has_a_rule_and_not_if_its_payload_speaks_of_one() -> None:
    payload = json.dumps({**json.loads(SCHEDULE), "payload": {"repeat": "twice"}})
    tried = ok(World(), command="try", schedule=payload, policy={"aheadSeconds": 59})
    assert tried["rule"] == "aheadSeconds"
    escaped = SERIES.replace('"repeat"', '"\\u0072epeat"')
    assert ok(World(), command="try", schedule=escaped)["allowed"]


def test_the_first_time_of_a_series_counts_as_it_does_when_it_is_created() -> None:
    tried = ok(World(), command="try", schedule=SERIES, policy={"aheadSeconds": 5})
    assert (tried["allowed"], tried["rule"]) == (False, "aheadSeconds")
    assert ok(World(), command="try", schedule=SERIES, policy={"aheadSeconds": 3600})["allowed"]


@pytest.mark.parametrize(
    ("event", "said"),
    [
        ({}, 'give {"command"'),
        ({"command": "drop"}, 'give {"command"'),
        ({"command": "set", "policy": {}}, "over: the revision that is shown"),
        ({"command": "set", "policy": {}, "over": True}, "over: the revision"),
        ({"command": "set", "policy": {}, "over": -1}, "over: the revision"),
        ({"command": "set", "policy": {"limits": {}}, "over": 0}, "limits: reserved"),
        ({"command": "set", "over": 0}, "a policy is a JSON object"),
        ({"command": "show", "owner": 5}, "owner: a text"),
        ({"command": "show", "owner": "x" * 1_025}, "owner: a text of up to 1,024 bytes"),
        ({"command": "set", "policy": {}, "over": 0, "by": "\x1b"}, "by: at most"),
        ({"command": "try"}, "schedule: the body of a POST"),
        ({"command": "try", "schedule": "{"}, "not a schedule that the API would take"),
        ({"command": "try", "schedule": '{"action": {"type": "x"}}'}, "action.type: not allowed"),
        ({"command": "try", "schedule": '{"repeat": 5}'}, "not a schedule that the API would take"),
    ],
    ids=str,
)
def test_a_wrong_command_says_what_is_wrong(event: dict[str, Any], said: str) -> None:
    assert said in error(World(), **event)


def test_live_schedules_need_a_stack_that_counts_them() -> None:
    world = World()
    policy = {"liveSchedules": 5}
    ok(world, command="set", policy=policy, over=0)
    answer = evolve(commands_of(world), counts_live=False)({"command": "set", "policy": policy, "over": 1})
    assert "MaxLiveSchedules" in answer["error"]


# ------------------------------------------------------------ the program


class Lambda:
    """The function, behind boto3's client."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.name = ""
        self.raises: Exception | None = None
        self.region_name = "eu-west-1"
        self.meta = self

    def invoke(self, FunctionName: str, Payload: bytes) -> dict[str, Any]:  # noqa: N803 - boto3's names
        self.name = FunctionName
        if self.raises:
            raise self.raises
        self.world.clock.move(SECOND)
        answer = commands_of(self.world)(json.loads(Payload))
        return {"Payload": io.BytesIO(json.dumps(answer).encode())}


def run(function: Lambda, *words: str) -> tuple[int, list[str]]:
    lines: list[str] = []
    return main(words, lines.append, lambda service, config: function), lines


def test_the_program_does_what_the_function_does(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    function = Lambda(World())
    status, lines = run(function, "--stack", "s", "set", "--owner", "a", "--json", '{"hosts": ["x.example"]}')
    assert (status, function.name) == (0, "s-operator-owner-policy")
    revision = json.loads(lines[0])["revision"]
    body = tmp_path / "body.json"
    body.write_text(SCHEDULE)
    assert run(function, "try", "--owner", "a", str(body))[0] == 2
    assert run(function, "try", str(body))[0] == 0
    assert run(function, "list")[0] == run(function, "show", "--owner", "a")[0] == 0
    assert run(function, "remove", "--owner", "a")[0] == 1
    assert "has the revision" in capsys.readouterr().err
    assert run(function, "remove", "--owner", "a", "--revision", str(revision))[0] == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("set",), "give the policy"),
        (("set", "--json", "{"), "no JSON"),
        (("set", "--file", "/no/such/file"), "cannot be read"),
        (("set", "--json", '{"hosts": ["*"]}'), "matches too much"),
        (("try", "/no/such/file"), "cannot be read"),
    ],
    ids=str,
)
def test_the_program_says_what_is_wrong(words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(Lambda(World()), *words)[0] == 1
    assert said in capsys.readouterr().err


def test_a_stack_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    function = Lambda(World())
    function.raises = ClientError({"Error": {"Code": "ResourceNotFoundException", "Message": "x"}}, "Invoke")
    assert run(function, "list")[0] == 1
    assert "check --stack" in capsys.readouterr().err


def test_what_an_owner_is_called_commands_no_terminal() -> None:
    world = World()
    ok(world, command="set", owner="a\u009b2J", policy={}, over=0)
    assert "\u009b" not in "".join(run(Lambda(world), "list")[1])


def test_the_help_names_each_rule() -> None:
    from delayer.core.owners.owner_policy import RULES

    text = parser().format_help()
    assert [rule for rule in RULES if rule not in text] == []
