"""The journal: histories, the schedules of an owner, and how many are live (ADR 0053).

One table, `list` and `entry`. A list is `schedule#<id>` with an event in each entry, or `owner#<owner>` or
`series#<owner>#<series>` with a schedule in each. The list of an owner has eight parts, `owner#…` and `owner1#…` to
`owner7#…`, because a partition takes a thousand writes a second (ADR 0167); an id says in which it is. The beginning of
a schedule is in its entry in that list, whose key is known from its id (ADR 0119); only a large one is beside the other
events. The counts of live schedules are in the same table, in the lists `live#<owner>`.
"""

import logging
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from attrs import frozen

from delayer.engines.ports import Parallel, Unavailable
from delayer.engines.store.mapped import TEXT, Mapped, check_version
from delayer.engines.store.model import (
    Change,
    Condition,
    Is,
    Item,
    KeyRange,
    Page,
    Put,
    Query,
    Some,
    StoredItem,
    entry_key,
    lacks,
)
from delayer.engines.store.store import Store, WriteRefused, all_items
from delayer.history import cloud_events
from delayer.history.model import LifecycleEvent, Occurrence, Original, expiry_of
from delayer.history.ports import JournalEntry, Member, Members, PastOccurrence, PastOccurrences
from delayer.ledger.model import EventType
from delayer.schedule.instants import DAY, SECOND, Malformed, Millis
from delayer.schedule.schedule_id import address_of

SPAN: Final[Millis] = 28 * DAY
COUNT_PARTS: Final = 5  # of a span's count: two transactions on one item at a time refuse each other
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


def entry_of(schedule_id: str) -> str:
    """The sort key of a member: in due order."""
    return f"{address_of(schedule_id).due:015d}#{schedule_id}"


def member_item(entries: str, schedule_id: str, created_at: Millis, expires_at: Millis) -> Item:
    """A member of the list `entries` as it is stored."""
    return {
        **entry_key(entries, entry_of(schedule_id)),
        "createdAt": created_at,
        "expiresAt": expires_at // SECOND,
    }


def _member_from(item: StoredItem) -> Member:
    return Member(schedule_id=id_in(item), created_at=item["createdAt"])


def id_in(item: StoredItem) -> str:
    """The id of a member, or of the key of one."""
    return _id_in_entry(item["entry"])


def _id_in_entry(entry: str) -> str:
    return entry.partition("#")[2]


def list_query(table: str, entries: str, after: str = "", at_most: int = 0) -> Query:
    """A page of a list, after an entry of it: strongly consistent."""
    return Query(table, {"list": entries}, after=after, at_most=at_most)


def page_query(
    table: str,
    entries: str,
    since: Millis,
    until: Millis,
    after: str,
    at_most: int,
    *,
    latest: bool,
    only: tuple[str, ...] = (),
) -> Query:
    """A page of the list: due from `since` on and before `until`, after one of them.

    It does not go on after an entry: DynamoDB refuses one outside the bounds, and bounds that are the wrong way round.
    """
    following = f"{entry_of(after)}!" if after else ""  # longer than its entry, and before all later ones
    first = max(f"{since:015d}", following)
    within = KeyRange("between", first, max(f"{until:015d}", first))
    return Query(table, {"list": entries}, within=within, at_most=at_most, latest=latest, only=only)


def members_in(page: Page) -> Members:
    """The page as the port has it."""
    return Members(members=tuple(map(_member_from, page.items)), more=_id_in_entry(page.more))


def merged(pages: Sequence[Members], at_most: int) -> Members:
    """One page of several, each of another part of the list: as many as one has, in due order.

    Behind the end of a page that is not the last of its part there may be others, which are not known yet.
    """
    known_until = min((entry_of(page.more) for page in pages if page.more), default="~")
    found = {entry_of(one.schedule_id): one for page in pages for one in page.members}
    shown = [found[entry] for entry in sorted(found) if entry <= known_until][:at_most]
    is_all = len(shown) == len(found) and not any(page.more for page in pages)
    return Members(members=tuple(shown), more="" if is_all or not shown else shown[-1].schedule_id)


