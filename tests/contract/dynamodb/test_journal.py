"""The journal: the events of each schedule, in order, and the schedules of an owner."""

import json
from collections import Counter
from collections.abc import Callable, Iterable
from itertools import count, permutations
from typing import Any

import pytest
from attrs import evolve
from botocore.exceptions import ClientError

from delayer.engines.aws.dynamo_store import ITEMS, ROUNDS, DynamoStore
from delayer.engines.aws.expressions import from_attributes
from delayer.engines.ports import Unavailable
from delayer.engines.process import InOrder
from delayer.engines.store.model import Delete, Item, Put, StoredItem, entry_key
from delayer.engines.store.store import Store
from delayer.history import cloud_events
from delayer.history.model import LifecycleEvent, Occurrence, Original, expiry_of
from delayer.history.ports import Journal, JournalEntry, Member, Members, PastOccurrence, PastOccurrences
from delayer.history.repository import (
    MAX_BEGINNING,
    MAX_OUTLINE,
    PARTS,
    StoredJournal,
    beginning_from,
    beginning_item,
    entry_of,
    event_from,
    event_item,
    outline_from,
    owner_list,
    part_of,
    series_list,
)
from delayer.history.rules import whole
from delayer.ledger.model import EventType, State
from delayer.schedule.instants import DAY, HOUR, MINUTE, ROW_LIFETIME, SECOND, Millis
from delayer.schedule.schedule import Schedule
from delayer.schedule.schedule_id import RANDOM_BYTES
from tests.clients import ERRORS, AnyClient, Failing, Wrapped
from tests.contract.conftest import create_table
from tests.contract.every_row import every_row
from tests.samples import GOLDEN, NOW, OWNER, a_schedule, an_id, many_schedules

KEEP_FOR = 90 * DAY
FAR = 2**48
SOURCE = "urn:delayer:123456789012:eu-west-1:delayer"
SAMPLE = LifecycleEvent(
    id="4e6ff9dcd8a1a9b3c7e5c8e1d6b2f0a1",
    type=EventType.ATTEMPT_FAILED,
    schedule_id=an_id(),
    owner=OWNER,
    at=NOW + 250,
    state=State.CLAIMED,
    revision=3,
    attempt=2,
    lateness=17,
    detail="HTTP 503",
    name="invoice 17",
    source=SOURCE,
)
ADAPTER = StoredJournal


def scheduled(schedule: Schedule, change: str = "c0") -> LifecycleEvent:
    return LifecycleEvent(
        id=change,
        type=EventType.SCHEDULED,
        schedule_id=schedule.id,
        owner=schedule.owner,
        at=schedule.created_at,
        state=State.SCHEDULED,
        original=Original(schedule=schedule),
        source=SOURCE,
    )


def an_event(change: str = "c1", at: Millis = NOW, revision: int = 1, **changes: Any) -> LifecycleEvent:
    event = LifecycleEvent(
        id=change,
        type=EventType.CLAIMED,
        schedule_id=an_id(),
        owner=OWNER,
        at=at,
        state=State.CLAIMED,
        revision=revision,
        source=SOURCE,
    )
    return evolve(event, **changes)


def enqueued(change: str, at: Millis = NOW) -> LifecycleEvent:
    return an_event(change, at, revision=0, type=EventType.ENQUEUED, state=State.ENQUEUED)


class Strict(AnyClient):
    """A client that refuses bounds and starting keys as DynamoDB does; moto takes them."""

    def __init__(self, client: Any) -> None:
        self.client = client

    def __getattr__(self, name: str) -> Any:
        return getattr(self.client, name)

    def query(self, **asked: Any) -> Any:
        if " BETWEEN " not in asked["KeyConditionExpression"]:
            return self.client.query(**asked)
        _, first, last = (value["S"] for value in asked["ExpressionAttributeValues"].values())
        start = asked.get("ExclusiveStartKey", {}).get("entry", {}).get("S", first)
        if not first <= start <= last:
            raise ClientError({"Error": {"Code": "ValidationException", "Message": "refused"}}, "Query")
        return self.client.query(**asked)


def strict(store: Store) -> Store:
    return DynamoStore(Strict(store.dynamodb)) if isinstance(store, DynamoStore) else store


