"""The operator's commands on what waits although it is due."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from attrs import evolve

from delayer.engines.ports import Outgoing, Unavailable
from delayer.engines.store.model import entry_key
from delayer.flow.commands import MOST_SUSPENSIONS, ROUNDS, OperateFlow
from delayer.flow.repository import LIST, StoredBlocks
from delayer.flow.rules.block import EVERY, Block, Party, opened, probing
from delayer.flow.rules.comeback import coming_back
from delayer.flow.words import suspended
from delayer.schedule.instants import MINUTE, SECOND, format_instant
from delayer.wiring.build import build
from tests.looking import put_item, put_row
from tests.tables import in_turn, preceded
from tests.world import START, World

TARGET = "http-request api.example.com"
BOTH = Party(owner="ann", target=TARGET)
SUSPEND = {"command": "suspend", "owner": "ann", "target": "api.example.com", "reason": "maintenance"}


def asked(world: World, **event: Any) -> dict[str, Any]:
    return build(OperateFlow, world.ports("operator-flow"))(event)


def done(world: World, **event: Any) -> Any:
    answer = asked(world, **event)
    assert answer["ok"], answer
    return answer["result"]


def refused(world: World, **event: Any) -> str:
    answer = asked(world, **event)
    assert not answer["ok"]
    return str(answer["error"])


def world_with(*blocks: Block) -> World:
    world = World()
    for block in blocks:
        put_row(world.blocks, block)
    return world


def test_a_list_shows_suspensions_circuits_and_how_much_is_in_the_queue() -> None:
    now = START
    elsewhere = Party(owner="bob", target="sqs-send https://sqs")
    is_open, over = opened(BOTH, now, "HTTP 503"), opened(elsewhere, now - 10 * SECOND, "no answer")
    probed = probing(opened(Party(owner="cyd", target=TARGET), now - MINUTE, "HTTP 500"), "n1", now)
    world = world_with(is_open, over, probed, suspended(Party(owner=EVERY, target=TARGET), now, "moved", "eve"))
    world.delayer_queue.send([Outgoing(body="x"), Outgoing(body="y", delay_seconds=9), Outgoing(body="z")])
    result = done(world, command="list")
    [suspension] = result["suspensions"]
    assert suspension.pop("block").startswith("suspension#")
    assert suspension == {"target": TARGET, "reason": "moved", "by": "eve", "since": format_instant(now)}
    assert [(one["owner"], one["state"], one["pauses"]) for one in result["circuits"]] == [
        ("ann", "open", 1),
        ("bob", "to be probed", 1),
        ("cyd", "probing", 1),
    ]
    assert result["circuits"][0]["until"] == format_instant(now + 10 * SECOND)
    assert result["delayerQueue"] == {"ready": 2, "delayed": 1}


def test_a_suspension_is_written_once() -> None:
    world = World()
    first = done(world, **SUSPEND, by="eve")
    assert first["changed"] is True
    world.clock.move(MINUTE)
    again = done(world, **SUSPEND)
    assert again == {"changed": False, "suspension": first["suspension"]}
    [block] = world.blocks.rows(latest=True).blocks
    assert block == suspended(BOTH, START, "maintenance", "eve")


def test_another_reason_takes_the_place_of_the_first() -> None:
    world = world_with(suspended(BOTH, START - MINUTE, "maintenance", "eve"))
    assert done(world, **SUSPEND | {"reason": "it takes longer", "by": "bob"})["changed"] is True
    [block] = world.blocks.rows(latest=True).blocks
    assert (block.reason, block.by, block.since, block.revision) == ("it takes longer", "bob", START - MINUTE, 2)


@pytest.mark.parametrize(
    ("given", "party"),
    [
        ({"owner": "ann"}, Party(owner="ann", target=EVERY)),
        ({"owner": None, "target": "api.example.com"}, Party(owner=EVERY, target=TARGET)),
        ({"target": "https://api.example.com/"}, Party(owner=EVERY, target=TARGET)),
        ({"owner": "ann", "target": "sqs-send https://sqs/q"}, Party(owner="ann", target="sqs-send https://sqs/q")),
    ],
    ids=str,
)
def test_what_can_be_suspended(given: dict[str, str | None], party: Party) -> None:
    world = World()
    done(world, command="suspend", reason="r", **given)
    assert [block.party for block in world.blocks.rows(latest=True).blocks] == [party]
    assert len(done(world, command="release", **given)["released"]) == 1
    assert world.blocks.rows(latest=True).blocks == ()


def test_a_release_is_of_exactly_this_one_and_shows_what_is_left() -> None:
    of_owner = suspended(Party(owner="ann", target=EVERY), START, "floods", "")
    of_other = suspended(Party(owner="bob", target=EVERY), START, "floods", "")
    world = world_with(of_owner, of_other, suspended(BOTH, START, "maintenance", ""), opened(BOTH, START, "HTTP 503"))
    result = done(world, command="release", owner="ann", target="api.example.com")
    assert [one["reason"] for one in result["released"]] == ["maintenance"]
    assert [one["owner"] for one in result["stillSuspended"]] == ["ann"]
    assert len(world.blocks.rows(latest=True).blocks) == 3
    assert done(world, command="release", owner="ann", target="api.example.com")["released"] == []


@pytest.mark.parametrize(
    ("given", "left"),
    [
        ({"owner": "ann"}, ["bob"]),
        ({"target": "api.example.com"}, []),
        ({"owner": "bob", "target": "api.example.com"}, ["ann"]),
        ({"owner": "cyd"}, ["ann", "bob"]),
    ],
    ids=str,
)
def test_circuits_are_closed_of_an_owner_of_a_target_or_of_both(given: dict[str, str], left: list[str]) -> None:
    world = world_with(opened(BOTH, START, "HTTP 503"), opened(evolve(BOTH, owner="bob"), START, "HTTP 503"))
    closed = done(world, command="close", **given)["closed"]
    assert sorted(block.party.owner for block in world.blocks.rows(latest=True).blocks) == left
    assert sorted(one["owner"] for one in closed) == sorted({"ann", "bob"} - {*left})


def test_a_target_is_understood_as_it_is_listed_though_its_type_is_no_more() -> None:
    world = world_with(suspended(Party(owner=EVERY, target="sms-send +49"), START, "r", ""))
    assert "there is no action type 'sms-send'" in refused(world, command="release", target="sms-send +48")
    assert len(done(world, command="release", target="sms-send +49")["released"]) == 1


@pytest.mark.parametrize(
    ("event", "says"),
    [
        ({}, 'give {"command": "list"}'),
        ({"command": "destroy"}, 'give {"command": "list"}'),
        ({"command": ["list"]}, 'give {"command": "list"}'),
        ({"command": "list", "owner": "ann"}, "owner: unknown to list"),
        ({"command": "suspend", "reason": "r"}, "give an owner, a target, or both"),
        ({"command": "release"}, "give an owner, a target, or both"),
        ({"command": "close", "owner": " "}, "give an owner, a target, or both"),
        ({"command": "suspend", "owner": "ann"}, "reason: say why"),
        ({"command": "suspend", "owner": "ann", "reason": "x" * 201}, "reason: give at most 200 printable characters"),
        ({"command": "suspend", "owner": "a\x1b[2J", "reason": "r"}, "owner: give at most 2048 printable characters"),
        ({"command": "suspend", "owner": 5, "reason": "r"}, "owner: give at most"),
        ({"command": "suspend", "target": "a/b", "reason": "r"}, "is no host"),
        ({"command": "close", "target": "sqs-send"}, "sqs-send has many targets"),
    ],
    ids=str,
)
def test_a_wrong_command_is_answered_with_what_is_right(event: dict[str, Any], says: str) -> None:
    world = World()
    assert says in refused(world, **event)
    assert world.blocks.rows(latest=True).blocks == ()


@pytest.mark.parametrize("event", [None, [], "list"], ids=str)
def test_what_is_no_command_at_all(event: Any) -> None:
    assert build(OperateFlow, World().ports("operator-flow"))(event)["ok"] is False


def raced(rival: Callable[[StoredBlocks], object], times: int, *blocks: Block) -> World:
    """Before each write somebody else does something, so many times."""
    world = world_with(*blocks)
    world.blocks = preceded(world.blocks, in_turn(*[partial(rival, world.blocks)] * times))
    return world


def changed_reason(blocks: StoredBlocks) -> None:
    [block] = blocks.rows(latest=True).blocks
    put_row(blocks, evolve(block, revision=block.revision + 1, reason="by another"))


def test_a_command_that_meets_another_reads_again() -> None:
    world = raced(changed_reason, 1, suspended(BOTH, START, "first", ""))
    assert done(world, **SUSPEND)["suspension"]["reason"] == "maintenance"
    [block] = world.blocks.rows(latest=True).blocks
    assert block.revision == 3
    world = raced(changed_reason, ROUNDS - 1, suspended(BOTH, START, "first", ""))
    assert len(done(world, command="release", owner="ann", target="api.example.com")["released"]) == 1
    assert world.blocks.rows(latest=True).blocks == ()


def test_of_two_that_suspend_at_once_both_are_said_that_it_is_so() -> None:
    def faster(blocks: StoredBlocks) -> None:
        block = suspended(BOTH, START, "maintenance", "another")
        put_row(blocks, block)

    assert done(raced(faster, 1), **SUSPEND)["suspension"]["by"] == "another"


def test_a_circuit_that_is_probed_meanwhile_is_closed() -> None:
    """Its probe writes the row; an operator's word counts."""

    def probe(blocks: StoredBlocks) -> None:
        [block] = blocks.rows(latest=True).blocks
        put_row(blocks, probing(block, "n1", START))

    world = raced(probe, 1, opened(BOTH, START, "HTTP 503"))
    assert [one["owner"] for one in done(world, command="close", owner="ann")["closed"]] == ["ann"]
    assert world.blocks.rows(latest=True).blocks == ()


