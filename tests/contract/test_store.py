"""All engines of the store mean the same: random operations are played on each, and compared."""

from collections.abc import Sequence
from decimal import Decimal
from enum import StrEnum
from functools import partial
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from delayer.engines.aws.dynamo_store import DynamoStore
from delayer.engines.ports import Unavailable
from delayer.engines.sqlite.database import Database
from delayer.engines.sqlite.store import SqliteStore
from delayer.engines.store.model import (
    All,
    Change,
    Check,
    Condition,
    Delete,
    Has,
    Is,
    KeyRange,
    Put,
    Query,
    Some,
    Write,
    entry_key,
    lacks,
)
from delayer.engines.store.store import ITEM, PARTITION, SORT, Store, WriteRefused, all_items
from tests.contract.conftest import create_table
from tests.contract.engines import DYNAMODBS, Engines

OPERATIONS = ("write", "write", "transact", "write_all", "write_each", "query", "get_many", "count")
LISTS = ("one", "two")
ENTRIES = ("a", "b", "b#1", "c", "é", "\U0001f600")
TEXTS = st.sampled_from(["", "x", "y", "é"])
NUMBERS = st.integers(-3, 3)
SETS = st.frozensets(st.sampled_from(["x", "y", "z"]), min_size=1)
VALUES: Any = st.recursive(
    TEXTS | NUMBERS | st.booleans() | st.none() | SETS | st.binary(min_size=1, max_size=3) | st.just(Decimal("1.5")),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["p", "q"]), inner, max_size=2),
    max_leaves=4,
)
KEYS = st.builds(entry_key, st.sampled_from(LISTS), st.sampled_from(ENTRIES))
# Each attribute has values of one kind, but for `any`: DynamoDB adds no text to a number.
ITEMS = st.fixed_dictionaries(
    {}, optional={"text": TEXTS, "number": NUMBERS, "members": SETS, "any": VALUES, "odd name-1": TEXTS}
)
ROW = ("text", "number", "members")  # all attributes of what `write_each` writes
ROWS = st.fixed_dictionaries({"text": TEXTS}, optional={"number": NUMBERS, "members": SETS})
OF_EACH: Any = st.one_of(
    st.just(lacks("list")),
    st.builds(Is, st.just("number"), NUMBERS, st.just("=")),
    st.builds(lambda text, number: All((Is("text", text), Is("number", number))), TEXTS, NUMBERS),
)
COMPARED = st.sampled_from(["=", "<", "<=", ">", ">="])
CONDITIONS: Any = st.recursive(
    st.builds(Is, st.just("number"), NUMBERS, COMPARED)
    | st.builds(Is, st.just("text"), TEXTS, COMPARED)
    | st.builds(Has, st.sampled_from(["entry", "number", "members", "odd name-1"]), st.booleans()),
    lambda inner: (
        st.lists(inner, min_size=1, max_size=3).map(tuple).flatmap(lambda of: st.sampled_from([All(of), Some(of)]))
    ),
    max_leaves=4,
)
WHEN = st.none() | CONDITIONS


def changes(table: str) -> Any:
    """No attribute comes twice in one: DynamoDB refuses that."""

    def change(key: Any, verbs: dict[str, str], values: dict[str, Any], when: Any, answered: bool) -> Change:
        parts: dict[str, dict[str, Any]] = {"put": {}, "start": {}, "add": {}, "take": {}}
        for name, verb in verbs.items():
            if verb in parts:
                parts[verb][name] = values[name]
        gone = tuple(name for name, verb in verbs.items() if verb == "remove")
        return Change(table, key, **parts, remove=gone, when=when, is_answered=answered)

    verbs = st.fixed_dictionaries(
        {},
        optional={
            "text": st.sampled_from(["put", "start", "remove"]),
            "number": st.sampled_from(["put", "start", "add", "remove"]),
            "members": st.sampled_from(["put", "start", "add", "take", "remove"]),
        },
    ).filter(len)
    values = st.fixed_dictionaries({"text": TEXTS, "number": NUMBERS, "members": SETS})
    return st.builds(change, KEYS, verbs, values, WHEN, st.booleans())


def writes(table: str, when: Any = WHEN) -> Any:
    puts = st.builds(lambda key, values, when: Put(table, key, values, when), KEYS, ITEMS, when)
    deletes = st.builds(lambda key, when: Delete(table, key, when), KEYS, when)
    return puts | deletes


