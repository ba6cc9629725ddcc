"""The schedules table."""

import json
from typing import Any

import pytest
from attrs import evolve

from delayer.engines.aws.dynamo_store import ITEMS, ROUNDS, DynamoStore
from delayer.engines.aws.expressions import from_attributes, to_attributes
from delayer.engines.ports import Unavailable
from delayer.engines.store.model import Put
from delayer.engines.store.store import Store
from delayer.records.ports import ScheduleTable
from delayer.records.repository import StoredScheduleTable, from_item, key_item, to_item
from delayer.schedule.instants import DAY, MINUTE, SECOND
from delayer.schedule.schedule import Schedule
from delayer.schedule.schedule_id import Bucket, RecordKey, key_of
from delayer.schedule.table_change import Heartbeat
from tests.clients import ERRORS, Failing, Wrapped
from tests.contract.conftest import create_table
from tests.contract.every_row import every_row
from tests.samples import GOLDEN, NOW, a_schedule, many_schedules

PAGE = 10
ADAPTER = StoredScheduleTable


def adapter(store: Store) -> StoredScheduleTable:
    return StoredScheduleTable(store=store, table=create_table(store, "bucket", "due"), page_size=PAGE)


def through(client: Wrapped) -> StoredScheduleTable:
    """A table the requests to which a test sees, or answers itself."""
    return evolve(adapter(DynamoStore(client.client)), store=DynamoStore(client))


@pytest.fixture
def table(store: Store) -> StoredScheduleTable:
    return adapter(store)


def bucket_of(schedule: Schedule) -> Bucket:
    return schedule.address.bucket


def pages(table: ScheduleTable, bucket: Bucket) -> list[tuple[RecordKey, ...]]:
    """All pages, as the sweep reads them."""
    read = [table.page(bucket)]
    while read[-1].more:
        read.append(table.page(bucket, read[-1].more))
    return [page.keys for page in read]


def test_what_is_put_stands_in_its_bucket(table: ScheduleTable) -> None:
    schedule = a_schedule()
    table.put(schedule)
    page = table.page(bucket_of(schedule))
    assert page.keys == (key_of(schedule.id),)
    assert page.more is None


def test_a_bucket_holds_its_own_minute_and_shard_only(table: ScheduleTable) -> None:
    others = [a_schedule(NOW - 1), a_schedule(NOW + MINUTE), a_schedule(NOW, shard=4)]
    for schedule in (a_schedule(), *others):
        table.put(schedule)
    assert table.page(bucket_of(a_schedule())).keys == (key_of(a_schedule().id),)


@pytest.mark.parametrize("number", [0, 1, 101])
def test_many_are_read_together(table: ScheduleTable, number: int) -> None:
    """Those that are in the table, from several buckets; one that is asked for twice is returned once."""
    schedules = [*many_schedules(number), a_schedule(NOW + MINUTE)]
    for schedule in schedules:
        table.put(schedule)
    keys = [key_of(schedule.id) for schedule in schedules]
    assert table.read_all([*keys, keys[0], key_of(a_schedule(NOW - 1).id)]) == dict(zip(keys, schedules, strict=True))


@pytest.mark.parametrize("number", [0, 1, 26])
def test_many_are_put_together(table: ScheduleTable, number: int) -> None:
    schedules = [a_schedule(NOW + at) for at in range(number)]
    assert table.put_all(schedules) == []
    assert table.read_all([key_of(one.id) for one in schedules]) == {key_of(one.id): one for one in schedules}


def test_an_empty_bucket_is_an_empty_last_page(table: ScheduleTable) -> None:
    """What closes a minute."""
    page = table.page(bucket_of(a_schedule()))
    assert (page.keys, page.more) == ((), None)


def test_a_put_repeated_is_one_record(table: ScheduleTable) -> None:
    for _ in range(3):
        table.put(a_schedule())
    assert len(table.page(bucket_of(a_schedule())).keys) == 1


@pytest.mark.parametrize("number", [1, 9, 10, 11, 20, 35])
def test_pages_in_due_order(table: ScheduleTable, number: int) -> None:
    """Each record once, whatever the order they were put in."""
    schedules = many_schedules(number)
    for schedule in reversed(schedules):
        table.put(schedule)
    read = pages(table, bucket_of(schedules[0]))
    assert [key for page in read for key in page] == [key_of(schedule.id) for schedule in schedules]
    assert all(len(page) <= PAGE for page in read)