def adapter(store: Store) -> StoredJournal:
    return StoredJournal(store=store, table=create_table(store, "list", "entry"), parallel=InOrder())


def on(client: Any) -> StoredJournal:
    """With a client that plays DynamoDB."""
    return StoredJournal(store=DynamoStore(client), table="t", parallel=InOrder())


@pytest.fixture
def journal(store: Store) -> StoredJournal:
    return evolve(adapter(store), store=strict(store))


def entries_of(events: Iterable[LifecycleEvent]) -> list[JournalEntry]:
    return [JournalEntry(event=event, text=cloud_events.encode(event)) for event in events]


def write(journal: Journal, *events: LifecycleEvent) -> None:
    assert journal.write(entries_of(events), KEEP_FOR) == []


# ------------------------------------------------------------ histories


def test_nothing_is_known_at_first(journal: Journal) -> None:
    assert journal.history(an_id(), OWNER) == ()
    assert journal.owned(OWNER, 0, FAR, "", 10) == Members(members=(), more="")


def test_nothing_to_store(journal: Journal) -> None:
    write(journal)
    assert journal.history(an_id(), OWNER) == ()


@pytest.mark.parametrize(
    "event",
    [SAMPLE, scheduled(a_schedule(group="g", tags='{"a": "1"}', payload='{"x": 1.0, "\u00e4 ": [ ]}')), enqueued("c1")],
    ids=["with all", "scheduled", "with little"],
)
def test_an_event_is_read_as_it_was_stored(journal: Journal, event: LifecycleEvent) -> None:
    write(journal, event)
    assert journal.history(event.schedule_id, OWNER) == (event,)


def test_what_is_stored_twice_is_stored_once(journal: Journal) -> None:
    """In one call, and in two; SNS and SQS deliver at least once."""
    events = [scheduled(a_schedule()), enqueued("c1"), an_event("c2")]
    write(journal, *events, *events)
    write(journal, events[1])
    write(journal, *reversed(events))
    assert journal.history(an_id(), OWNER) == tuple(events)
    assert journal.owned(OWNER, 0, FAR, "", 10).members == (
        Member(schedule_id=an_id(), created_at=a_schedule().created_at),
    )


LIFE = [
    scheduled(a_schedule(created_at=NOW), "c9"),
    enqueued("c8"),
    an_event("c7", NOW, 1),
    an_event("c6", NOW + 1, 2, type=EventType.ATTEMPT_FAILED, attempt=1),
    an_event("c5", NOW + 1, 10, type=EventType.EXECUTED, state=State.EXECUTED),
]


def test_a_history_is_in_order_whatever_the_order_it_came_in(journal: Journal) -> None:
    """By time, and within a millisecond by revision, ten after two; a schedule begins with its beginning."""
    for number, order in enumerate(list(permutations(LIFE))[::7]):
        schedule_id = an_id(NOW + number)
        for event in order:
            write(journal, evolve(event, schedule_id=schedule_id, original=None))
        assert [event.id for event in journal.history(schedule_id, OWNER)] == [event.id for event in LIFE]


def test_a_history_stored_at_once_is_in_order(journal: Journal) -> None:
    write(journal, *reversed(LIFE))
    assert journal.history(an_id(), OWNER) == tuple(LIFE)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (an_event("c2", revision=2), an_event("c1", revision=3)),
        (enqueued("c1"), enqueued("c2")),
        (enqueued("c2"), an_event("c1", revision=1)),
        (scheduled(a_schedule(created_at=NOW), "c2"), enqueued("c1")),
    ],
    ids=["two revisions", "two removals", "a removal and a row", "a beginning and a removal"],
)
def test_two_events_of_one_millisecond_stay_apart(journal: Journal, one: LifecycleEvent, other: LifecycleEvent) -> None:
    write(journal, other, one)
    assert journal.history(an_id(), OWNER) == (one, other)


def test_a_history_is_that_of_one_schedule(journal: Journal) -> None:
    """Also where all else is the same."""
    write(journal, an_event("c1"), an_event("c1", schedule_id=an_id(NOW + 1)))
    assert journal.history(an_id(), OWNER) == (an_event("c1"),)
    assert journal.history(an_id(NOW + 2), OWNER) == ()


