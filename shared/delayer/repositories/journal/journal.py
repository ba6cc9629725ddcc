"""The journal: histories, and the schedules of an owner (ADR 0053).

One table, `list` and `entry`. A list is `schedule#<id>` with an event in each entry, or `owner#<owner>` or
`series#<owner>#<series>` with a schedule in each. The list of an owner has eight parts, `owner#…` and `owner1#…` to
`owner7#…`, because a partition takes a thousand writes a second (ADR 0167); an id says in which it is. The beginning of
a schedule is in its entry in that list, whose key is known from its id (ADR 0119); only a large one is beside the other
events. The counts of live schedules are in the same table (`live_count`).
"""

import logging
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from attrs import frozen

from delayer.core.history import cloud_events
from delayer.core.history.events import Event, Original, expiry_of
from delayer.core.ledger.lifecycle import EventType
from delayer.core.schedule.instants import SECOND, Millis
from delayer.core.schedule.malformed import Malformed
from delayer.core.series.occurrence import Occurrence
from delayer.ports.clock import Parallel
from delayer.ports.journal import JournalEntry, PastOccurrence, PastOccurrences
from delayer.ports.lists import Members
from delayer.ports.unavailable import Unavailable
from delayer.repositories.registry import lists
from delayer.store.items import Item, StoredItem, entry_key
from delayer.store.mapped import TEXT, Mapped, check_version
from delayer.store.queries import Query, Range
from delayer.store.store import Store, all_items
from delayer.store.writes import Put

VERSION: Final = 1
MAX_OUTLINE: Final = 700  # bytes of it without its payload: with its key it stays within one write unit
PARTS: Final = 8  # of the list of an owner. Never fewer: what was written stays where it is
MAX_BEGINNING: Final = 4_000  # bytes of a beginning in the list of its owner: a page of the list is 25 entries
PAST: Final = Mapped(
    PastOccurrence,
    "an occurrence in the journal",
    version=None,
    kept=("number", "time"),
    without=("schedule_id",),
)

log = logging.getLogger("delayer.aws")  # that of all adapters, whose lines have the form of the others


@frozen(kw_only=True)
class StoredJournal:
    """Port Journal."""

    store: Store
    table: str
    parallel: Parallel

    def write(self, entries: Sequence[JournalEntry], keep_for: Millis) -> list[int]:
        made = [{_key_of(item): item for item in _items(one, keep_for)} for one in entries]
        items = {key: item for one in made for key, item in one.items()}
        puts = [Put(self.table, entry_key(*key), item) for key, item in items.items()]
        left = {_key_of(put.key) for put in self.store.write_all(puts)}
        return [at for at, one in enumerate(made) if not left.isdisjoint(one)]

    def history(self, schedule_id: str, owner: str) -> tuple[Event, ...]:
        beginnings = [one for item in self._entries(owner, schedule_id) if (one := beginning_from(item))]
        events = [event for item in self._all(f"schedule#{schedule_id}") if (event := event_from(item))]
        return tuple(sorted([*beginnings, *events], key=lambda event: event.order))

    def _entries(self, owner: str, schedule_id: str) -> Sequence[Item]:
        """That of a schedule in the list of its owner. An earlier version has put all into the first part."""
        place = Range("=", lists.entry_of(schedule_id))
        for part in dict.fromkeys((part_of(schedule_id), 0)):
            if found := [*self._all(owner_list(owner, part), place)]:
                return found
        return []

    def _all(self, entries: str, within: Range | None = None) -> Iterator[Item]:
        """All of a list, or one entry of it."""
        return all_items(self.store, Query(self.table, {"list": entries}, within=within, latest=False))

    def beginnings(self, owner: str, ids: Sequence[str]) -> Mapping[str, Original]:
        items = self._read(owner, {one: part_of(one) for one in ids})
        known = {lists.id_in(item) for item in items}
        items += self._read(owner, {one: 0 for one in ids if one not in known and part_of(one)})
        events = [event for item in items if (event := outline_from(item))]
        return {event.schedule_id: event.original.without_payload() for event in events if event.original}

    def _read(self, owner: str, parts: Mapping[str, int]) -> list[Item]:
        """The entries of schedules, in these parts of the list of their owner."""
        keys = [entry_key(owner_list(owner, part), lists.entry_of(one)) for one, part in parts.items()]
        return self.store.get_many(self.table, keys, latest=False) if keys else []

    def owned(self, owner: str, since: Millis, until: Millis, after: str, at_most: int) -> Members:
        def page(part: int) -> Members | Unavailable:
            query = lists.page_query(
                self.table,
                owner_list(owner, part),
                since,
                until,
                after,
                at_most,
                latest=False,
                only=("entry", "createdAt"),
            )
            try:
                return lists.members_in(self.store.query(query))
            except Unavailable as error:
                return error

        pages = []
        for found in self.parallel.map(page, range(PARTS)):
            if isinstance(found, Unavailable):
                raise found
            pages.append(found)
        return lists.merged(pages, at_most)

    def occurrences(self, owner: str, series: str, after: str, at_most: int) -> PastOccurrences:
        page = self.store.query(
            Query(
                self.table,
                {"list": series_list(owner, series)},
                within=Range("<", lists.entry_of(after)) if after else None,
                at_most=at_most,
                is_backward=True,
                latest=False,
            )
        )
        found = tuple(one for item in page.items if (one := occurrence_from(item)))
        return PastOccurrences(occurrences=found, more=lists.id_in({"entry": page.more}))