def test_a_first_page_tells_whether_there_is_more(table: ScheduleTable) -> None:
    """What makes a bucket a big one. A full page may turn out to be the last: then an empty one follows, at most."""
    for schedule in many_schedules(PAGE + 1):
        table.put(schedule)
    assert table.page(bucket_of(a_schedule())).more
    table.delete([key_of(schedule.id) for schedule in many_schedules(PAGE + 1)[PAGE - 1 :]])
    assert table.page(bucket_of(a_schedule())).more is None


def test_a_page_goes_on_after_what_was_deleted(table: ScheduleTable) -> None:
    """The sweeper of a big bucket deletes each page before it reads the next."""
    schedules = many_schedules(25)
    for schedule in schedules:
        table.put(schedule)
    after, seen = None, 0
    while True:
        page = table.page(bucket_of(schedules[0]), after)
        assert table.delete(page.keys) == []
        seen += len(page.keys)
        after = page.more
        if after is None:
            break
    assert seen == 25
    assert table.page(bucket_of(schedules[0])).keys == ()


@pytest.mark.parametrize("number", [1, 25, 26, 60])
def test_a_delete_of_any_number(table: ScheduleTable, number: int) -> None:
    """BatchWriteItem takes 25."""
    schedules = many_schedules(number)
    for schedule in schedules:
        table.put(schedule)
    assert table.delete([key_of(schedule.id) for schedule in schedules]) == []
    assert table.page(bucket_of(schedules[0])).keys == ()


def test_a_delete_is_idempotent(table: ScheduleTable) -> None:
    """Also with the same key twice in one call, and with what never was."""
    table.put(a_schedule())
    keys = [key_of(a_schedule().id), key_of(a_schedule(NOW + 1).id), key_of(a_schedule().id)]
    assert table.delete(keys) == []
    assert table.delete(keys) == []
    assert table.page(bucket_of(a_schedule())).keys == ()


def test_a_delete_of_nothing(table: ScheduleTable) -> None:
    assert table.delete([]) == []


def test_a_record_is_read_as_it_was_put(table: ScheduleTable) -> None:
    """By its key alone; its neighbours are others."""
    schedules = many_schedules(3)
    for schedule in schedules[:2]:
        table.put(schedule)
    assert [table.read(key_of(schedule.id)) for schedule in schedules] == [schedules[0], schedules[1], None]


def test_a_record_that_was_deleted_is_not_read(table: ScheduleTable) -> None:
    table.put(a_schedule())
    table.delete([key_of(a_schedule().id)])
    assert table.read(key_of(a_schedule().id)) is None


def test_a_heartbeat_leaves_nothing_behind(table: ScheduleTable) -> None:
    table.beat(Heartbeat(sent_at=NOW))
    table.beat(Heartbeat(sent_at=NOW))
    assert table.page(bucket_of(a_schedule())).keys == ()


def test_a_put_again_after_the_delete_is_a_record_again(table: ScheduleTable) -> None:
    """Redriven by an operator."""
    for _ in range(2):
        table.put(a_schedule())
        table.delete([key_of(a_schedule().id)])
    table.put(a_schedule())
    assert len(table.page(bucket_of(a_schedule())).keys) == 1


# ------------------------------------------------------------ the adapter alone


def test_the_golden_record() -> None:
    """Records wait for up to ten years: they are read, and written, as they were."""
    item = json.loads((GOLDEN / "schedule-item.json").read_text())
    schedule = a_schedule(payload='{"order": 17.0}')
    assert from_item(from_attributes(item)) == schedule
    assert to_attributes(to_item(schedule)) == item, "the format changed: give it a new version"


def test_the_row_in_the_table(table: StoredScheduleTable) -> None:
    """Everything comes back as it was put, and TTL's attribute is in seconds, a week after due."""
    schedule = a_schedule(NOW + 250, payload='{"a":  1.0, "\u00e4": "\U0001f600"}')
    table.put(schedule)
    [item] = every_row(table.store, table.table)
    assert from_item(item) == schedule
    assert item["expiresAt"] == (NOW + 7 * DAY) // SECOND


def test_the_heartbeat_is_put_and_deleted(dynamodb: Any) -> None:
    """Both make a record of the stream."""
    client = Wrapped(dynamodb)
    table = through(client)
    table.beat(Heartbeat(sent_at=NOW))
    assert [name for name, _ in client.calls] == ["put_item", "delete_item"]
    assert dynamodb.scan(TableName=table.table)["Count"] == 0


