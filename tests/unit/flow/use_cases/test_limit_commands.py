"""The operator's commands on limits."""

from typing import Any

import pytest

from delayer.engines.store.model import entry_key
from delayer.flow.repository import SLOTS_LIST, StoredBlocks
from delayer.flow.rules.block import EVERY, Block, BlockKind, Party
from delayer.flow.rules.limit import line_of
from delayer.flow.words import MOST, limited
from delayer.schedule.instants import SECOND, format_instant
from tests.looking import put_item, put_row
from tests.unit.flow.use_cases.test_commands import done, refused
from tests.world import START, World

TARGET = "http-request api.example.com"
LIMIT: dict[str, Any] = {"command": "limit", "owner": "ann", "target": "api.example.com", "rate": "10/s", "by": "eve"}


def stored(world: World) -> list[Block]:
    return list(world.blocks.rows(latest=True).blocks)


def test_a_limit_is_set_shown_and_removed() -> None:
    world = World()
    found = done(world, **LIMIT)
    block = found["limit"].pop("block")
    assert found == {
        "changed": True,
        "limit": {
            "owner": "ann",
            "target": TARGET,
            "rate": "10/s",
            "reason": "at most 10 a second reach api.example.com",
            "by": "eve",
            "since": format_instant(START),
            "bookedSeconds": 0,
        },
    }
    [row] = stored(world)
    assert (row.kind, row.every, row.key) == (BlockKind.LIMIT, 100_000, block)
    end = (START + 90 * SECOND) * 1_000 + 1
    put_item(world.lines, entry_key(SLOTS_LIST, line_of(row)), {"next": end})
    [listed] = done(world, command="list")["limits"]
    assert listed["bookedSeconds"] == 91
    [removed] = done(world, command="unlimit", owner="ann", target=TARGET)["removed"]
    assert removed["rate"] == "10/s"
    assert stored(world) == []
    assert done(world, command="unlimit", owner="ann", target=TARGET) == {"removed": []}
    assert done(world, command="list")["limits"] == []


def test_the_same_limit_again_changes_nothing_and_another_rate_begins_another_line() -> None:
    world = World()
    done(world, **LIMIT)
    [first] = stored(world)
    world.clock.move(SECOND)
    assert done(world, **LIMIT)["changed"] is False
    assert stored(world) == [first]
    assert done(world, **{**LIMIT, "rate": "30/m"})["changed"] is True
    [second] = stored(world)
    assert (second.every, second.since, second.revision) == (2_000_000, START, 2)
    assert line_of(first) != line_of(second)


@pytest.mark.parametrize(
    ("given", "party"),
    [
        ({"owner": "ann", "target": ""}, Party(owner="ann", target=EVERY)),
        ({"owner": "", "target": "api.example.com"}, Party(owner=EVERY, target=TARGET)),
        ({"owner": "ann", "target": "", "connection": "crm"}, Party(owner="ann", target="connection crm")),
    ],
    ids=str,
)
def test_whom_a_limit_is_about(given: dict[str, str], party: Party) -> None:
    world = World()
    done(world, **{**LIMIT, **given})
    assert [block.party for block in stored(world)] == [party]
    assert len(done(world, command="unlimit", **given)["removed"]) == 1


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"rate": ""}, "rate: say how many"),
        ({"rate": "10/day"}, "give one like 10/s, 30/m or 100/h"),
        ({"rate": "2000/s"}, "from 1/h to 1000/s"),
        ({"owner": "", "target": ""}, "give an owner, a target, or both"),
        ({"owner": "", "target": "", "connection": "crm"}, "give its owner, too"),
        ({"connection": "crm"}, "give a target or a connection, not both"),
        ({"target": "connection crm"}, "there is no action type 'connection'"),
        (
            {"rate": "", "concurrency": "0"},
            "concurrency: '0': give how many attempts there may be at a time",
        ),
        ({"concurrency": "1001"}, "1 to 1000"),
        ({"concurrency": "5/s"}, "1 to 1000"),
        ({"burst": "5"}, "burst: unknown to limit"),
    ],
    ids=str,
)
def test_a_wrong_limit_is_explained(given: dict[str, str], says: str) -> None:
    world = World()
    assert says in refused(world, **{**LIMIT, **given})
    assert stored(world) == []


def test_a_limit_of_concurrency_alone_and_with_a_rate() -> None:
    world = World()
    found = done(world, **{**LIMIT, "rate": "", "concurrency": "5"})["limit"]
    assert (found["concurrency"], found["reason"]) == (5, "at most 5 attempts at a time reach api.example.com")
    assert "rate" not in found
    assert done(world, **{**LIMIT, "rate": "", "concurrency": "5"})["changed"] is False
    assert done(world, **{**LIMIT, "concurrency": "1"})["changed"] is True
    [row] = stored(world)
    assert (row.every, row.concurrency, row.revision) == (100_000, 1, 2)
    assert row.reason == "at most 1 attempt at a time, and 10 a second, reach api.example.com"
    assert done(world, **LIMIT)["changed"] is True
    [row] = stored(world)
    assert row.concurrency == 0, "the new one takes the place of all that the old one said"


def test_a_connection_is_not_suspended_by_the_name_of_its_limit() -> None:
    """A suspension of it would make nothing wait."""
    world = World()
    done(world, **{**LIMIT, "target": "", "connection": "crm"})
    said = refused(world, command="suspend", owner="ann", target="connection crm", reason="r")
    assert "there is no action type 'connection'" in said


def test_there_are_only_so_many() -> None:
    world = World()
    for at in range(MOST):
        world.blocks.change(limited(Party(owner=str(at), target=EVERY), START, 1_000, ""))
    assert f"there are {MOST} limits" in refused(world, **LIMIT)


class NeverFirst(StoredBlocks):
    """Somebody else is always faster."""

    def change(self, block: Block, over: Block | None = None) -> bool:
        return False

    def remove(self, block: Block) -> bool:
        return False


def test_a_command_that_is_never_first_says_so() -> None:
    world = World()
    world.blocks = NeverFirst(store=world.blocks.store, table=world.blocks.table)
    assert "repeat the command" in refused(world, **LIMIT)
    block = limited(Party(owner="ann", target=TARGET), START, 1_000, "")
    put_row(world.blocks, block)
    assert "repeat the command" in refused(world, command="unlimit", owner="ann", target="api.example.com")