@pytest.mark.parametrize("number", [ITEMS, ITEMS + 1, 60])
def test_any_number_is_stored(journal: Journal, number: int) -> None:
    """BatchWriteItem takes 25."""
    events = [an_event(f"c{at}", NOW + at) for at in range(number)]
    write(journal, *events)
    assert journal.history(an_id(), OWNER) == tuple(events)


def test_a_history_of_many_large_events_is_whole(journal: Journal) -> None:
    """More than the megabyte that a Query reads at a time."""
    answer = json.dumps("x" * 200_000)
    events = [an_event(f"c{at}", NOW + at, answer=answer) for at in range(8)]
    write(journal, *events)
    assert journal.history(an_id(), OWNER) == tuple(events)


# ------------------------------------------------------------ what an owner has


def key_of(item: StoredItem) -> dict[str, str]:
    return entry_key(item["list"], item["entry"])


def plant(journal: StoredJournal, item: StoredItem) -> None:
    """As some other code has written it."""
    journal.store.write(Put(journal.table, key_of(item), item))


def owned(journal: Journal, number: int, owner: str = OWNER, first: int = 0) -> list[str]:
    """The ids of so many schedules, kept in no order."""
    schedules = [evolve(one, owner=owner) for one in many_schedules(first + number)[first:]]
    events = [scheduled(one, f"c{at}") for at, one in enumerate(schedules)]
    write(journal, *events[1::2], *events[::-2])
    write(journal, *events[::2])
    return [schedule.id for schedule in schedules]


def pages(journal: Journal, page: int, since: Millis = 0, until: Millis = FAR) -> list[str]:
    """All pages, as a client reads them."""
    found: list[str] = []
    after = ""
    while True:
        got = journal.owned(OWNER, since, until, after, page)
        assert len(got.members) <= page
        found += [member.schedule_id for member in got.members]
        after = got.more
        if not after:
            return found
        assert after == found[-1]


@pytest.mark.parametrize(("number", "page"), [(0, 3), (1, 3), (3, 3), (7, 3), (9, 3), (4, 1), (30, 100)])
def test_what_an_owner_has_is_read_page_by_page_in_due_order(journal: Journal, number: int, page: int) -> None:
    """None twice, none missing."""
    ids = owned(journal, number)
    assert pages(journal, page) == ids


def test_the_list_of_an_owner_is_spread_over_its_parts(store: Store) -> None:
    """A partition of DynamoDB takes a thousand writes a second."""
    journal = adapter(store)
    ids = owned(journal, 200)
    lists = Counter(item["list"] for item in every_row(store, journal.table))
    assert set(lists) == {owner_list(OWNER, part) for part in range(PARTS)}
    assert max(lists.values()) < 2 * len(ids) / PARTS


def test_what_an_earlier_version_has_put_into_the_first_part_is_found(store: Store) -> None:
    """Its list had no others."""
    journal = adapter(store)
    ids = owned(journal, 20)
    for item in every_row(store, journal.table):
        store.write(Delete(journal.table, key_of(item)))
        plant(journal, {**item, "list": owner_list(OWNER)})
    assert pages(journal, 7) == ids
    assert set(journal.beginnings(OWNER, ids)) == set(ids)
    assert all(len(journal.history(one, OWNER)) == 1 for one in ids)


@pytest.mark.parametrize("page", [1, 2, 3, 4, 10])
def test_pages_stay_within_their_bounds(journal: Journal, page: int) -> None:
    """From the first instant on, before the second."""
    ids = owned(journal, 9)
    assert pages(journal, page, NOW + 2, NOW + 7) == ids[2:7]
    assert pages(journal, page, NOW + 2) == ids[2:]
    assert pages(journal, page, until=NOW + 7) == ids[:7]


def test_a_page_tells_since_when(journal: Journal) -> None:
    created = [a_schedule(NOW + at, created_at=NOW - at * MINUTE) for at in range(3)]
    write(journal, *[scheduled(schedule) for schedule in created])
    expected = tuple(Member(schedule_id=schedule.id, created_at=schedule.created_at) for schedule in created)
    assert journal.owned(OWNER, 0, FAR, "", 10).members == expected


