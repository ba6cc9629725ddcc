"""The records of all lanes: each lies in the table that its id tells, and one call may be about several (ADR 0095)."""

import pytest
from attrs import define

from delayer.engines.aws.dynamo_store import DynamoStore
from delayer.engines.memory import ManualClock
from delayer.engines.ports import Unavailable
from delayer.engines.sqlite.store import SqliteStore
from delayer.engines.store.store import Store
from delayer.records.ports import Records, ScheduleTable
from delayer.records.repository import StoredRecords, StoredScheduleTable, from_item, to_item
from delayer.schedule.instants import SECOND
from delayer.schedule.schedule import Schedule
from delayer.schedule.schedule_id import IdKind, key_of
from delayer.schedule.tables import RELAXED as FED
from tests.clients import ERRORS, Failing
from tests.contract.conftest import create_table
from tests.fakes.streams import Feed
from tests.samples import NOW, a_relaxed_schedule, a_schedule, an_id

ADAPTER = StoredRecords
PLAIN, RELAXED = a_schedule(), a_relaxed_schedule()
OCCURRENCE = a_schedule(id=an_id(kind=IdKind.OCCURRENCE), created_at=NOW)
WAITS = a_schedule(id=an_id(kind=IdKind.UNDECIDED), created_at=NOW, when='{"policy":"spread","seconds":60}')
ALL = {"plain": PLAIN, "occurrence": OCCURRENCE, "relaxed": RELAXED, "undecided": WAITS}
KEYS = [key_of(schedule.id) for schedule in ALL.values()]


@define
class Stand:
    """The port, and each of its tables."""

    records: Records
    precise: ScheduleTable
    relaxed: ScheduleTable
    waiting: ScheduleTable


@pytest.fixture
def stand(store: Store) -> Stand:
    names = [create_table(store, "bucket", "due") for _ in range(3)]
    tables = [StoredScheduleTable(store=store, table=name) for name in names]
    return Stand(records_in(store, *names), *tables)


def records_in(store: Store, precise: str, relaxed: str, waiting: str) -> StoredRecords:
    return StoredRecords(store=store, schedules_table=precise, relaxed_table=relaxed, waiting_table=waiting)


def test_each_is_put_into_the_table_of_its_lane(stand: Stand) -> None:
    for schedule in [*ALL.values(), *ALL.values()]:
        stand.records.put(schedule)
    assert stand.precise.read_all(KEYS) == {key_of(one.id): one for one in (PLAIN, OCCURRENCE)}
    assert stand.relaxed.read_all(KEYS) == {key_of(RELAXED.id): RELAXED}
    assert stand.waiting.read_all(KEYS) == {key_of(WAITS.id): WAITS}
    assert [stand.records.read(key) for key in KEYS] == [*ALL.values()]


def test_many_are_put_each_into_the_table_of_its_lane(stand: Stand) -> None:
    """To store one again changes nothing."""
    for _ in range(2):
        assert stand.records.put_all([*ALL.values()]) == []
    assert stand.records.read_all(KEYS) == dict(zip(KEYS, ALL.values(), strict=True))
    assert stand.relaxed.read_all(KEYS) == {key_of(RELAXED.id): RELAXED}
    assert stand.records.put_all([]) == []


@pytest.mark.parametrize("error", ERRORS)
def test_what_is_not_known_to_be_stored_is_returned(error: str) -> None:
    records = records_in(DynamoStore(Failing(ERRORS[error])), "precise", "relaxed", "waiting")
    assert sorted(one.id for one in records.put_all([*ALL.values()])) == sorted(one.id for one in ALL.values())


def test_one_call_is_about_several_lanes(stand: Stand) -> None:
    assert stand.records.read_all(KEYS) == {}
    for schedule in ALL.values():
        stand.records.put(schedule)
    assert stand.records.read_all([*KEYS, *KEYS]) == dict(zip(KEYS, ALL.values(), strict=True))
    assert stand.records.delete(KEYS) == []
    assert stand.records.read_all(KEYS) == {}


@pytest.mark.parametrize("schedule", ALL.values(), ids=ALL)
def test_one_is_deleted_and_the_others_stay(stand: Stand, schedule: Schedule) -> None:
    for one in ALL.values():
        stand.records.put(one)
    assert stand.records.delete([key_of(schedule.id)]) == []
    assert stand.records.delete([key_of(schedule.id)]) == []
    assert len(stand.records.read_all(KEYS)) == len(ALL) - 1
    assert stand.records.read(key_of(schedule.id)) is None


@pytest.mark.parametrize("ms", [0, 1, 999])
def test_the_ttl_of_a_relaxed_schedule_is_never_early(ms: int) -> None:
    """DynamoDB counts whole seconds, and removes it once they are over."""
    schedule = a_relaxed_schedule(NOW + ms)
    item = to_item(schedule)
    expires = item["expiresAt"] * SECOND
    assert schedule.point_in_time <= expires < schedule.point_in_time + SECOND
    assert from_item(item) == schedule


def test_what_waits_has_no_expiry_and_a_partition_of_its_own() -> None:
    """No margin is counted from an id without a time, and no sweep must find it."""
    item = to_item(WAITS)
    assert item["bucket"] == "undecided#3"
    assert "expiresAt" not in item


@pytest.mark.parametrize("error", ERRORS.values(), ids=ERRORS)
def test_what_failed_is_unavailable(error: Exception) -> None:
    records = records_in(DynamoStore(Failing(error)), "s", "r", "w")
    assert sorted(records.delete(KEYS), key=KEYS.index) == KEYS
    for schedule in ALL.values():
        with pytest.raises(Unavailable):
            records.put(schedule)
        with pytest.raises(Unavailable):
            records.read(key_of(schedule.id))
    with pytest.raises(Unavailable):
        records.read_all(KEYS)


def test_sqlite_expires_what_is_past_and_the_stream_says_who_did_it() -> None:
    feed = Feed(ManualClock(NOW))
    store = SqliteStore(heard=feed.hear)
    StoredScheduleTable(store=store, table=FED).put(a_relaxed_schedule(NOW + 1))
    assert store.expire(NOW // SECOND + 1) == 0
    assert len(store.rows(FED)) == 1
    assert store.expire(NOW // SECOND + 2) == 1
    assert [(str(one.kind), one.expired, bool(one.event)) for one in feed.records[FED]] == [
        ("INSERT", False, True),
        ("REMOVE", True, True),
    ]
