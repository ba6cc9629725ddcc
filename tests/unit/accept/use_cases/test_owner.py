"""The id says whose it is; the row says so, too. Where both differ, there is no such schedule."""

from collections.abc import Callable
from typing import Any

import pytest
from attrs import evolve

from delayer.accept.rules.status import NotFound
from delayer.accept.use_cases.cancel import Stop
from delayer.accept.use_cases.lookup import Lookup
from delayer.ledger.model import LedgerRow, State
from delayer.schedule.instants import HOUR
from delayer.schedule.schedule import Schedule
from delayer.wiring.build import build
from tests.looking import all_rows, put_row
from tests.samples import claimed
from tests.world import World

CALLS: dict[str, Callable[[World, str], Any]] = {
    "cancel": lambda world, one: world.cancel(one, "owner"),
    "look up": lambda world, one: build(Lookup, world.ports("lookup")).by_id(one, "owner"),
    "change": lambda world, one: world.replace.by_id(one, "owner", point_in_time=None, payload="1"),
    "stop": lambda world, one: build(Stop, world.ports("stop"))(one, "owner"),
}


def posted(world: World) -> Schedule:
    schedule = world.post(world.clock.now() + HOUR)
    assert schedule
    return schedule


@pytest.mark.parametrize(
    "state", [State.CLAIMED, State.SCHEDULED, State.DEAD_LETTERED, State.CANCELLED, State.EXECUTED]
)
@pytest.mark.parametrize("call", CALLS)
def test_a_row_of_somebody_else_is_not_found(call: str, state: State) -> None:
    """Even with a genuine id, which takes the key of the stack to make."""
    world = World()
    schedule = posted(world)
    row: LedgerRow = evolve(claimed(schedule), owner="somebody else", state=state)
    put_row(world.ledger, row)
    assert CALLS[call](world, schedule.id) == NotFound()
    assert all_rows(world.ledger)[schedule.id] == row, "and nothing was written"


def test_a_record_of_somebody_else_is_not_found() -> None:
    world = World()
    schedule = posted(world)
    assert len(all_rows(world.table)) == 1
    put_row(world.table, evolve(schedule, owner="somebody else"))
    assert CALLS["look up"](world, schedule.id) == NotFound()