def test_schedules_of_one_millisecond_are_all_there(journal: Journal) -> None:
    schedules = [a_schedule(randomness=number.to_bytes(RANDOM_BYTES, "big")) for number in range(7)]
    write(journal, *[scheduled(schedule) for schedule in schedules])
    assert pages(journal, 2) == sorted(schedule.id for schedule in schedules)


@pytest.mark.parametrize(
    ("since", "until", "after", "expected"),
    [
        (NOW + 3, NOW + 6, 1, [3, 4, 5]),
        (NOW + 3, NOW + 6, 3, [4, 5]),
        (NOW + 3, NOW + 6, 5, []),
        (NOW + 3, NOW + 6, 8, []),
        (NOW + 3, NOW + 3, None, []),
        (NOW + 6, NOW + 3, None, []),
        (NOW + 6, NOW + 3, 4, []),
        (NOW + 3, NOW + 4, 2, [3]),
        (0, FAR, 8, []),
    ],
    ids=str,
)
def test_a_page_after_one_within_bounds(
    journal: Journal, since: Millis, until: Millis, after: int | None, expected: list[int]
) -> None:
    """Bounds and cursors are the client's: one may lie outside the other, and the bounds be the wrong way round."""
    ids = owned(journal, 9)
    got = journal.owned(OWNER, since, until, "" if after is None else ids[after], 10)
    assert got == Members(
        members=tuple(Member(schedule_id=ids[at], created_at=a_schedule().created_at) for at in expected), more=""
    )


def test_a_page_goes_on_after_one_that_is_not_there(journal: Journal) -> None:
    """It has expired meanwhile."""
    ids = owned(journal, 3, first=3)
    assert [member.schedule_id for member in journal.owned(OWNER, 0, FAR, an_id(NOW + 1), 10).members] == ids
    between = a_schedule(NOW + 3, randomness=bytes([255] * RANDOM_BYTES)).id
    assert [member.schedule_id for member in journal.owned(OWNER, 0, FAR, between, 10).members] == ids[1:]


def test_another_owner_sees_nothing(journal: Journal) -> None:
    owned(journal, 3)
    [other] = owned(journal, 1, "somebody else", first=5)
    assert journal.owned("somebody else", 0, FAR, "", 10).members == (
        Member(schedule_id=other, created_at=a_schedule().created_at),
    )
    assert journal.owned("a third", 0, FAR, "", 10) == Members(members=(), more="")
    assert journal.owned(OWNER[:-1], 0, FAR, "", 10) == Members(members=(), more="")


def test_what_was_scheduled_is_listed_and_nothing_else_is(journal: Journal) -> None:
    """An event whose beginning was lost has a history, and no place in the list."""
    write(journal, enqueued("c1"), an_event("c2"))
    assert journal.owned(OWNER, 0, FAR, "", 10) == Members(members=(), more="")


def test_what_was_redriven_into_the_table_is_listed_once(journal: Journal) -> None:
    """Its record is written again, and so is announced again: two events, one schedule, with one beginning."""
    write(journal, scheduled(a_schedule(), "c1"), scheduled(a_schedule(), "c2"))
    assert pages(journal, 10) == [an_id()]
    [beginning] = journal.history(an_id(), OWNER)
    assert beginning.original == Original(schedule=a_schedule())


SIZES = [0, 3_000, MAX_BEGINNING, 100_000]


@pytest.mark.parametrize("size", SIZES)
def test_a_beginning_is_known_by_its_id_and_listed_whatever_its_size(journal: Journal, size: int) -> None:
    beginning = scheduled(a_schedule(payload=json.dumps("x" * size)))
    write(journal, an_event("c2"), beginning, beginning)
    assert journal.history(an_id(), OWNER) == (beginning, an_event("c2"))
    assert pages(journal, 10) == [an_id()]


def test_a_beginning_is_that_of_its_owner(journal: Journal) -> None:
    """Whoever asks with another owner has another id, too: none is genuine for two."""
    write(journal, scheduled(a_schedule()))
    assert journal.history(an_id(), "somebody else") == ()


# ------------------------------------------------------------ for lists