def transacted(table: str) -> Any:
    checks = st.builds(lambda key, when: Check(table, key, when), KEYS, CONDITIONS)
    return writes(table) | changes(table) | checks


RANGES: Any = st.none() | st.one_of(
    st.builds(KeyRange, st.sampled_from(["=", "<", ">="]), st.sampled_from(ENTRIES), last=st.just("")),
    st.builds(KeyRange, st.just("begins"), st.sampled_from(["b", "\U0001f600"]), last=st.just("")),
    st.tuples(st.sampled_from(ENTRIES), st.sampled_from(ENTRIES)).map(
        lambda ends: KeyRange("between", min(ends), max(ends))
    ),
)


class Kind(StrEnum):
    """For a condition."""

    OPEN = "open"


@pytest.fixture(scope="module", params=DYNAMODBS)
def other(request: pytest.FixtureRequest, engines: Engines) -> Any:
    return engines.client(request.param, "dynamodb")


def engines_of(dynamodb: Any, path: str) -> tuple[str, Sequence[Store]]:
    """SQLite in memory, in a file, and DynamoDB."""
    stores = SqliteStore(), SqliteStore(database=Database(path=path)), DynamoStore(dynamodb)
    return create_table(dynamodb, "list", "entry"), stores


@pytest.fixture
def table(store: Store) -> str:
    return create_table(store, "list", "entry")


def outcome(do: Any) -> Any:
    """What it returns, or which items were in the way."""
    try:
        done = do()
    except WriteRefused as refused:
        return ("refused", refused.items)
    return [shown(one) for one in done] if isinstance(done, list) else done


def shown(answer: Any) -> Any:
    return ("refused", answer.items) if isinstance(answer, WriteRefused) else answer


def everything(store: Store, table: str) -> list[Any]:
    return [item for one in LISTS for item in all_items(store, Query(table, {"list": one}))]


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_all_engines_do_the_same(other: Any, tmp_path_factory: pytest.TempPathFactory, data: Any) -> None:
    """It takes seconds: each example has a table of its own, and up to twelve operations."""
    table, stores = engines_of(other, str(tmp_path_factory.mktemp("store") / "items.sqlite"))
    for _ in range(data.draw(st.integers(1, 12), "operations")):
        kind = data.draw(st.sampled_from(OPERATIONS))
        arguments = drawn(data, kind, table)
        found = [same(kind, outcome(partial(getattr(store, kind), *arguments)), arguments) for store in stores]
        assert found == [found[0]] * len(stores), (kind, arguments)
        held = [everything(store, table) for store in stores]
        assert held == [held[0]] * len(stores), (kind, arguments)


def drawn(data: Any, kind: str, table: str) -> tuple[Any, ...]:
    match kind:
        case "write":
            return (data.draw(writes(table) | changes(table)),)
        case "transact":
            return (data.draw(st.lists(transacted(table), min_size=1, max_size=4, unique_by=place)),)
        case "write_all":
            plain = writes(table, st.none())
            return (data.draw(st.lists(plain, min_size=1, max_size=4, unique_by=place)),)
        case "write_each":
            puts = st.builds(lambda key, row, when: Put(table, key, row, when, ROW), KEYS, ROWS, OF_EACH)
            return (data.draw(st.lists(puts, min_size=1, max_size=4, unique_by=place)),)
        case "get_many":
            return table, data.draw(st.lists(KEYS, min_size=1, max_size=4, unique_by=lambda key: (*key.values(),)))
    within = data.draw(RANGES)
    begins = [""] + [entry for entry in ENTRIES if within is None or within.has(entry)]
    query = Query(
        table,
        {"list": data.draw(st.sampled_from(LISTS))},
        within=within,
        after=data.draw(st.sampled_from(begins)),
        is_backward=data.draw(st.booleans()),
        only=data.draw(st.sampled_from([(), ("entry",), ("number", "odd name-1")])) if kind == "query" else (),
        when=data.draw(st.none() | st.just(lacks("number"))),
    )
    return (query, 100) if kind == "count" else (query,)


def place(write: Write) -> tuple[str, ...]:
    return (*write.key.values(),)


