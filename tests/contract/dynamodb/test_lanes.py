"""Both lanes as one: the id tells in which table a schedule is (ADR 0097)."""

from typing import Any

import pytest
from attrs import define

from delayer.aws.dynamodb.schedule_table import DynamoLanes, DynamoScheduleTable, from_item, to_item
from delayer.core.schedule.instants import SECOND
from delayer.core.schedule.schedule import Schedule
from delayer.core.schedule.schedule_id import key_of
from delayer.fakes import MemoryLanes, MemoryScheduleTable
from delayer.ports.schedule_table import Lanes, ScheduleTable
from delayer.ports.unavailable import Unavailable
from tests.clients import ERRORS, Failing
from tests.contract.conftest import create_table
from tests.samples import NOW, a_relaxed_schedule, a_schedule

ADAPTER = DynamoLanes
PLAIN, RELAXED = a_schedule(), a_relaxed_schedule()
KEYS = [key_of(PLAIN.id), key_of(RELAXED.id)]


@define
class Stand:
    """The port, and both of its tables."""

    lanes: Lanes
    plain: ScheduleTable
    relaxed: ScheduleTable


@pytest.fixture
def stand(dynamodb_or_fake: Any) -> Stand:
    if dynamodb_or_fake is None:
        plain, relaxed = MemoryScheduleTable(), MemoryScheduleTable()
        return Stand(MemoryLanes(plain, relaxed), plain, relaxed)
    names = [create_table(dynamodb_or_fake, "bucket", "due") for _ in range(2)]
    tables = [DynamoScheduleTable(dynamodb=dynamodb_or_fake, table=name) for name in names]
    return Stand(DynamoLanes(dynamodb=dynamodb_or_fake, table=names[0], relaxed_table=names[1]), *tables)


def test_each_schedule_is_put_into_the_table_of_its_lane(stand: Stand) -> None:
    for schedule in (PLAIN, RELAXED):
        stand.lanes.put(schedule)
        stand.lanes.put(schedule)
    assert stand.plain.read_all(KEYS) == {KEYS[0]: PLAIN}
    assert stand.relaxed.read_all(KEYS) == {KEYS[1]: RELAXED}
    assert [stand.lanes.read(key) for key in KEYS] == [PLAIN, RELAXED]


def test_those_of_both_lanes_are_read_together(stand: Stand) -> None:
    assert stand.lanes.read_all(KEYS) == {}
    for schedule in (PLAIN, RELAXED):
        stand.lanes.put(schedule)
    assert stand.lanes.read_all([*KEYS, *KEYS]) == {KEYS[0]: PLAIN, KEYS[1]: RELAXED}


@pytest.mark.parametrize("schedule", [PLAIN, RELAXED])
def test_one_is_deleted_and_the_other_stays(stand: Stand, schedule: Schedule) -> None:
    for one in (PLAIN, RELAXED):
        stand.lanes.put(one)
    assert stand.lanes.delete([key_of(schedule.id)]) == []
    assert stand.lanes.delete([key_of(schedule.id)]) == []
    assert len(stand.lanes.read_all(KEYS)) == 1
    assert stand.lanes.read(key_of(schedule.id)) is None


@pytest.mark.parametrize("ms", [0, 1, 999])
def test_the_ttl_of_a_relaxed_schedule_is_never_early(ms: int) -> None:
    """DynamoDB counts whole seconds, and removes it once they are over."""
    schedule = a_relaxed_schedule(NOW + ms)
    item = to_item(schedule)
    expires = int(item["expiresAt"]["N"]) * SECOND
    assert schedule.point_in_time <= expires < schedule.point_in_time + SECOND
    assert from_item(item) == schedule


@pytest.mark.parametrize("error", ERRORS.values(), ids=ERRORS)
def test_an_error_of_aws_is_unavailable(error: Exception) -> None:
    lanes = DynamoLanes(dynamodb=Failing(error), table="s", relaxed_table="r")
    with pytest.raises(Unavailable):
        lanes.put(RELAXED)
    with pytest.raises(Unavailable):
        lanes.read(KEYS[1])
    with pytest.raises(Unavailable):
        lanes.read_all(KEYS)
    assert lanes.delete(KEYS) == KEYS


def test_the_fake_expires_what_is_due_and_says_who_did_it() -> None:
    table = MemoryScheduleTable()
    table.put(a_relaxed_schedule(NOW + 1))
    table.expire(NOW + SECOND - 1)
    assert len(table.rows) == 1
    table.expire(NOW + SECOND)
    assert [(str(one.kind), one.expired, bool(one.event)) for one in table.stream] == [
        ("INSERT", False, True),
        ("REMOVE", True, True),
    ]
