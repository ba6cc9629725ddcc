"""What SQLite has and DynamoDB has elsewhere: a file that outlives its process, the change feed, and expiry."""

import sqlite3
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from delayer.engines.ports import Unavailable
from delayer.engines.sqlite.database import Database
from delayer.engines.sqlite.store import SqliteStore
from delayer.engines.store.model import Change, Check, Delete, Is, ItemChange, KeyRange, Put, Query, entry_key, lacks
from delayer.engines.store.store import WriteRefused

KEY = entry_key("list", "a")


@pytest.fixture
def heard() -> list[ItemChange]:
    return []


@pytest.fixture
def store(heard: list[ItemChange]) -> SqliteStore:
    return SqliteStore(heard=heard.extend)


def item(**values: Any) -> dict[str, Any]:
    return {**KEY, **values}


def test_each_change_is_heard_with_the_item_before_and_after(store: SqliteStore, heard: list[ItemChange]) -> None:
    store.write(Put("t", KEY, {"n": 1}))
    store.write(Change("t", KEY, add={"n": 1}))
    store.write(Delete("t", KEY))
    assert heard == [
        ItemChange("t", None, item(n=1)),
        ItemChange("t", item(n=1), item(n=2)),
        ItemChange("t", item(n=2), None),
    ]


def test_what_changes_nothing_is_no_change(store: SqliteStore, heard: list[ItemChange]) -> None:
    """As in DynamoDB's stream: a put of the same item, and a delete of none."""
    store.write(Put("t", KEY, {"n": 1}))
    heard.clear()
    store.write(Put("t", KEY, {"n": 1}))
    store.write_all([Delete("t", entry_key("list", "none"))])
    assert heard == []


def test_nothing_is_heard_of_what_is_refused(store: SqliteStore, heard: list[ItemChange]) -> None:
    """Of a transaction neither the part whose condition held."""
    with pytest.raises(WriteRefused) as refused:
        store.transact([Put("t", KEY, {}, lacks("entry")), Delete("t", entry_key("list", "b"), Is("n", 1))])
    assert refused.value.items == (None, {})
    assert heard == []
    assert store.rows("t") == []


def test_whoever_hears_may_undo_all(heard: list[ItemChange]) -> None:
    """It is told within the transaction: a feed that cannot be kept lets nothing be written."""

    def fails(changes: Any) -> None:
        raise OSError("no space")

    store = SqliteStore(heard=fails)
    with pytest.raises(OSError, match="no space"):
        store.write(Put("t", KEY, {}))
    assert store.rows("t") == []


def test_what_has_expired_is_deleted_and_heard_as_such(store: SqliteStore, heard: list[ItemChange]) -> None:
    """A table's items without an instant stay for ever, and so does what expires in this very second."""
    expiries: dict[str, Any] = {"a": {"expiresAt": 9}, "b": {"expiresAt": 10}, "c": {}, "d": {"expiresAt": "9"}}
    for entry, values in expiries.items():
        store.write(Put("t", entry_key("list", entry), values))
    heard.clear()
    assert store.expire(10) == 1
    assert heard == [ItemChange("t", item(expiresAt=9), None, is_expired=True)]
    assert [one["entry"] for one in store.rows("t")] == ["b", "c", "d"]


def test_one_item_expires_when_somebody_says_so(store: SqliteStore, heard: list[ItemChange]) -> None:
    store.write(Put("t", KEY, {"expiresAt": 10**9}))
    heard.clear()
    store.expire_one("t", KEY)
    store.expire_one("t", KEY)
    assert heard == [ItemChange("t", item(expiresAt=10**9), None, is_expired=True)]


def test_a_file_keeps_what_was_written(tmp_path: Path) -> None:
    """Two processes may have it open: each sees what the other has written."""
    path = str(tmp_path / "store.sqlite")
    first, second = (SqliteStore(database=Database(path=path)) for _ in range(2))
    first.write(Put("t", KEY, {"members": frozenset({"x"}), "data": b"\x00"}))
    with pytest.raises(WriteRefused):
        second.write(Put("t", KEY, {}, lacks("entry")))
    assert SqliteStore(database=Database(path=path)).get("t", KEY) == item(members=frozenset({"x"}), data=b"\x00")


@pytest.mark.parametrize(
    "query",
    [
        Query("t", {"list": ""}),
        Query("t", {"list": "list"}, within=KeyRange("between", "b", "a")),
        Query("t", {"list": "list"}, within=KeyRange("begins", "b"), after="a"),
        Query("t", {"list": "\ud800"}),
    ],
    ids=["of no partition", "ends before it begins", "begins before its range", "no text"],
)
def test_what_nobody_may_ask_is_refused(store: SqliteStore, query: Query) -> None:
    """As DynamoDB does. moto answers these, so the suite of all engines cannot compare them."""
    with pytest.raises(Unavailable):
        store.query(query)
    with pytest.raises(Unavailable):
        store.count(query, 1)


def test_a_condition_alone_is_no_write(store: SqliteStore) -> None:
    with pytest.raises(TypeError, match="part of a transaction"):
        store.write(Check("t", KEY, lacks("entry")))


def test_a_commit_that_fails_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the items nor an open transaction, within which the next reader would see them."""

    class FullDisk(sqlite3.Connection):
        is_full = False

        def execute(self, text: str, *values: Any) -> sqlite3.Cursor:
            if text == "COMMIT" and self.is_full:
                raise sqlite3.OperationalError("disk I/O error")
            return super().execute(text, *values)

    monkeypatch.setattr(sqlite3, "connect", partial(sqlite3.connect, factory=FullDisk))
    store = SqliteStore()
    monkeypatch.setattr(FullDisk, "is_full", True)
    with pytest.raises(Unavailable, match="disk I/O error"):
        store.write(Put("t", KEY, {"n": 1}))
    assert store.get("t", KEY) is None
    monkeypatch.setattr(FullDisk, "is_full", False)
    store.write(Put("t", KEY, {"n": 2}, lacks("entry")))
    assert store.get("t", KEY) == item(n=2)


def test_what_cannot_be_stored_is_refused(store: SqliteStore) -> None:
    """A float is no attribute, a surrogate no text, and a name of ours would be read as something else."""
    unfit: list[dict[str, Any]] = [{"n": 1.5}, {"n": object()}, {"n": "\ud800"}, {"n": {"$set": []}}]
    for values in unfit:
        with pytest.raises(Unavailable):
            store.write(Put("t", KEY, values))
    assert store.rows("t") == []