def test_pages_are_read_strongly_consistent_and_unfiltered(dynamodb: Any) -> None:
    """An eventually consistent empty page would close a minute that is not empty."""
    client = Wrapped(dynamodb)
    table = through(client)
    table.page(bucket_of(a_schedule()))
    [(name, arguments)] = client.calls
    assert name == "query"
    assert arguments["ConsistentRead"] is True
    assert "FilterExpression" not in arguments
    assert "IndexName" not in arguments


def test_a_record_is_read_strongly_consistent(dynamodb: Any) -> None:
    """A schedule that was just accepted can be replaced."""
    client = Wrapped(dynamodb)
    table = through(client)
    table.read(key_of(a_schedule().id))
    assert client.calls[0][1]["ConsistentRead"] is True


@pytest.mark.parametrize("change", [{"v": 2}, {"owner": None}, {"action": "no JSON"}], ids=str)
def test_a_record_that_cannot_be_read_is_none(table: StoredScheduleTable, change: dict[str, Any]) -> None:
    """It has no definition that could be carried over to another."""
    item = {name: value for name, value in {**to_item(a_schedule()), **change}.items() if value is not None}
    table.store.write(Put(table.table, key_item(key_of(a_schedule().id)), item))
    assert table.read(key_of(a_schedule().id)) is None


def test_a_heartbeat_is_no_record(table: StoredScheduleTable) -> None:
    key = RecordKey(bucket="heartbeat", due=f"{NOW:013d}")
    table.store.write(Put(table.table, key_item(key)))
    assert table.read(key) is None


def test_unprocessed_items_are_tried_again(dynamodb: Any) -> None:
    """The first half of each call goes through; the rest the next time."""

    def half(RequestItems: dict[str, list[Any]]) -> dict[str, Any]:  # noqa: N803 - boto3's own spelling
        [(name, requests)] = RequestItems.items()
        middle = max(len(requests) // 2, 1)
        dynamodb.batch_write_item(RequestItems={name: requests[:middle]})
        return {"UnprocessedItems": {name: requests[middle:]} if requests[middle:] else {}}

    real = adapter(DynamoStore(dynamodb))
    for schedule in many_schedules(ITEMS):
        real.put(schedule)
    client = Wrapped(dynamodb, batch_write_item=half)
    table = evolve(real, store=DynamoStore(client))
    assert table.delete([key_of(schedule.id) for schedule in many_schedules(ITEMS)]) == []
    assert 1 < len(client.calls) <= ROUNDS
    assert real.page(bucket_of(a_schedule())).keys == ()


def test_what_stays_unprocessed_is_reported(dynamodb: Any) -> None:
    keys = [key_of(schedule.id) for schedule in many_schedules(ITEMS)]
    client = Wrapped(dynamodb, batch_write_item=lambda **asked: {"UnprocessedItems": asked["RequestItems"]})
    assert StoredScheduleTable(store=DynamoStore(client), table="t").delete(keys) == keys
    assert len(client.calls) == ROUNDS


def test_what_is_never_answered_is_unavailable(dynamodb: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """After five pauses between six tries: after the last one nothing is waited for."""
    pauses: list[float] = []
    monkeypatch.setattr("delayer.engines.aws.dynamo_store.time.sleep", pauses.append)
    client = Wrapped(dynamodb, batch_get_item=lambda **asked: {"UnprocessedKeys": asked["RequestItems"]})
    with pytest.raises(Unavailable, match="2 items were not answered"):
        StoredScheduleTable(store=DynamoStore(client), table="t").read_all(
            [key_of(one.id) for one in many_schedules(2)]
        )
    assert len(client.calls) == ROUNDS
    assert pauses == [0.02, 0.04, 0.08, 0.16, 0.32]


@pytest.mark.parametrize("error", ERRORS)
def test_a_delete_that_failed_is_reported_whole(error: str) -> None:
    keys = [key_of(schedule.id) for schedule in many_schedules(30)]
    assert StoredScheduleTable(store=DynamoStore(Failing(ERRORS[error])), table="t").delete(keys) == keys


@pytest.mark.parametrize("error", ERRORS)
def test_all_else_that_failed_is_unavailable(error: str) -> None:
    table = StoredScheduleTable(store=DynamoStore(Failing(ERRORS[error])), table="t")
    for call in (
        lambda: table.put(a_schedule()),
        lambda: table.page(bucket_of(a_schedule())),
        lambda: table.read(key_of(a_schedule().id)),
        lambda: table.read_all([key_of(a_schedule().id)]),
        lambda: table.beat(Heartbeat(sent_at=NOW)),
    ):
        with pytest.raises(Unavailable):
            call()
