"""What waits for its time: found by when it was accepted, without a Scan."""

from typing import Any

import pytest
from attrs import define

from delayer.engines.aws.dynamo_store import DynamoStore
from delayer.engines.ports import Unavailable
from delayer.engines.store.model import Put
from delayer.engines.store.store import Store
from delayer.records.ports import Records
from delayer.records.repository import StoredRecords, key_item
from delayer.schedule.instants import SECOND, Millis
from delayer.schedule.schedule import Schedule
from delayer.schedule.schedule_id import IdKind, key_of
from delayer.timing.ports import WaitingSchedule, WaitingTable
from delayer.timing.repository import StoredWaitingTable
from tests.clients import ERRORS, Failing, Wrapped
from tests.contract.conftest import create_table
from tests.samples import NOW, a_schedule, an_id

ADAPTER = StoredWaitingTable
WHEN = '{"policy":"spread","seconds":60}'


@define
class Stand:
    """The port, and the one that writes to its table."""

    waiting: WaitingTable
    records: Records

    def accept(self, *instants: Millis, shard: int = 3) -> list[str]:
        """Their ids."""
        made = [waits(instant, shard) for instant in instants]
        for one in made:
            self.records.put(one)
        return [one.id for one in made]

    def all(self, since: Millis, until: Millis, at_most: int = 100) -> list[str]:
        found, after = [], ""
        while True:
            page = self.waiting.page(3, since, until, after, at_most)
            found += [one.schedule_id for one in page.waits]
            if not (after := page.more):
                return found


def waits(instant: Millis, shard: int = 3) -> Schedule:
    return a_schedule(id=an_id(instant, shard, kind=IdKind.UNDECIDED), created_at=instant, when=WHEN)


@pytest.fixture
def stand(store: Store) -> Stand:
    table = create_table(store, "bucket", "due")
    return Stand(
        StoredWaitingTable(store=store, table=table),
        StoredRecords(store=store, schedules_table="none", relaxed_table="none", waiting_table=table),
    )


def test_nothing_waits(stand: Stand) -> None:
    assert stand.waiting.page(3, 0, NOW).waits == ()


def test_it_says_which_policy_is_to_be_asked(stand: Stand) -> None:
    [schedule_id] = stand.accept(NOW)
    assert stand.waiting.page(3, 0, NOW + 1).waits == (WaitingSchedule(schedule_id=schedule_id, when=WHEN),)


@pytest.mark.parametrize("damaged", [{}, {"when": 1}], ids=["missing", "no text"])
def test_a_policy_that_cannot_be_read_is_none(store: Store, damaged: dict[str, Any]) -> None:
    """It keeps nobody else from being asked."""
    waiting = StoredWaitingTable(store=store, table=create_table(store, "bucket", "due"))
    key = key_of(waits(NOW).id)
    store.write(Put(waiting.table, key_item(key), damaged))
    assert waiting.page(3, 0, NOW + 1).waits == (WaitingSchedule(schedule_id=waits(NOW).id, when=""),)


def test_from_and_before(stand: Stand) -> None:
    """In the order in which they were accepted; those of another shard have a partition of their own."""
    ids = stand.accept(NOW + 2 * SECOND, NOW, NOW + SECOND)
    stand.accept(NOW, shard=4)
    assert stand.all(NOW, NOW + 2 * SECOND) == [ids[1], ids[2]]
    assert stand.all(NOW + 1, NOW + 2 * SECOND + 1) == [ids[2], ids[0]]


@pytest.mark.parametrize("at_most", [1, 2, 3])
def test_page_by_page(stand: Stand, at_most: int) -> None:
    ids = stand.accept(*range(NOW, NOW + 5))
    assert stand.all(NOW, NOW + 5, at_most) == ids


def test_the_oldest_is_the_first(stand: Stand) -> None:
    ids = stand.accept(NOW + 1, NOW)
    page = stand.waiting.page(3, 0, NOW + SECOND, at_most=1)
    assert [one.schedule_id for one in page.waits] == [ids[1]]


def test_it_is_read_strongly_consistent(dynamodb: Any) -> None:
    client = Wrapped(dynamodb)
    StoredWaitingTable(store=DynamoStore(client), table=create_table(dynamodb, "bucket", "due")).page(0, 0, NOW)
    [(name, arguments)] = client.calls
    assert (name, arguments["ConsistentRead"]) == ("query", True)


@pytest.mark.parametrize("error", ERRORS.values(), ids=ERRORS)
def test_what_failed_is_unavailable(error: Exception) -> None:
    with pytest.raises(Unavailable):
        StoredWaitingTable(store=DynamoStore(Failing(error)), table="w").page(0, 0, NOW)