def _items(entry: JournalEntry, keep_for: Millis) -> list[Item]:
    event, expires_at = entry.event, expiry_of(entry.event, keep_for)
    if event.type is not EventType.SCHEDULED:
        return [event_item(entry, expires_at)]
    items = [beginning_item(entry, expires_at)]
    if "event" not in items[0]:
        items.append(event_item(entry, expires_at))
    if entry.occurrence:
        items.append(occurrence_item(entry.event, entry.occurrence, expires_at))
    return items


def _key_of(item: StoredItem) -> tuple[str, str]:
    return item["list"], item["entry"]


def owner_list(owner: str, part: int = 0) -> str:
    """A part of the list of all schedules of an owner."""
    return f"owner{part or ''}#{owner}"


def part_of(schedule_id: str) -> int:
    """In which part of the list of its owner a schedule is."""
    return zlib.crc32(schedule_id.encode()) % PARTS


def series_list(owner: str, series: str) -> str:
    """The list of the occurrences of a series. No id of a series holds a `#`."""
    return f"series#{owner}#{series}"


def occurrence_item(event: Event, occurrence: Occurrence, expires_at: Millis) -> Item:
    """An occurrence as it is stored, in the list of its series."""
    past = PastOccurrence(schedule_id=event.schedule_id, number=occurrence.number, time=occurrence.time)
    entries = series_list(event.owner, occurrence.series)
    return lists.member_item(entries, event.schedule_id, event.at, expires_at) | PAST.item(past)


def occurrence_from(item: StoredItem) -> PastOccurrence | None:
    """The inverse of occurrence_item. What this code cannot read makes the list shorter, and nothing else."""
    try:
        return PAST.row(item, schedule_id=lists.id_in(item))
    except Unavailable as error:
        log.warning("%s", error)
        return None


def beginning_item(entry: JournalEntry, expires_at: Millis) -> Item:
    """A beginning as it is stored, in the list of its owner. A large one is not in it: that list is read.

    It is there without its payload, if that is small: for lists.
    """
    event = entry.event
    entries = owner_list(event.owner, part_of(event.schedule_id))
    item = lists.member_item(entries, event.schedule_id, event.at, expires_at)
    text = cloud_events.shortened(entry.text)
    if len(text.encode()) <= MAX_BEGINNING:
        return item | {"v": VERSION, "event": text}
    outline = cloud_events.outlined(entry.text)
    if len(outline.encode()) > MAX_OUTLINE:
        return item
    return item | {"v": VERSION, "outline": outline}


def beginning_from(item: StoredItem) -> Event | None:
    """The inverse of beginning_item; None also of one that has its event elsewhere."""
    if "event" not in item:
        return None
    schedule_id, owner = lists.id_in(item), item["list"].partition("#")[2]
    return _read(item, lambda text: cloud_events.lengthened(text, schedule_id, owner))


def outline_from(item: StoredItem) -> Event | None:
    """A beginning, perhaps without its payload; None if its action is large, too."""
    schedule_id, owner = lists.id_in(item), item["list"].partition("#")[2]
    if "outline" not in item:
        return beginning_from(item)
    return _read(item, lambda text: cloud_events.lengthened(text, schedule_id, owner), "outline")


def event_item(entry: JournalEntry, expires_at: Millis) -> Item:
    """An event as it is stored: the text in which it came."""
    at, order, change = entry.event.order
    return {
        **entry_key(f"schedule#{entry.event.schedule_id}", f"{at:015d}#{order + 1:05d}#{change}"),
        "v": VERSION,
        "event": entry.text,
        "expiresAt": expires_at // SECOND,
    }


def event_from(item: StoredItem) -> Event | None:
    """The inverse of event_item."""
    return _read(item, str)


def _read(item: StoredItem, whole: Callable[[str], str], name: str = "event") -> Event | None:
    """What this code cannot read makes the history shorter, and nothing else."""
    try:
        check_version(item, VERSION)
        return cloud_events.decode(whole(TEXT.load(item[name])))
    except (KeyError, ValueError, TypeError, Malformed) as error:
        log.warning("an event of the journal that cannot be read: %r", error)
        return None