def test_who_meets_others_all_the_time_is_said_to_repeat_it() -> None:
    world = raced(changed_reason, 100, suspended(BOTH, START, "first", ""))
    assert "repeat the command" in refused(world, **SUSPEND)


def test_there_is_an_end_to_suspensions() -> None:
    """Whatever fires reads them all."""
    blocks = [suspended(Party(owner=f"o{number}", target=EVERY), START, "r", "") for number in range(MOST_SUSPENSIONS)]
    world = world_with(*blocks)
    assert "release some" in refused(world, command="suspend", owner="ann", reason="r")
    assert done(world, command="suspend", owner="o1", reason="another")["changed"] is True


def test_without_an_answer_of_aws_it_says_so() -> None:
    def down() -> None:
        raise Unavailable("down")

    world = World()
    world.blocks = preceded(world.blocks, down, ["query"])
    assert refused(world, **SUSPEND) == "down"
    assert refused(world, command="list") == "down"


def test_a_row_that_cannot_be_read_is_listed_and_discarded() -> None:
    world = world_with(suspended(BOTH, START, "it floods", ""))
    put_item(world.blocks, entry_key(LIST, "limit#1"), {"kind": "limit"})
    assert done(world, command="list")["malformed"] == ["limit#1"]
    assert done(world, command="discard", block="limit#1", by="ann") == {"discarded": ["limit#1"]}
    assert done(world, command="discard", block="limit#1") == {"discarded": []}
    assert done(world, command="list")["malformed"] == []


def test_what_can_be_read_is_not_discarded() -> None:
    world = world_with(block := suspended(BOTH, START, "it floods", ""))
    assert refused(world, command="discard", block=block.key) == f"{block.key} can be read: release it, or close it"
    assert world.blocks.rows(latest=True).blocks == (block,)


def test_a_comeback_is_shown_until_it_is_over() -> None:
    """Nothing was heard of it for five minutes; its row stays for a day."""
    party = Party(owner="ann", target="http-request a.example")
    world = World()
    back = coming_back(opened(party, START - MINUTE, "HTTP 503"), world.clock.now())
    put_row(world.blocks, back)
    [shown] = done(world, command="list")["circuits"]
    assert shown["state"] == "coming back"
    world.clock.move(6 * MINUTE)
    assert done(world, command="list")["circuits"] == []