@pytest.mark.parametrize("size", [0, 10, MAX_BEGINNING, 100_000])
def test_of_many_schedules_what_is_known_is_read_at_once_without_payloads(journal: Journal, size: int) -> None:
    schedules = [
        evolve(one, definition=evolve(one.definition, payload=json.dumps("x" * size), group="g", tags='{"team":"a"}'))
        for one in many_schedules(3)
    ]
    write(journal, *[scheduled(one, f"c{at}") for at, one in enumerate(schedules)])
    asked = [*[one.id for one in schedules], an_id(NOW + 3 * HOUR)]
    found = journal.beginnings(OWNER, asked)
    without = {one.id: evolve(one, definition=evolve(one.definition, payload="")) for one in schedules}
    assert {schedule_id: original.schedule for schedule_id, original in found.items()} == without
    assert not any(original.is_complete for original in found.values())
    assert journal.beginnings("somebody else", asked) == {}
    assert journal.beginnings(OWNER, []) == {}


def test_a_large_action_is_left_out_of_lists(journal: Journal) -> None:
    """Its entry stays within one write unit, and its history is whole."""
    large = scheduled(a_schedule(action=json.dumps({"type": "http-request", "url": "x" * MAX_BEGINNING})))
    write(journal, large)
    assert journal.beginnings(OWNER, [large.schedule_id]) == {}
    assert journal.history(large.schedule_id, OWNER) == (large,)


def test_an_outline_stays_within_one_write_unit() -> None:
    """Of a large schedule; else its whole beginning is there."""
    text = json.dumps({"type": "http-request", "url": "https://example.com/" + "x" * 300})
    [entry] = entries_of([scheduled(a_schedule(action=text, payload=json.dumps("x" * MAX_BEGINNING)))])
    item = beginning_item(entry, NOW)
    assert set(item) == {"list", "entry", "createdAt", "expiresAt", "v", "outline"}
    assert beginning_from(item) is None, "it is no part of a history"
    assert sum(len(name) + len(str(value).encode()) for name, value in item.items()) < 1024


@pytest.mark.parametrize(("more", "is_there"), [(0, True), (1, False)])
def test_an_outline_of_up_to_700_bytes_is_there(more: int, is_there: bool) -> None:
    """A longer one would take a second write unit."""

    def entry_with(url: str) -> JournalEntry:
        text = json.dumps({"type": "http-request", "url": url})
        [entry] = entries_of([scheduled(a_schedule(action=text, payload=json.dumps("x" * MAX_BEGINNING)))])
        return entry

    short = len(cloud_events.outlined(entry_with("").text).encode())
    assert ("outline" in beginning_item(entry_with("x" * (MAX_OUTLINE - short + more)), NOW)) == is_there


# ------------------------------------------------------------ what a series has put


def put(journal: Journal, number: int, series: str = "s", owner: str = OWNER) -> list[PastOccurrence]:
    """So many occurrences, kept in no order, twice each; the latest first."""
    schedules = [evolve(one, owner=owner) for one in many_schedules(number)]
    past = [PastOccurrence(schedule_id=one.id, number=at, time=NOW + at) for at, one in enumerate(schedules)]
    entries = [
        JournalEntry(
            event=scheduled(one, f"c{which.number}"),
            text=cloud_events.encode(scheduled(one, f"c{which.number}")),
            occurrence=Occurrence(series=series, number=which.number, time=which.time),
        )
        for one, which in zip(schedules, past, strict=True)
    ]
    assert journal.write([*entries[1::2], *entries[::-2]], KEEP_FOR) == []
    assert journal.write(entries[::2], KEEP_FOR) == []
    return past[::-1]


@pytest.mark.parametrize(("number", "page"), [(0, 3), (1, 3), (3, 3), (7, 3), (4, 1), (9, 100)])
def test_what_a_series_has_put_is_read_page_by_page_the_latest_first(journal: Journal, number: int, page: int) -> None:
    wanted = put(journal, number)
    found: list[PastOccurrence] = []
    after = ""
    for _ in range(number + 1):
        got = journal.occurrences(OWNER, "s", after, page)
        assert len(got.occurrences) <= page
        found += got.occurrences
        if not (after := got.more):
            break
    assert found == wanted
    assert len(journal.owned(OWNER, 0, FAR, "", 100).members) == number, "they are schedules of their owner, too"


