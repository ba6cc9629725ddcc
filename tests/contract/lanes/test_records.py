"""The records of all lanes: each lies in the table that its id tells, and one call may be about several."""

from typing import Any

import pytest

from delayer.aws.lanes.records import DynamoRecords
from delayer.core.schedule.schedule import Schedule
from delayer.core.schedule.schedule_id import Kind, key_of
from delayer.fakes import MemoryRecords, MemoryScheduleTable
from delayer.ports.unavailable import Unavailable
from delayer.ports.waiting_table import Records
from tests.clients import ERRORS, Failing
from tests.contract.conftest import create_table
from tests.samples import NOW, a_schedule, an_id

ADAPTER = DynamoRecords
PLAIN = a_schedule()
WAITS = a_schedule(id=an_id(kind=Kind.UNDECIDED), created_at=NOW, when='{"policy":"spread","seconds":60}')
BOTH = [key_of(PLAIN.id), key_of(WAITS.id)]


@pytest.fixture
def records(dynamodb_or_fake: Any) -> Records:
    if dynamodb_or_fake is None:
        return MemoryRecords(schedules=MemoryScheduleTable())
    tables = [create_table(dynamodb_or_fake, "bucket", "due") for _ in range(2)]
    return DynamoRecords(dynamodb=dynamodb_or_fake, schedules_table=tables[0], waiting_table=tables[1])


@pytest.mark.parametrize("schedule", [PLAIN, WAITS], ids=["plain", "undecided"])
def test_what_is_put_is_read_and_deleted(records: Records, schedule: Schedule) -> None:
    records.put(schedule)
    assert records.read(key_of(schedule.id)) == schedule
    assert records.delete([key_of(schedule.id)]) == []
    assert records.read(key_of(schedule.id)) is None


def test_one_call_is_about_several_lanes(records: Records) -> None:
    for one in (PLAIN, WAITS):
        records.put(one)
    assert records.read_all(BOTH) == dict(zip(BOTH, (PLAIN, WAITS), strict=True))
    assert records.delete(BOTH) == []
    assert records.read_all(BOTH) == {}


def test_what_waits_has_no_expiry_and_is_not_in_the_schedules_table(dynamodb: Any) -> None:
    """No margin is counted from an id without a time, and no sweep must find it."""
    tables = [create_table(dynamodb, "bucket", "due") for _ in range(2)]
    records = DynamoRecords(dynamodb=dynamodb, schedules_table=tables[0], waiting_table=tables[1])
    records.put(WAITS)
    assert dynamodb.scan(TableName=tables[0])["Items"] == []
    [item] = dynamodb.scan(TableName=tables[1])["Items"]
    assert item["bucket"] == {"S": "undecided#3"}
    assert "expiresAt" not in item


@pytest.mark.parametrize("error", ERRORS.values(), ids=ERRORS)
def test_what_failed_is_unavailable(error: Exception) -> None:
    records = DynamoRecords(dynamodb=Failing(error), schedules_table="s", waiting_table="w")
    assert records.delete(BOTH) == BOTH
    for call in (lambda: records.put(WAITS), lambda: records.read(BOTH[1]), lambda: records.read_all(BOTH)):
        with pytest.raises(Unavailable):
            call()
