"""The operator's commands on owner policies."""

import json
from contextlib import nullcontext
from typing import Any

import pytest
from attrs import evolve

from delayer.owners.admission import WrongPolicy
from delayer.owners.commands import OwnerPolicyCommands
from delayer.owners.model import OwnerPolicy, StoredOwnerPolicy
from delayer.schedule.instants import SECOND
from delayer.wiring import use_cases
from tests.looking import all_rows
from tests.world import START, World

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


@pytest.mark.parametrize(
    ("given", "missing"),
    [({"precision": "relaxed"}, "relaxed"), ({"when": {"policy": "spread", "seconds": 60}}, "spread")],
    ids=["a lane", "a policy"],
)
def test_what_would_be_posted_may_need_a_lane_or_a_policy_of_the_stack(given: dict[str, Any], missing: str) -> None:
    body = {**json.loads(SCHEDULE), **given}
    del body["delaySeconds"]
    at = {} if "when" in given else {"delaySeconds": 7 * 86_400}
    for lanes, policies in ((("relaxed",), ()), ((), ("spread",))):
        world = World()
        world.settings = evolve(world.settings, lanes=lanes, policies=policies)
        read, has = commands_of(world).read_request, missing in (*lanes, *policies)
        with nullcontext() if has else pytest.raises(WrongPolicy, match=f'not allowed: "{missing}"'):
            read(json.dumps(body | at), START)


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