def same(kind: str, found: Any, arguments: Any) -> Any:
    """moto answers a change with more than what was added to, and with less of what was put: what stays the same."""
    if kind == "get_many":
        return sorted(found, key=str)
    if kind == "write" and isinstance(arguments[0], Change) and isinstance(found, dict):
        return {name: found.get(name) for name, value in arguments[0].add.items() if value}
    return found


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    entries=st.sets(st.sampled_from(ENTRIES)),
    within=RANGES,
    at_most=st.integers(1, 3),
    is_backward=st.booleans(),
)
def test_pages_follow_each_other(
    store: Store, table: str, entries: Any, within: Any, at_most: int, is_backward: bool
) -> None:
    """In the order of the bytes of UTF-8; forwards and backwards."""
    for entry in ENTRIES:
        write: Write = (
            Put(table, entry_key("one", entry)) if entry in entries else Delete(table, entry_key("one", entry))
        )
        store.write(write)
    query = Query(table, {"list": "one"}, within=within, at_most=at_most, is_backward=is_backward)
    found = [item["entry"] for item in all_items(store, query)]
    assert found == sorted((one for one in entries if within is None or within.has(one)), reverse=is_backward)


@given(item=ITEMS)
@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_stored_is_read(store: Store, table: str, item: Any) -> None:
    """Whatever its types are: attributes that a version does not know are carried losslessly."""
    store.write(Put(table, entry_key("one", "a"), item))
    assert store.get(table, entry_key("one", "a")) == {**entry_key("one", "a"), **item}
    assert store.get(table, entry_key("one", "none")) is None


def test_what_no_item_may_have_is_refused_everywhere(store: Store, table: str) -> None:
    """By the limits of DynamoDB. Nothing is written."""
    too_large = {"text": "x" * ITEM}
    unfit: list[tuple[Any, Any]] = [
        (entry_key("one", ""), {}),
        (entry_key("x" * (PARTITION + 1), "a"), {}),
        (entry_key("one", "x" * (SORT + 1)), {}),
        (entry_key("one", "large"), too_large),
        (entry_key("one", "a"), {"members": frozenset()}),
        (entry_key("one", "a"), {"any": 1.5}),
        (entry_key("one", "a"), {"any": (1,)}),
        (entry_key("one", "a"), {"any": [{1}]}),
    ]
    for key, values in unfit:
        with pytest.raises(Unavailable):
            store.write(Put(table, key, values))
    with pytest.raises(Unavailable):
        store.transact([Put(table, entry_key("one", str(number))) for number in range(101)])
    with pytest.raises(Unavailable):
        store.transact([Put(table, entry_key("one", "a")), Delete(table, entry_key("one", "a"))])
    assert everything(store, table) == []


def test_values_of_one_kind_compare(store: Store, table: str) -> None:
    """A member of an enumeration is a text, and a fraction is a number as the others."""
    key = entry_key("one", "a")
    store.write(Put(table, key, {"number": Decimal("1.5"), "text": Kind.OPEN}))
    store.write(Put(table, key, {"number": 2, "text": "open"}, All((Is("number", 2, "<"), Is("text", "open")))))
    store.write(Put(table, key, {}, All((Is("number", Decimal("2.5"), "<"), Is("text", Kind.OPEN)))))


def test_an_item_is_at_its_key(store: Store, table: str) -> None:
    store.write(Put(table, entry_key("one", "a"), {"entry": "b"}))
    assert store.get(table, entry_key("one", "a")) == entry_key("one", "a")


@pytest.mark.parametrize("number", [1, 25, 101])
def test_many_at_once(store: Store, table: str, number: int) -> None:
    """More than one request of DynamoDB takes."""
    puts = [Put(table, entry_key("one", f"{at:03}"), {"number": at}) for at in range(number)]
    assert store.write_all(puts) == []
    assert len(store.get_many(table, [put.key for put in puts])) == number
    assert store.count(Query(table, {"list": "one"}, at_most=10), number) == number
    assert store.write_all([Delete(table, put.key) for put in puts]) == []
    assert everything(store, table) == []


def test_a_refusal_does_not_show_what_is_in_the_way(store: Store, table: str) -> None:
    """It may be a secret, and a refusal may be logged."""
    store.write(Put(table, entry_key("one"), {"secret": "hidden"}))
    with pytest.raises(WriteRefused) as refused:
        store.write(Put(table, entry_key("one"), {}, lacks("entry")))
    assert "hidden" not in repr(refused.value) + str(refused.value)
    assert refused.value.item["secret"] == "hidden"


def test_every_condition_is_translated() -> None:
    """The closed set: whoever adds one finds all places by the types."""
    assert Condition == Is | Has | All | Some
