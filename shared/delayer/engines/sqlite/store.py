"""The store on SQLite. Whoever wants to hear of changes is told within the transaction that makes them."""

import base64
import sqlite3
from collections.abc import Callable, Collection, Sequence
from decimal import Decimal
from typing import Any, Final, TypeAlias

import msgspec
from attrs import field, frozen

from delayer.engines.ports import Unavailable
from delayer.engines.sqlite.database import MEMORY, Database, Place, for_all, in_one_row
from delayer.engines.store.model import (
    Change,
    Check,
    Delete,
    Item,
    ItemChange,
    Key,
    KeyRange,
    Page,
    Put,
    Query,
    StoredItem,
    TextChange,
    Value,
    Write,
    after,
    answered,
    holds,
    kept,
)
from delayer.engines.store.store import (
    ITEM,
    Answer,
    WriteRefused,
    check_distinct,
    check_item,
    check_key,
    check_query,
    check_transaction,
)

SET, NUMBER, BYTES = "$set", "$number", "$bytes"
MARKS: Final = {SET, NUMBER, BYTES}
_ENCODER: Final = msgspec.json.Encoder()
_DECODER: Final = msgspec.json.Decoder(dict[str, Any])
LAST: Final = "\U0010ffff"  # behind all characters
EXPIRES: Final = "expiresAt"  # epoch seconds, as DynamoDB's TTL has it
# The places come first in a cross join: of several in an IN, SQLite would look through the whole table.
READ: Final = """
    SELECT table_name, partition, sort, item FROM (VALUES {}) CROSS JOIN items
    ON table_name = column1 AND partition = column2 AND sort = column3
"""
PUT: Final = """
    INSERT INTO items VALUES {}
    ON CONFLICT DO UPDATE SET item = excluded.item, expires = excluded.expires
"""
DUE_KEYS: Final = in_one_row(
    "partition, sort",
    """
    SELECT partition, sort FROM items WHERE table_name = ? AND (partition, sort) <= (?, ?)
    ORDER BY partition, sort LIMIT ?
    """,
)
DUE: Final = in_one_row(
    "partition, sort, hex(item)",
    """
    SELECT partition, sort, item FROM items WHERE table_name = ? AND (partition, sort) <= (?, ?)
    ORDER BY partition, sort LIMIT ?
    """,
    "length(item)",
)
FIRST: Final = "SELECT sort FROM items WHERE table_name = ? ORDER BY partition, sort LIMIT 1"
DELETE: Final = """
    DELETE FROM items WHERE rowid IN (
        SELECT items.rowid FROM (VALUES {}) CROSS JOIN items
        ON table_name = column1 AND partition = column2 AND sort = column3
    )
"""


def encode(item: StoredItem) -> bytes:
    """An item as JSON. Raises Unavailable if it cannot be stored."""
    try:
        return _ENCODER.encode(item if _is_plain(item) else {name: _prepared(value) for name, value in item.items()})
    except (TypeError, UnicodeError, OverflowError) as error:
        raise Unavailable(f"an item that cannot be stored: {error}") from error


def _is_plain(item: StoredItem) -> bool:
    return all(type(value) in (str, int, bool) for value in item.values())


def _prepared(value: Value) -> Any:
    """msgspec has a form of its own for bytes and decimals, which would be read as texts and floats."""
    match value:
        case bytes():
            return {BYTES: base64.b64encode(value).decode()}
        case Decimal():
            return {NUMBER: str(value)}
        case frozenset() if value:
            return {SET: [_prepared(one) for one in sorted(value)]}
        case list():
            return [_prepared(one) for one in value]
        case dict():
            if MARKS & value.keys():
                raise TypeError(f"no attribute may be called {MARKS & value.keys()}")
            return {name: _prepared(one) for name, one in value.items()}
        case str() | bool() | int() | None:
            return value
    raise TypeError(f"no attribute is a {type(value).__name__}, or an empty one")


def decode(text: bytes) -> Item:
    """The inverse."""
    item: Item = _DECODER.decode(text)
    return {name: _restored(value) for name, value in item.items()} if b'"$' in text else item