COUNTED, OVER = "counted", "over"


@frozen(kw_only=True)
class StoredLiveCount:
    """Counts by rows of the journal. Each change is one transaction with the note that the schedule was counted."""

    store: Store
    table: str

    def started(self, owner: str, schedule_id: str, expires_at: Millis) -> None:
        self._together(self._note(schedule_id, COUNTED, expires_at, lacks("list")), self._add(owner, schedule_id, 1))

    def ended(self, owner: str, schedule_id: str, expires_at: Millis) -> None:
        note = self._note(schedule_id, OVER, expires_at, Is("state", COUNTED))
        if not self._together(note, self._add(owner, schedule_id, -1)) and not self._over_from_the_start(note):
            raise Unavailable("its beginning was counted in between")

    def _over_from_the_start(self, note: Put) -> bool:
        """Its end arrived first: its beginning will not be counted. True also if it is over already."""
        try:
            self.store.write(note._replace(when=Some((lacks("list"), Is("state", OVER)))))
        except WriteRefused:
            return False
        return True

    def _together(self, note: Put, add: Change) -> bool:
        """False: the condition of the note failed, and nothing was written."""
        try:
            self.store.transact([note, add])
        except WriteRefused:
            return False
        return True

    def _note(self, schedule_id: str, state: str, expires_at: Millis, when: Condition) -> Put:
        values = {"state": state, "expiresAt": expires_at // SECOND}
        return Put(self.table, entry_key(f"counted#{schedule_id}"), values, when)

    def _add(self, owner: str, schedule_id: str, number: int) -> Change:
        span, part = address_of(schedule_id).due // SPAN, zlib.crc32(schedule_id.encode()) % COUNT_PARTS
        expires = (span + 3) * SPAN // SECOND  # long after it has ceased to count
        key = entry_key(f"live#{owner}", f"{span:06d}#{part}")
        return Change(self.table, key, put={"expiresAt": expires}, add={"count": number})

    def live(self, owner: str, now: Millis) -> int:
        first = KeyRange(">=", f"{now // SPAN - 1:06d}")
        query = Query(self.table, {"list": f"live#{owner}"}, within=first, latest=False)
        counted: int = sum(item["count"] for item in all_items(self.store, query))
        return max(counted, 0)


log = logging.getLogger("delayer.engines")  # that of all adapters, whose lines have the form of the others


@frozen(kw_only=True)
class StoredJournal:
    """Keeps the events of each schedule, and the lists that they belong to."""

    store: Store
    table: str
    parallel: Parallel

    def write(self, entries: Sequence[JournalEntry], keep_for: Millis) -> list[int]:
        made = [{_key_of(item): item for item in _items(one, keep_for)} for one in entries]
        items = {key: item for one in made for key, item in one.items()}
        puts = [Put(self.table, entry_key(*key), item) for key, item in items.items()]
        left = {_key_of(put.key) for put in self.store.write_all(puts)}
        return [at for at, one in enumerate(made) if not left.isdisjoint(one)]

    def history(self, schedule_id: str, owner: str) -> tuple[LifecycleEvent, ...]:
        beginnings = [one for item in self._entries(owner, schedule_id) if (one := beginning_from(item))]
        events = [event for item in self._all(f"schedule#{schedule_id}") if (event := event_from(item))]
        return tuple(sorted([*beginnings, *events], key=lambda event: event.order))

    def _entries(self, owner: str, schedule_id: str) -> Sequence[Item]:
        """That of a schedule in the list of its owner. An earlier version has put all into the first part."""
        place = KeyRange("=", entry_of(schedule_id))
        for part in dict.fromkeys((part_of(schedule_id), 0)):
            if found := [*self._all(owner_list(owner, part), place)]:
                return found
        return []

    def _all(self, entries: str, within: KeyRange | None = None) -> Iterator[Item]:
        """All of a list, or one entry of it."""
        return all_items(self.store, Query(self.table, {"list": entries}, within=within, latest=False))

    def beginnings(self, owner: str, ids: Sequence[str]) -> Mapping[str, Original]:
        items = self._read(owner, {one: part_of(one) for one in ids})
        known = {id_in(item) for item in items}
        items += self._read(owner, {one: 0 for one in ids if one not in known and part_of(one)})
        events = [event for item in items if (event := outline_from(item))]
        return {event.schedule_id: event.original.without_payload() for event in events if event.original}

    def _read(self, owner: str, parts: Mapping[str, int]) -> list[Item]:
        """The entries of schedules, in these parts of the list of their owner."""
        keys = [entry_key(owner_list(owner, part), entry_of(one)) for one, part in parts.items()]
        return self.store.get_many(self.table, keys, latest=False) if keys else []

    def owned(self, owner: str, since: Millis, until: Millis, after: str, at_most: int) -> Members:
        def page(part: int) -> Members | Unavailable:
            query = page_query(
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
                return members_in(self.store.query(query))
            except Unavailable as error:
                return error

        pages = []
        for found in self.parallel.map(page, range(PARTS)):
            if isinstance(found, Unavailable):
                raise found
            pages.append(found)
        return merged(pages, at_most)

    def occurrences(self, owner: str, series: str, after: str, at_most: int) -> PastOccurrences:
        page = self.store.query(
            Query(
                self.table,
                {"list": series_list(owner, series)},
                within=KeyRange("<", entry_of(after)) if after else None,
                at_most=at_most,
                is_backward=True,
                latest=False,
            )
        )
        found = tuple(one for item in page.items if (one := occurrence_from(item)))
        return PastOccurrences(occurrences=found, more=id_in({"entry": page.more}))


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


def occurrence_item(event: LifecycleEvent, occurrence: Occurrence, expires_at: Millis) -> Item:
    """An occurrence as it is stored, in the list of its series."""
    past = PastOccurrence(schedule_id=event.schedule_id, number=occurrence.number, time=occurrence.time)
    entries = series_list(event.owner, occurrence.series)
    return member_item(entries, event.schedule_id, event.at, expires_at) | PAST.item(past)


def occurrence_from(item: StoredItem) -> PastOccurrence | None:
    """The inverse of occurrence_item. What this code cannot read makes the list shorter, and nothing else."""
    try:
        return PAST.row(item, schedule_id=id_in(item))
    except Unavailable as error:
        log.warning("%s", error)
        return None


def beginning_item(entry: JournalEntry, expires_at: Millis) -> Item:
    """A beginning as it is stored, in the list of its owner. A large one is not in it: that list is read.

    It is there without its payload, if that is small: for lists.
    """
    event = entry.event
    entries = owner_list(event.owner, part_of(event.schedule_id))
    item = member_item(entries, event.schedule_id, event.at, expires_at)
    text = cloud_events.shortened(entry.text)
    if len(text.encode()) <= MAX_BEGINNING:
        return item | {"v": VERSION, "event": text}
    outline = cloud_events.outlined(entry.text)
    if len(outline.encode()) > MAX_OUTLINE:
        return item
    return item | {"v": VERSION, "outline": outline}


def beginning_from(item: StoredItem) -> LifecycleEvent | None:
    """The inverse of beginning_item; None also of one that has its event elsewhere."""
    if "event" not in item:
        return None
    schedule_id, owner = id_in(item), item["list"].partition("#")[2]
    return _read(item, lambda text: cloud_events.lengthened(text, schedule_id, owner))


def outline_from(item: StoredItem) -> LifecycleEvent | None:
    """A beginning, perhaps without its payload; None if its action is large, too."""
    schedule_id, owner = id_in(item), item["list"].partition("#")[2]
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


def event_from(item: StoredItem) -> LifecycleEvent | None:
    """The inverse of event_item."""
    return _read(item, str)


def _read(item: StoredItem, whole: Callable[[str], str], name: str = "event") -> LifecycleEvent | None:
    """An item that this code cannot read makes the history shorter, and nothing else."""
    try:
        check_version(item, VERSION)
        return cloud_events.decode(whole(TEXT.load(item[name])))
    except (KeyError, ValueError, TypeError, Malformed) as error:
        log.warning("an event of the journal that cannot be read: %r", error)
        return None
