"""The store as DynamoDB answers it: a page may end early, and what is not strongly consistent may be a moment old."""

from collections.abc import Sequence
from typing import Final

from attrs import define, field
from greenlet import getcurrent

from delayer.engines.sqlite.store import Heard, SqliteStore
from delayer.engines.store.model import Delete, Item, ItemChange, Key, Page, Put, Query, StoredItem, Write, holds, kept
from delayer.engines.store.store import Answer, check_distinct
from delayer.records.repository import is_heartbeat
from delayer.schedule.instants import Millis
from delayer.schedule.tables import JOURNAL
from tests.simulation.engine.chance import Chance
from tests.simulation.engine.kernel import Thread
from tests.simulation.system.there import BEHIND, Place, There

SHORT: Final = 0.03  # of the pages with items end before they are full
OLD: Final = 0.5  # of the reads of what has just changed, if they may, do not see it
NOTHING: Final = Page(())  # most pages that are read


@define(eq=False)
class Replica:
    """Port Store. The engine is asked neither for what is not there, nor once more for what has not changed since."""

    store: SqliteStore
    there: There
    chance: Chance
    heard: Heard
    _beats: dict[tuple[str, ...], Item] = field(init=False, factory=dict)  # heartbeats that are there, by table and key

    def get(self, table: str, key: Key, *, latest: bool = True) -> Item | None:
        partition, *sort = key.values()
        place = (table, partition)
        if not latest:
            before = self._before(place, self._as_of(place))
            if (entry := sort[0] if sort else "") in before:
                old = before[entry]
                return dict(old) if old is not None else None
        return self._read(place, table, key) if self.there.items[place] else None

    def _read(self, place: Place, table: str, key: Key) -> Item | None:
        read = self.there.read.setdefault(place, {})
        name = tuple(key.values())
        if name not in read:
            read[name] = self.store.get(table, key)
        item = read[name]
        return dict(item) if item is not None else None

    def get_many(self, table: str, keys: Sequence[Key], *, latest: bool = True) -> list[Item]:
        check_distinct(keys)
        found = [self.get(table, key, latest=latest) for key in keys]
        return [item for item in found if item is not None]

    def query(self, query: Query) -> Page:
        place = _place(query)
        as_of = self.there.clock.at if query.latest else self._as_of(place)
        if not query.after and isinstance(thread := getcurrent(), Thread):
            thread.listed_at = as_of
        if query.latest and not self.there.items[place]:
            return NOTHING
        page = self.store.query(query.of_whole_items)
        if before := self._before(place, as_of):
            page = _as_it_was(query, page, before)
        if page.items and self.chance.surprise(f"{query.table} page short", SHORT):
            items = page.items[: self.chance.whole(f"{query.table} page of", 1, len(page.items))]
            page = Page(items, items[-1][query.sort])  # of all of them: nothing follows, and nobody knows it yet
        return Page(kept(query, list(page.items)), page.more)

    def count(self, query: Query, at_most: int) -> int:
        return self.store.count(query, at_most) if self.there.items[_place(query)] else 0

    def write(self, write: Write) -> Item:
        """A heartbeat is put and deleted, and read by nobody: there are more of them than of all other writes."""
        if not is_heartbeat(write.key.get("bucket", "")):
            return self.store.write(write)
        place = (write.table, *write.key.values())
        old, new = self._beats.pop(place, None), write.item if isinstance(write, Put) else None
        if new is not None:
            self._beats[place] = new
        if old != new:
            self.heard([ItemChange(write.table, old, new)])
        return {}

    def write_each(self, puts: Sequence[Put]) -> list[Answer]:
        return self.store.write_each(puts)

    def write_all(self, writes: Sequence[Put | Delete]) -> list[Put | Delete]:
        return self.store.write_all(writes)

    def transact(self, writes: Sequence[Write]) -> None:
        self.store.transact(writes)

    def _as_of(self, place: Place) -> Millis:
        """Of when a read is that is not strongly consistent. The journal of a story is always up to date."""
        table, now = place[0], self.there.clock.at
        if table == JOURNAL or not self._before(place, now - BEHIND):
            return now
        if not self.chance.surprise(f"{table} behind", OLD):
            return now
        return now - self.chance.whole(f"{table} behind by", 1, BEHIND)

    def _before(self, place: Place, since: Millis) -> dict[str, StoredItem | None]:
        """The items of a partition that have changed after an instant, as they were then."""
        found: dict[str, StoredItem | None] = {}
        for one in self.there.lately:
            if one.changed_at > since and one.place == place:
                found.setdefault(one.entry, one.item)
        return found


def _place(query: Query) -> Place:
    [partition] = query.partition.values()
    return query.table, partition


def _as_it_was(query: Query, page: Page, before: dict[str, StoredItem | None]) -> Page:
    """A page, with some items as they were before: or not there, or there again."""
    items = {item[query.sort]: item for item in page.items if item[query.sort] not in before}
    for entry, old in before.items():
        if old is not None and _is_asked_for(query, page.more, entry) and holds(query.when, old):
            items[entry] = dict(old)
    entries = sorted(items, reverse=query.is_backward)
    shown = entries[: query.at_most or None]
    more = shown[-1] if len(shown) < len(entries) else page.more
    return Page(tuple(items[entry] for entry in shown), more)


def _is_asked_for(query: Query, last: str, entry: str) -> bool:
    """Whether it lies within the bounds of a query, and of a page that ends with `last`."""
    first, end = (last, query.after) if query.is_backward else (query.after, last)
    if (first and entry < first) or (end and entry > end) or entry == query.after:
        return False
    return query.within is None or query.within.has(entry)