def _restored(value: Any) -> Value:
    match value:
        case {"$set": members}:
            return frozenset(_restored(one) for one in members)
        case {"$number": number}:
            return Decimal(number)
        case {"$bytes": encoded}:
            return base64.b64decode(encoded)
        case dict():
            return {name: _restored(one) for name, one in value.items()}
        case list():
            return [_restored(one) for one in value]
    return value


@frozen(kw_only=True)
class DueItem:
    """An item as it is stored: whether it can be read is seen later."""

    partition: str
    sort: str
    text: bytes


@frozen(kw_only=True)
class Planned:
    """A write that may be made: its item before and afterwards, as it is stored and as it is read."""

    place: Place
    old: bytes | None
    new: Item | None
    text: bytes | None


Heard: TypeAlias = Callable[[Sequence[ItemChange]], None]
Noted: TypeAlias = Callable[[Sequence[TextChange]], None]


@frozen(kw_only=True, eq=False)
class SqliteStore:
    """Stores items in a database of SQLite. All threads of the process may use it, one at a time.

    Whoever hears of changes is told before they are committed. If that fails, they are undone, and never were.
    """

    database: Database = field(factory=Database)
    heard: Heard | None = None
    noted: Noted | None = None  # the same, for whoever reads the items later, if at all
    never_expire: Collection[str] = ()  # tables whose items nothing may delete but whoever handles them
    _partitions: set[tuple[str, str]] = field(factory=set, init=False)  # that ever had an item, in memory
    _first: dict[str, tuple[int, str | None]] = field(factory=dict, init=False)  # by table, after so many changes

    def __attrs_post_init__(self) -> None:
        self.database.undone.append(self._first.clear)

    def get(self, table: str, key: Key, *, latest: bool = True) -> Item | None:
        check_key(key)
        with self.database.reading() as connection:
            return _decoded(self._texts_at(connection, [_place(table, key)])[0])

    def get_many(self, table: str, keys: Sequence[Key], *, latest: bool = True) -> list[Item]:
        check_distinct(keys)
        for key in keys:
            check_key(key)
        with self.database.reading() as connection:
            found = self._texts_at(connection, [_place(table, key) for key in keys])
        return [decode(text) for text in found if text is not None]

    def query(self, query: Query) -> Page:
        """A sweep asks for many minutes that have nothing. In memory that is known without a statement."""
        check_query(query)
        [partition] = query.partition.values()
        if self.database.path == MEMORY and (query.table, partition) not in self._partitions:
            return Page(())
        with self.database.reading() as connection:
            texts = connection.execute(*_select(query)).fetchall()
        items = [decode(text) for (text,) in texts]
        more: str = items[-1][query.sort] if items and len(items) == query.at_most else ""
        return Page(kept(query, [item for item in items if holds(query.when, item)]), more)

    def count(self, query: Query, at_most: int) -> int:
        return len(self.query(query._replace(at_most=0)).items)

    def write(self, write: Write) -> Item:
        if isinstance(write, Check):
            raise TypeError("a condition alone is part of a transaction")
        with self.database.writing() as connection:
            [new] = self._written(connection, [write])
        return answered(write, new or {}) if isinstance(write, Change) and write.is_answered else {}

    def write_each(self, puts: Sequence[Put]) -> list[Answer]:
        """All together, if no item is among them twice."""
        answers: dict[int, Answer] = {}
        places: dict[int, Place] = {}
        for position, put in enumerate(puts):
            try:
                places[position] = _checked(put)
            except Unavailable as error:
                answers[position] = error
        if len({*places.values()}) < len(places):
            return [answer for one in puts for answer in self.write_each([one])]
        planned: list[Planned] = []
        try:
            with self.database.writing() as connection:
                olds = self._texts_at(connection, [*places.values()])
                for (position, place), old in zip(places.items(), olds, strict=True):
                    try:
                        planned += _plan([puts[position]], [place], [old])
                    except (WriteRefused, Unavailable) as answer:
                        answers[position] = answer
                self._carry_out(connection, planned)
        except Unavailable as error:
            return [error] * len(puts)
        return [answers.get(position) for position in range(len(puts))]

    def write_all(self, writes: Sequence[Put | Delete]) -> list[Put | Delete]:
        try:
            check_distinct([one.key for one in writes])
            with self.database.writing() as connection:
                self._written(connection, writes)
        except Unavailable:
            return list(writes)
        return []

    def transact(self, writes: Sequence[Write]) -> None:
        check_transaction(writes)
        with self.database.writing() as connection:
            self._written(connection, writes)

    def due(self, table: str, partition: str, sort: str, at_most: int, most_bytes: int) -> list[DueItem]:
        """The first items of a table up to these keys, and up to so many bytes: its keys are in the order of time."""
        rows = self.database.read_one_row(DUE, (most_bytes, table, partition, sort, at_most))
        found = [DueItem(partition=one, sort=other, text=bytes.fromhex(item)) for one, other, item in rows]
        if self.database.is_own_turn:
            for one in found:
                self.database.texts.keep((table, one.partition, one.sort), one.text)
        return found

    def due_keys(self, table: str, partition: str, sort: str, at_most: int) -> list[tuple[str, str]]:
        """The keys of the same: however large the items are, they are not read."""
        rows = self.database.read_one_row(DUE_KEYS, (at_most, table, partition, sort, at_most))
        return [(one, other) for one, other in rows]

    def text_of(self, table: str, partition: str, sort: str) -> bytes | None:
        """An item as it is stored; None if it is not there."""
        with self.database.reading() as connection:
            return self._texts_at(connection, [(table, partition, sort)])[0]

    def first(self, table: str) -> str | None:
        """The sort key of the first item. It is asked for in each turn, and read after something was written."""
        changes = self.database.changes
        if self._first.get(table, (-1, None))[0] != changes:
            with self.database.reading() as connection:
                found = connection.execute(FIRST, (table,)).fetchone()
            self._first[table] = changes, None if found is None else str(found[0])
        return self._first[table][1]

    def rows(self, table: str) -> list[Item]:
        """All items of a table, in the order of their keys: for tests, and for people who look."""
        with self.database.reading() as connection:
            select = "SELECT item FROM items WHERE table_name = ? ORDER BY partition, sort"
            return [decode(text) for (text,) in connection.execute(select, (table,))]

    def forget(self, table: str, key: Key | None = None) -> None:
        """Deletes an item, or all of a table, and tells nobody: for tests of what is missing."""
        with self.database.writing() as connection:
            self.database.texts.clear()
            if key is None:
                connection.execute("DELETE FROM items WHERE table_name = ?", (table,))
            else:
                for_all(connection, DELETE, [_place(table, key)])

    def expire_one(self, table: str, key: Key) -> None:
        """The same for one item, if it is there, whatever its `expiresAt` is."""
        with self.database.writing() as connection:
            place = _place(table, key)
            [old] = self._texts_at(connection, [place])
            self._delete(connection, [place])
            self._tell([TextChange(table, old, None, is_expired=True)])

    def expire(self, seconds: int, at_most: int = 1_000) -> int:
        """Does the work of the TTL: it deletes items whose `expiresAt` is past. Returns their number."""
        with self.database.writing() as connection:
            select = "SELECT table_name, partition, sort, item FROM items WHERE expires < ? LIMIT ?"
            gone = connection.execute(select, (seconds, at_most)).fetchall()
            self._delete(connection, [(table, partition, sort) for table, partition, sort, _ in gone])
            self._tell([TextChange(place[0], text, None, is_expired=True) for *place, text in gone])
        return len(gone)

    def _written(self, connection: sqlite3.Connection, writes: Sequence[Write]) -> list[Item | None]:
        """The items afterwards. Raises WriteRefused."""
        places = [_checked(one) for one in writes]
        planned = _plan(writes, places, self._texts_at(connection, places))
        self._carry_out(connection, planned)
        return [one.new for one in planned]

    def _carry_out(self, connection: sqlite3.Connection, planned: Sequence[Planned]) -> None:
        """Nothing of this is refused."""
        real = [one for one in planned if one.text != one.old]
        puts = [one for one in real if one.new is not None]
        for_all(connection, PUT, [(*one.place, one.text, self._expiry(one)) for one in puts])
        self._delete(connection, [one.place for one in real if one.new is None])
        for one in puts:
            self.database.bytes_written += len(one.text or b"")
            self.database.texts.keep(one.place, one.text or b"")
            self._partitions.add(one.place[:2])
        self._tell([TextChange(one.place[0], one.old, one.text) for one in real])

    def _expiry(self, one: Planned) -> int | None:
        value = (one.new or {}).get(EXPIRES)
        return value if isinstance(value, int) and one.place[0] not in self.never_expire else None

    def _texts_at(self, connection: sqlite3.Connection, places: Sequence[Place]) -> list[bytes | None]:
        """As they are stored. Within a turn, what was written lately is known: nobody else writes."""
        known = {place: self.database.texts.get(place) for place in places} if self.database.is_own_turn else {}
        unknown = [place for place in places if not known.get(place)]
        for *place, text in for_all(connection, READ, unknown):
            known[place[0], place[1], place[2]] = text
        return [known.get(place) for place in places]

    def _delete(self, connection: sqlite3.Connection, places: Sequence[Place]) -> None:
        for_all(connection, DELETE, places)
        for place in places:
            self.database.texts.drop(place)

    def _tell(self, changes: Sequence[TextChange]) -> None:
        """As in DynamoDB's stream, a write that changes nothing is no change."""
        real = [one for one in changes if one.old != one.new]
        if self.noted and real:
            self.noted(real)
        if self.heard:
            heard = [ItemChange(one.table, _decoded(one.old), _decoded(one.new), one.is_expired) for one in real]
            if heard := [one for one in heard if one.old != one.new]:
                self.heard(heard)


