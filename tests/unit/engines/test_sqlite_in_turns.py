"""What a turn need not read, because it wrote it, is what it would read; also after something was undone."""

import random
import sqlite3
from contextlib import closing
from functools import partial
from pathlib import Path
from threading import Thread

import pytest

from delayer.engines.sqlite.database import Database, DiskFull, Texts
from delayer.engines.sqlite.store import DELETE, READ, SqliteStore, decode
from delayer.engines.store.model import Item, ItemChange, Put
from tests.unit.engines.turns import TABLES, World, change

ALL = "SELECT table_name, item FROM items ORDER BY table_name, partition, sort"
KEYS = [(table, {"bucket": "b", "due": str(number)}) for table in (*TABLES, "ledger") for number in range(8)]


def look(world: World) -> None:
    """By the store, and by SQLite itself."""
    there = {(table, decode(text)["due"]): decode(text) for table, text in world.database.read(ALL, ())}
    for table, key in KEYS:
        item = there.get((table, key["due"]))
        assert world.store.get(table, key) == item
        assert world.store.get_many(table, [key]) == [one for one in (item,) if one]
    due = [decode(one.text) for one in world.store.due("schedules", "b", "9", 9, 1_000)]
    assert due == [item for (table, _), item in there.items() if table == "schedules"]


def replayed(changes: list[ItemChange]) -> dict[tuple[str, str], Item]:
    """The items after all of them."""
    items: dict[tuple[str, str], Item] = {}
    for table, old, new, _ in changes:
        place = table, str((new or old or {})["due"])
        assert items.pop(place, None) == old
        if new is not None:
            items[place] = {**new}
    return items


@pytest.mark.parametrize("seed", range(12))
def test_whatever_of_its_turns_is_undone(seed: int, tmp_path: Path) -> None:
    """The feed, too, has all that was written, and nothing else."""
    pick = random.Random(seed)
    world = World(str(tmp_path / "a.db"))
    for _ in range(40):
        heard: list[object] = []
        world.turn.begin()
        for _ in range(pick.randrange(6)):
            world.turn.do(partial(change, world, pick), heard.append)
            world.turn.do(partial(look, world), heard.append)
        if pick.random() < 0.2:
            world.turn.give_up(ValueError("a defect"))
        else:
            world.turn.end()
        assert not [one for one in heard if isinstance(one, AssertionError)]
        if pick.random() < 0.2:  # beside all turns
            world.store.expire_one(*pick.choice(KEYS))
        there = {(table, decode(text)["due"]): decode(text) for table, text in world.database.read(ALL, ())}
        assert replayed([one.change for one in world.feed.stored_after(0, 10_000)]) == there
        assert [one.change for one in world.feed.after(0, 10_000)] == [
            one.change for one in world.feed.stored_after(0, 10_000)
        ]


def test_nobody_else_reads_what_is_not_committed(tmp_path: Path) -> None:
    world = World(str(tmp_path / "a.db"))
    table, key = KEYS[0]
    others: list[Item | None] = []

    def write() -> None:
        world.store.write(Put(table, key, {"v": 1}))
        thread = Thread(target=lambda: others.append(world.store.get(table, key)))
        thread.start()
        thread.join()

    world.turn.begin()
    world.turn.do(write, lambda _: None)
    world.turn.end()
    assert others == [None]
    assert world.store.get(table, key) == {**key, "v": 1}


def test_a_part_reads_what_it_has_noted(tmp_path: Path) -> None:
    """Before it has ended."""
    world = World(str(tmp_path / "a.db"))

    def write_and_read() -> list[int]:
        for number in range(100):
            world.store.write(Put("ledger", {"bucket": "b", "due": str(number)}, {"v": 1}))
        world.feed.cursors.clear()
        return [int(one.change.new["due"]) for one in world.feed.after(0, 1_000) if one.change.new]

    heard: list[object] = []
    world.turn.begin()
    world.turn.do(write_and_read, heard.append)
    world.turn.end()
    assert heard == [list(range(100))]


def test_so_many_are_kept_and_so_many_bytes() -> None:
    texts = Texts(at_most=3, most_bytes=10)
    for number in range(5):
        texts.keep(("t", "p", str(number)), b"abc")
    assert [texts.get(("t", "p", str(number))) for number in range(5)] == [None, None, b"abc", b"abc", b"abc"]
    texts.keep(("t", "p", "4"), b"abcdefgh")
    assert [texts.get(("t", "p", str(number))) for number in range(2, 5)] == [None, None, b"abcdefgh"]
    texts.keep(("t", "p", "5"), b"too many bytes")
    assert texts.get(("t", "p", "5")) is None
    texts.keep(("t", "p", "6"), b"abcdefgh")
    assert texts.get(("t", "p", "6")) == b"abcdefgh"


def test_what_sqlite_has_undone_itself_is_in_no_feed(tmp_path: Path) -> None:
    """The disk is full, which ends SQLite's transaction; and somebody goes on all the same, as a handler does."""
    world = World(str(tmp_path / "a.db"))
    [(pages,)] = world.database.read("PRAGMA page_count", ())
    seen: list[object] = []

    def both() -> list[object]:
        world.database.write(f"PRAGMA max_page_count = {pages + 4}", ())
        world.store.write(Put("ledger", {"bucket": "b", "due": "1"}, {"v": 1}))
        return [*world.store.write_all([Put("ledger", {"bucket": "b", "due": "2"}, {"v": "x" * 200_000})])]

    def make_room() -> bool:
        with closing(sqlite3.connect(tmp_path / "a.db")) as other:
            seen.extend(other.execute("SELECT number FROM changes").fetchall())
        return False

    heard: list[object] = []
    world.turn.make_room = make_room
    world.turn.begin()
    world.turn.do(both, heard.append)
    world.turn.end()
    assert [type(one) for one in heard] == [DiskFull]
    assert seen == world.feed.stored_after(0, 9) == world.feed.after(0, 9) == []


def test_no_place_is_looked_for_in_the_whole_table() -> None:
    """SQLite's planner would do so for several at once."""
    database = Database()
    for statement in (READ, DELETE):
        asked = "EXPLAIN QUERY PLAN " + statement.format(", ".join(["(?, ?, ?)"] * 32))
        plan = [str(row[3]) for row in database.read(asked, ["a"] * 96)]
        assert [step for step in plan if "items_by_key (table_name=? AND partition=? AND sort=?)" in step], plan
        assert not [step for step in plan if step.startswith("SCAN items")], plan


def test_so_many_that_are_due_and_so_many_bytes() -> None:
    """The first one however large it is. In their order."""
    store = SqliteStore()
    for number in (3, 1, 2, 0):
        store.write(Put("t", {"bucket": "b", "due": str(number)}, {"v": "x" * 100}))
    size = len(store.due("t", "b", "9", 1, 0)[0].text)

    def due(at_most: int, most_bytes: int) -> list[str]:
        return [one.sort for one in store.due("t", "b", "2", at_most, most_bytes)]

    assert [due(9, 9 * size), due(2, 9 * size)] == [["0", "1", "2"], ["0", "1"]]
    assert [due(9, 2 * size), due(9, 2 * size - 1), due(9, 1)] == [["0", "1"], ["0"], ["0"]]
    assert store.due_keys("t", "b", "2", 9) == [("b", "0"), ("b", "1"), ("b", "2")]
    assert [store.due("none", "b", "2", 9, 9), store.due_keys("none", "b", "2", 9)] == [[], []]
