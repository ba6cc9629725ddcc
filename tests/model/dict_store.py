"""The store on a dictionary, for models: quick, and made anew for each step from what a world has.

Its conditions are those of the other engines (`holds`, `after`). It has no limits, tells nobody, and never fails.
"""

from collections.abc import Sequence

from attrs import define, field

from delayer.engines.store.model import (
    Change,
    Check,
    Delete,
    Item,
    Key,
    Page,
    Put,
    Query,
    StoredItem,
    Write,
    after,
    answered,
    holds,
    kept,
)
from delayer.engines.store.store import Answer, WriteRefused

Place = tuple[str, ...]  # the table, the partition, and the sort key if there is one


@define
class DictStore:
    """Port Store."""

    items: dict[Place, Item] = field(factory=dict)
    writes: int = 0  # what was asked for, refused or not

    def hold(self, table: str, key: Key, values: StoredItem) -> None:
        """It is there from the beginning."""
        self.items[_place(table, key)] = {**key, **values}

    def get(self, table: str, key: Key, *, latest: bool = True) -> Item | None:
        item = self.items.get(_place(table, key))
        return dict(item) if item is not None else None

    def get_many(self, table: str, keys: Sequence[Key], *, latest: bool = True) -> list[Item]:
        return [item for key in keys if (item := self.get(table, key)) is not None]

    def query(self, query: Query) -> Page:
        found = self._asked(query)
        page = found[: query.at_most or None]
        more = page[-1][0] if page and len(page) == query.at_most else ""
        return Page(kept(query, [dict(item) for _, item in page if holds(query.when, item)]), more)

    def _asked(self, query: Query) -> list[tuple[str, Item]]:
        """All that the query asks for, in order, each with its sort key."""
        partition = (query.table, *query.partition.values())
        found = [(place[-1], item) for place, item in self.items.items() if place[:-1] == partition]
        within = [(sort, item) for sort, item in found if _is_asked_for(query, sort)]
        return sorted(within, key=lambda one: one[0], reverse=query.is_backward)

    def count(self, query: Query, at_most: int) -> int:
        """All of them: a page has as many as it likes."""
        return sum(holds(query.when, item) for _, item in self._asked(query))

    def write(self, write: Write) -> Item:
        self.transact([write])
        if isinstance(write, Change) and write.is_answered:
            return answered(write, self.items[_place(write.table, write.key)])
        return {}

    def write_each(self, puts: Sequence[Put]) -> list[Answer]:
        return [self._answer(put) for put in puts]

    def _answer(self, put: Put) -> Answer:
        try:
            self.write(put)
        except WriteRefused as refused:
            return refused
        return None

    def write_all(self, writes: Sequence[Put | Delete]) -> list[Put | Delete]:
        self.transact(writes)
        return []

    def transact(self, writes: Sequence[Write]) -> None:
        self.writes += 1
        before = [self.get(one.table, one.key) for one in writes]
        refused = [None if holds(one.when, old) else old or {} for one, old in zip(writes, before, strict=True)]
        if any(item is not None for item in refused):
            raise WriteRefused(refused)
        for write, old in zip(writes, before, strict=True):
            new = after(write, old)
            if new is None:
                self.items.pop(_place(write.table, write.key), None)
            elif not isinstance(write, Check):
                self.items[_place(write.table, write.key)] = new


def _place(table: str, key: Key) -> Place:
    return table, *key.values()


def _is_asked_for(query: Query, sort: str) -> bool:
    if query.within and not query.within.has(sort):
        return False
    if not query.after:
        return True
    return sort < query.after if query.is_backward else sort > query.after