def _place(table: str, key: Key) -> Place:
    partition, *sort = key.values()
    return table, partition, sort[0] if sort else ""


def _checked(write: Write) -> Place:
    check_key(write.key)
    return _place(write.table, write.key)


def _plan(writes: Sequence[Write], places: Sequence[Place], olds: Sequence[bytes | None]) -> list[Planned]:
    """All of them, or WriteRefused. Raises Unavailable."""
    before = [_needed(one, old) for one, old in zip(writes, olds, strict=True)]
    refused = [None if holds(one.when, old) else old or {} for one, old in zip(writes, before, strict=True)]
    if any(item is not None for item in refused):
        raise WriteRefused(refused)
    now = [after(one, old) for one, old in zip(writes, before, strict=True)]
    texts = [old if isinstance(one, Check) else _text(new) for one, old, new in zip(writes, olds, now, strict=True)]
    return [
        Planned(place=place, old=old, new=new, text=text)
        for place, old, new, text in zip(places, olds, now, texts, strict=True)
    ]


def _text(item: Item | None) -> bytes | None:
    """Raises Unavailable if it cannot be stored, or is too large."""
    if item is None:
        return None
    text = encode(item)
    if len(text) > ITEM // 2:  # otherwise it cannot be too large, and need not be counted
        check_item(item)
    return text


