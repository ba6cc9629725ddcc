"""How many items there are is a stored number, and always the right one."""

import random
from functools import partial
from pathlib import Path

import pytest

from delayer.engines.sqlite import database
from delayer.engines.sqlite.database import Unwritten
from delayer.engines.store.model import Put
from tests.unit.engines.turns import World, change


@pytest.mark.parametrize("seed", range(12))
def test_it_is_right_after_any_turns_whatever_of_them_is_undone(seed: int, tmp_path: Path) -> None:
    pick = random.Random(seed)
    path = str(tmp_path / "a.db") if seed % 2 else database.MEMORY
    world = World(path)
    for _ in range(60):
        world.turn.begin()
        for _ in range(pick.randrange(6)):
            world.turn.do(partial(change, world, pick), lambda _: None)
        if pick.random() < 0.2:
            world.turn.give_up(ValueError("a defect"))
        else:
            world.turn.end()
        if pick.random() < 0.1:  # a command of an operator, beside all turns: the next turn counts it
            world.store.write(Put("ledger", {"id": "1"}, {"v": pick.random() < 0.5}))
        if path != database.MEMORY and pick.random() < 0.1:
            world.database.close()
            world = World(path)
        world.feed.forget(2_000_000, [], 3)
        world.right()


def test_a_file_that_was_never_counted_is_counted_once(tmp_path: Path) -> None:
    path = str(tmp_path / "a.db")
    first = World(path)
    first.store.write(Put("schedules", {"bucket": "b", "due": "1"}, {}))
    first.database.write("DELETE FROM counters", ())
    first.database.close()
    World(path).right()


def test_a_turn_that_cannot_count_never_was(tmp_path: Path) -> None:
    world, heard = World(str(tmp_path / "a.db")), list[object]()
    world.turn.begin()
    put = Put("schedules", {"bucket": "b", "due": "1"}, {})
    world.turn.do(lambda: world.store.write(put), heard.append)
    world.turn.do(lambda: world.database.write("DROP TABLE counters", ()), heard.append)
    world.turn.end()
    assert [type(one) for one in heard] == [Unwritten] * 2
    world.right()
