"""The port of an engine: eight operations. Only repositories and wiring see it."""

from collections.abc import Iterator, Sequence
from typing import Protocol, TypeAlias

from delayer.ports.unavailable import Unavailable
from delayer.store.items import Item, Key, StoredItem
from delayer.store.queries import Page, Query
from delayer.store.writes import Delete, Put, Write


class Refused(Exception):
    """A condition failed, and nothing was written. Its items may hold secrets: they are never shown."""

    def __init__(self, items: Sequence[StoredItem | None]) -> None:
        super().__init__("a condition failed")
        self.items = tuple(items)  # for each write the item in its way, empty if there is none; None: not in its way

    @property
    def item(self) -> StoredItem:
        """The first one in the way."""
        return next(one for one in self.items if one is not None)


Answer: TypeAlias = Refused | Unavailable | None  # to one of many writes; None: it is done


class Store(Protocol):
    """Items in tables. Each method raises Unavailable if it is not known what was done, or if a limit forbids it.

    The limits are those of DynamoDB, in each engine (`limits`).
    """

    def get(self, table: str, key: Key, *, latest: bool = True) -> Item | None:
        """An item; `latest`: strongly consistent."""

    def get_many(self, table: str, keys: Sequence[Key], *, latest: bool = True) -> list[Item]:
        """Those of them that there are, in any order. No key may come twice."""

    def query(self, query: Query) -> Page:
        """One page."""

    def count(self, query: Query, at_most: int) -> int:
        """How many items there are on all pages, or on so many pages that there are `at_most`."""

    def write(self, write: Write) -> Item:
        """One write. Raises Refused. What it returns is told by `Change.is_answered`."""

    def write_each(self, puts: Sequence[Put]) -> list[Answer]:
        """Each by itself, in few requests, with its own answer, in their order. No key may come twice.

        A condition is that a key is not there, or what attributes of the item there are.
        """

    def write_all(self, writes: Sequence[Put | Delete]) -> list[Put | Delete]:
        """In few requests, without conditions, of one table. Those that are not known to be done. No key twice."""

    def transact(self, writes: Sequence[Write]) -> None:
        """All together or none. Raises Refused, with an item or None for each write."""


def all_items(store: Store, query: Query) -> Iterator[Item]:
    """The items of all pages."""
    page = store.query(query)
    yield from page.items
    while page.more:
        page = store.query(query._replace(after=page.more))
        yield from page.items
