"""The port of an engine: eight operations. Only repositories and wiring see it."""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Final, Protocol, TypeAlias

from delayer.engines.ports import Unavailable
from delayer.engines.store.model import Delete, Item, Key, Page, Put, Query, StoredItem, Value, Write

ITEM: Final = 400 * 1024  # bytes, with the names of its attributes
PARTITION: Final = 2_048  # bytes of a key
SORT: Final = 1_024
TRANSACTION: Final = 100  # writes


def check_key(key: Key) -> None:
    """Raises Unavailable, as AWS's ValidationException arrives."""
    for name, value, most in zip(key, key.values(), (PARTITION, SORT), strict=False):
        if not isinstance(value, str) or not 0 < _bytes_of(value) <= most:
            raise Unavailable(f"the key {name} must have 1 to {most:,} bytes")


def _bytes_of(text: str) -> int:
    """0 of a text that is none in UTF-8."""
    try:
        return len(text.encode())
    except UnicodeError:
        return 0


def check_query(query: Query) -> None:
    """Raises Unavailable."""
    check_key(query.partition)
    within = query.within
    if within and within.operator == "between" and within.value > within.last:
        raise Unavailable("a range must not end before it begins")
    if within and query.after and not within.has(query.after):
        raise Unavailable("a page must begin within the range")


def check_item(item: StoredItem) -> None:
    """Raises Unavailable."""
    if sum(len(name.encode()) + size(value) for name, value in item.items()) > ITEM:
        raise Unavailable(f"an item must not have more than {ITEM:,} bytes")


def check_transaction(writes: Sequence[Write]) -> None:
    """Raises Unavailable."""
    keys = {(one.table, *one.key.values()) for one in writes}
    if not 0 < len(writes) <= TRANSACTION or len(keys) < len(writes):
        raise Unavailable(f"a transaction must have 1 to {TRANSACTION} writes, each of another item")


def check_distinct(keys: Sequence[Key]) -> None:
    """Raises Unavailable."""
    if len({(*key.values(),) for key in keys}) < len(keys):
        raise Unavailable("a key must not come twice in one request")


def size(value: Value) -> int:
    """Bytes, as DynamoDB counts them."""
    match value:
        case str():
            return len(value.encode())
        case bytes():
            return len(value)
        case bool() | None:
            return 1
        case int() | Decimal():
            return len(str(value)) // 2 + 2
        case dict():
            return 3 + sum(len(name.encode()) + size(one) + 1 for name, one in value.items())
    return 3 + sum(size(one) + 1 for one in value)


class WriteRefused(Exception):
    """A condition failed, and nothing was written. Its items may hold secrets: they are never shown."""

    def __init__(self, items: Sequence[StoredItem | None]) -> None:
        super().__init__("a condition failed")
        self.items = tuple(items)  # for each write the item in its way, empty if there is none; None: not in its way

    @property
    def item(self) -> StoredItem:
        """The first one in the way."""
        return next(one for one in self.items if one is not None)


class PartlyRead(Unavailable):
    """Of many items, some were not answered."""

    def __init__(self, message: str, items: Sequence[Item], left: Sequence[Key]) -> None:
        super().__init__(message)
        self.items = tuple(items)  # those of the others that there are
        self.left = tuple(left)  # the keys of which nothing is known


Answer: TypeAlias = WriteRefused | Unavailable | None  # to one of many writes; None: it is done


class Store(Protocol):
    """Items in tables. Each method raises Unavailable if it is not known what was done, or if a limit forbids it.

    The limits are those of DynamoDB, in each engine (`check_key` and the like).
    """

    def get(self, table: str, key: Key, *, latest: bool = True) -> Item | None:
        """An item; `latest`: strongly consistent."""

    def get_many(self, table: str, keys: Sequence[Key], *, latest: bool = True) -> list[Item]:
        """Those of them that there are, in any order. No key may come twice.

        Raises PartlyRead if some of them are known: who can do with a part catches it.
        """

    def query(self, query: Query) -> Page:
        """One page."""

    def count(self, query: Query, at_most: int) -> int:
        """How many items there are on all pages, or on so many pages that there are `at_most`."""

    def write(self, write: Write) -> Item:
        """One write. Raises WriteRefused. What it returns is told by `Change.is_answered`."""

    def write_each(self, puts: Sequence[Put]) -> list[Answer]:
        """Each by itself, in few requests, with its own answer, in their order. No key may come twice.

        A condition is that a key is not there, or what attributes of the item there are.
        """

    def write_all(self, writes: Sequence[Put | Delete]) -> list[Put | Delete]:
        """In few requests, without conditions, of one table. Those that are not known to be done. No key twice."""

    def transact(self, writes: Sequence[Write]) -> None:
        """All together or none. Raises WriteRefused, with an item or None for each write."""


def all_items(store: Store, query: Query) -> Iterator[Item]:
    """The items of all pages."""
    page = store.query(query)
    yield from page.items
    while page.more:
        page = store.query(query._replace(after=page.more))
        yield from page.items