def test_another_owner_or_series_has_put_nothing(journal: Journal) -> None:
    put(journal, 2)
    nothing = PastOccurrences(occurrences=(), more="")
    assert journal.occurrences(OWNER, "t", "", 5) == nothing
    assert journal.occurrences("somebody else", "s", "", 5) == nothing


def test_an_occurrence_that_cannot_be_read_is_left_out(journal: StoredJournal) -> None:
    [last, first] = put(journal, 2)
    plant(journal, entry_key(series_list(OWNER, "s"), entry_of(last.schedule_id)))
    assert journal.occurrences(OWNER, "s", "", 5).occurrences == (first,)


# ------------------------------------------------------------ when it is forgotten


def expiry(journal: StoredJournal, event: LifecycleEvent) -> Millis:
    [entry] = entries_of([event])
    stored = (beginning_item if event.type is EventType.SCHEDULED else event_item)(entry, 0)
    item = journal.store.get(journal.table, key_of(stored))
    assert item
    seconds: int = item["expiresAt"]
    return seconds * SECOND


@pytest.mark.parametrize(
    ("event", "counted_from"),
    [
        (an_event(type=EventType.CANCELLED, state=State.CANCELLED, at=NOW - HOUR), NOW),
        (an_event(type=EventType.EXECUTED, state=State.EXECUTED, at=NOW + HOUR), NOW + HOUR),
        (scheduled(a_schedule(NOW + 400 * DAY)), NOW + 400 * DAY + ROW_LIFETIME),
    ],
    ids=["before it is due", "after it was due", "far ahead, and it may go on for as long as its row"],
)
def test_an_event_expires_so_long_after_it_is_over(
    journal: StoredJournal, event: LifecycleEvent, counted_from: Millis
) -> None:
    write(journal, event)
    assert expiry(journal, event) == counted_from + KEEP_FOR == expiry_of(event, KEEP_FOR)


# ------------------------------------------------------------ the adapter alone


def test_the_golden_event() -> None:
    item = from_attributes(json.loads((GOLDEN / "journal-event.json").read_text()))
    assert event_from(item) == SAMPLE
    assert event_item(JournalEntry(event=SAMPLE, text=item["event"]), NOW + KEEP_FOR) == item, (
        "the format changed: give it a new version"
    )


def test_the_text_is_stored_as_it_came(journal: StoredJournal) -> None:
    """Not written again: what a later version added to an event is still there when this code can read it."""
    text = cloud_events.encode(enqueued("c1")).replace("{", '{ "later": [1.0, "\u00e4"],  ', 1)
    assert journal.write([JournalEntry(event=cloud_events.decode(text), text=text)], KEEP_FOR) == []
    [item] = every_row(journal.store, journal.table)
    assert item["event"] == text
    assert journal.history(an_id(), OWNER) == (enqueued("c1"),)


def in_its_part(item: Item, event: LifecycleEvent) -> Item:
    """What was written before the list had parts, and is still read, as it is written since (ADR 0167)."""
    assert item["list"] == owner_list(OWNER)
    return {**item, "list": owner_list(OWNER, part_of(event.schedule_id))}


def test_the_golden_beginning() -> None:
    item = from_attributes(json.loads((GOLDEN / "journal-beginning.json").read_text()))
    text = (GOLDEN / "lifecycle-event.json").read_text().rstrip("\n")
    event = cloud_events.decode(text)
    assert beginning_from(item) == event
    assert beginning_item(JournalEntry(event=event, text=text), NOW + KEEP_FOR) == in_its_part(item, event), (
        "the format changed: give it a new version"
    )


def test_the_golden_outline() -> None:
    """Of the same schedule with a payload that is too large for the list."""
    item = from_attributes(json.loads((GOLDEN / "journal-outline.json").read_text()))
    text = (GOLDEN / "lifecycle-event.json").read_text().rstrip("\n")
    event = cloud_events.decode(text)
    assert event.original
    known = outline_from(item)
    assert known == evolve(event, original=event.original.without_payload())
    large = text.replace('"payload":{"x": 1.0', f'"payload":{{"y":"{"x" * MAX_BEGINNING}","x": 1.0')
    assert beginning_item(JournalEntry(event=event, text=large), NOW + KEEP_FOR) == in_its_part(item, event), (
        "the format changed: give it a new version"
    )


