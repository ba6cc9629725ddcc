"""The store of the models means what the other engines mean: random operations are played on it and on SQLite."""

from functools import partial
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from delayer.engines.sqlite.store import SqliteStore
from delayer.engines.store.model import Put, Query, entry_key, lacks
from delayer.engines.store.store import WriteRefused, all_items
from tests.contract.test_store import ENTRIES, RANGES, drawn, everything, outcome
from tests.model.dict_store import DictStore

KINDS = ("write", "write", "transact", "write_all", "query", "get_many", "count")


@settings(max_examples=40)
@given(data=st.data())
def test_it_does_what_sqlite_does(data: Any) -> None:
    """It takes seconds: each example has up to twelve operations."""
    stores = DictStore(), SqliteStore()
    for _ in range(data.draw(st.integers(1, 12), "operations")):
        kind = data.draw(st.sampled_from(KINDS))
        arguments = drawn(data, kind, "t")
        first, second = (outcome(partial(getattr(store, kind), *arguments)) for store in stores)
        assert first == second, (kind, arguments)
        assert everything(stores[0], "t") == everything(stores[1], "t"), (kind, arguments)


@settings(max_examples=60)
@given(entries=st.sets(st.sampled_from(ENTRIES)), within=RANGES, at_most=st.integers(1, 3), is_backward=st.booleans())
def test_pages_follow_each_other(entries: Any, within: Any, at_most: int, is_backward: bool) -> None:
    """As many pages as it takes, they have what SQLite has, which reads a range by itself."""
    store, sqlite = DictStore(), SqliteStore()
    for entry in entries:
        store.hold("t", entry_key("one", entry), {})
        sqlite.write(Put("t", entry_key("one", entry)))
    query = Query("t", {"list": "one"}, within=within, at_most=at_most, is_backward=is_backward)
    assert list(all_items(store, query)) == list(all_items(sqlite, query))


def test_each_of_many_has_its_own_answer() -> None:
    store, there, new = DictStore(), entry_key("one", "a"), entry_key("one", "b")
    store.hold("t", there, {"number": 1})
    [refused, done] = store.write_each([Put("t", key, {"number": 2}, when=lacks("entry")) for key in (there, new)])
    assert isinstance(refused, WriteRefused)
    assert refused.items == ({**there, "number": 1},)
    assert done is None
    assert store.get("t", new) == {**new, "number": 2}