def _decoded(text: bytes | None) -> Item | None:
    return None if text is None else decode(text)


def _needed(write: Write, old: bytes | None) -> Item | None:
    """The item before a write, for those who look at it: to decode it takes longer than to read it."""
    return None if write.when is None and not isinstance(write, Change | Check) else _decoded(old)


def _select(query: Query) -> tuple[str, list[str | int]]:
    [partition] = query.partition.values()
    where = ["table_name = ?", "partition = ?"]
    values: list[str | int] = [query.table, partition]
    if query.within:
        condition, bounds = _bounds(query.within)
        where.append(condition)
        values += bounds
    if query.after:
        where.append(f"sort {'<' if query.is_backward else '>'} ?")
        values.append(query.after)
    order = "DESC" if query.is_backward else "ASC"
    text = f"SELECT item FROM items WHERE {' AND '.join(where)} ORDER BY sort {order} LIMIT ?"  # noqa: S608 - our words
    return text, [*values, query.at_most or -1]


def _bounds(within: KeyRange) -> tuple[str, list[str]]:
    match within.operator:
        case "between":
            return "sort BETWEEN ? AND ?", [within.value, within.last]
        case "begins":
            return "sort >= ? AND sort < ?", [within.value, f"{within.value}{LAST}"]
    return f"sort {within.operator} ?", [within.value]