def test_a_beginning_of_an_older_version_is_read(journal: StoredJournal) -> None:
    """It was one of the events, and its place in the list was empty. Delivered once more, it is in both."""
    beginning = scheduled(a_schedule())
    [entry] = entries_of([beginning])
    place = {name: value for name, value in beginning_item(entry, FAR).items() if name not in ("v", "event")}
    for item in (event_item(entry, FAR), place):
        plant(journal, item)
    assert journal.history(an_id(), OWNER) == (beginning,)
    assert pages(journal, 10) == [an_id()]
    write(journal, beginning)
    assert whole(an_id(), journal.history(an_id(), OWNER)) == (beginning,)
    assert pages(journal, 10) == [an_id()]


def test_what_a_later_version_added_to_a_beginning_is_kept(journal: StoredJournal) -> None:
    event = scheduled(a_schedule())
    text = cloud_events.encode(event).replace('"data":{', '"later":[1.0, "\u00e4"],"data":{"later": 2.0,', 1)
    assert journal.write([JournalEntry(event=event, text=text)], KEEP_FOR) == []
    [item] = every_row(journal.store, journal.table)
    assert json.loads(cloud_events.lengthened(item["event"], an_id(), OWNER)) == json.loads(text)


def test_a_schedule_that_fires_at_its_first_attempt_is_two_write_units(journal: StoredJournal) -> None:
    """Its beginning with its place in the list of its owner, and its end."""
    end = an_event("c" * 32, NOW, 2, type=EventType.EXECUTED, state=State.EXECUTED, attempt=1, lateness=4)
    write(
        journal,
        scheduled(a_schedule(payload=json.dumps({"order": "x" * 400})), "c" * 32),
        evolve(end, detail="HTTP 204", enqueued_at=NOW, claimed_at=NOW),
    )
    found = every_row(journal.store, journal.table)
    assert sorted(item["list"] for item in found) == [owner_list(OWNER, part_of(an_id())), f"schedule#{an_id()}"]
    assert all(sum(len(name) + len(str(value)) for name, value in item.items()) <= 1_024 for item in found)


def test_all_that_is_stored_expires(journal: StoredJournal) -> None:
    """The place in the owner's list, and the event that is too large for it."""
    write(journal, scheduled(a_schedule(payload=json.dumps("x" * MAX_BEGINNING))))
    found = every_row(journal.store, journal.table)
    assert sorted(item["list"] for item in found) == [owner_list(OWNER, part_of(an_id())), f"schedule#{an_id()}"]
    assert {item["expiresAt"] for item in found} == {(NOW + ROW_LIFETIME + KEEP_FOR) // SECOND}


@pytest.mark.parametrize(
    "change",
    [
        {"v": 2},
        {"v": None},
        {"event": None},
        {"event": "{}"},
        {"event": "{"},
        {"event": 1},
    ],
    ids=str,
)
def test_an_event_that_cannot_be_read_makes_the_history_shorter(journal: StoredJournal, change: Item) -> None:
    """Written by a later version, say. The journal decides nothing, so nothing can go wrong by it."""
    write(journal, enqueued("c1"), an_event("c3", NOW + 2))
    [entry] = entries_of([an_event("c2", NOW + 1)])
    item = event_item(entry, NOW + KEEP_FOR)
    plant(journal, {name: value for name, value in {**item, **change}.items() if value is not None})
    assert [event.id for event in journal.history(an_id(), OWNER)] == ["c1", "c3"]


def test_unprocessed_items_are_tried_again(dynamodb: Any) -> None:
    """The first half of each call goes through; the rest the next time."""

    def half(RequestItems: dict[str, list[Any]]) -> dict[str, Any]:  # noqa: N803 - boto3's own spelling
        [(name, requests)] = RequestItems.items()
        middle = max(len(requests) // 2, 1)
        dynamodb.batch_write_item(RequestItems={name: requests[:middle]})
        return {"UnprocessedItems": {name: requests[middle:]} if requests[middle:] else {}}

    client = Wrapped(dynamodb, batch_write_item=half)
    journal = evolve(adapter(DynamoStore(dynamodb)), store=DynamoStore(client))
    events = [an_event(f"c{at}", NOW + at) for at in range(ITEMS)]
    write(journal, *events)
    assert 1 < len(client.calls) <= ROUNDS
    assert evolve(journal, store=DynamoStore(dynamodb)).history(an_id(), OWNER) == tuple(events)


def leaving(unwanted: Callable[[dict[str, Any]], bool]) -> Wrapped:
    """A client that never processes some items."""

    def batch_write_item(RequestItems: dict[str, list[Any]]) -> dict[str, Any]:  # noqa: N803 - boto3's own spelling
        [(name, requests)] = RequestItems.items()
        assert len(requests) <= ITEMS
        left = [request for request in requests if unwanted(request["PutRequest"]["Item"])]
        return {"UnprocessedItems": {name: left} if left else {}}

    return Wrapped(None, batch_write_item=batch_write_item)


def test_what_stays_unprocessed_is_reported_by_its_position() -> None:
    """And nothing else of its batch."""
    client = leaving(lambda item: item["entry"]["S"].endswith("7"))
    events = [an_event(f"c{at:02}", NOW + at) for at in range(30)]
    journal = on(client)
    assert journal.write(entries_of(events), KEEP_FOR) == [7, 17, 27]
    assert len(client.calls) == 2 * ROUNDS


@pytest.mark.parametrize("kind", ["schedule#", "owner"])
def test_a_large_beginning_is_stored_only_with_its_place_in_the_list(kind: str) -> None:
    """One of its two items missing is as good as both."""
    payload = json.dumps("x" * MAX_BEGINNING)
    left = a_schedule(NOW + 1).id
    client = leaving(lambda item: item["list"]["S"].startswith(kind) and left in item["list"]["S"] + item["entry"]["S"])
    events = [scheduled(a_schedule(NOW + at, payload=payload), f"c{at}") for at in range(3)]
    assert on(client).write(entries_of(events), KEEP_FOR) == [1]


def test_all_deliveries_of_one_that_was_not_stored_are_reported() -> None:
    """It came twice in one batch, and was written once."""
    client = leaving(lambda item: item["entry"]["S"].endswith("c1"))
    events = [an_event("c1"), an_event("c2", NOW + 1), an_event("c1")]
    assert on(client).write(entries_of(events), KEEP_FOR) == [0, 2]


@pytest.mark.parametrize("error", ERRORS)
def test_a_request_that_failed_is_reported_and_the_next_still_made(error: str) -> None:
    calls = count()

    def second_fails(RequestItems: dict[str, list[Any]]) -> dict[str, Any]:  # noqa: N803 - boto3's own spelling
        if next(calls) == 1:
            raise ERRORS[error]
        return {}

    journal = on(Wrapped(None, batch_write_item=second_fails))
    events = [an_event(f"c{at}", NOW + at) for at in range(60)]
    assert journal.write(entries_of(events), KEEP_FOR) == list(range(25, 50))


def test_an_error_after_some_were_processed_reports_the_rest() -> None:
    calls = count()

    def half(RequestItems: dict[str, list[Any]]) -> dict[str, Any]:  # noqa: N803 - boto3's own spelling
        if next(calls):
            raise ERRORS["read timeout"]
        [(name, requests)] = RequestItems.items()
        return {"UnprocessedItems": {name: requests[6:]}}

    journal = on(Wrapped(None, batch_write_item=half))
    events = [an_event(f"c{at}", NOW + at) for at in range(10)]
    assert journal.write(entries_of(events), KEEP_FOR) == [6, 7, 8, 9]


def test_nothing_to_store_no_request() -> None:
    client = Wrapped(None)
    assert on(client).write([], KEEP_FOR) == []
    assert client.calls == []


@pytest.mark.parametrize("error", ERRORS)
def test_what_failed_is_unavailable(error: str) -> None:
    """And not an empty history."""
    journal = on(Failing(ERRORS[error]))
    with pytest.raises(Unavailable):
        journal.history(an_id(), OWNER)
    with pytest.raises(Unavailable):
        journal.owned(OWNER, 0, FAR, "", 10)
    with pytest.raises(Unavailable):
        journal.occurrences(OWNER, "s", "", 10)
    with pytest.raises(Unavailable):
        journal.beginnings(OWNER, [an_id()])
