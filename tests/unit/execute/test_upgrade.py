"""This version goes on with what the last one has left in its tables, streams and queues (ADR 0038).

The golden samples are what that version wrote; the code of today writes none of them. They are put where they would be
found after a deployment, and everything comes to its end: once, and with the payload as it was.
"""

import json
from typing import Any, cast

import pytest

from delayer.dead_letters.model import decode
from delayer.engines.aws.expressions import from_attributes
from delayer.engines.store.model import Item
from delayer.lambdas.events import StreamRecord
from delayer.lambdas.table_stream import change_of
from delayer.ledger import repository as ledger
from delayer.ledger.model import LedgerChange, State
from delayer.records.repository import from_item
from delayer.schedule.instants import MINUTE, minute_of
from delayer.schedule.schedule import Schedule
from delayer.schedule.schedule_id import Shards
from delayer.schedule.tables import SCHEDULES
from tests.samples import GOLDEN, NOW, STREAM_RECORD, a_schedule
from tests.world import World


def text(name: str) -> str:
    return (GOLDEN / name).read_text().strip()


def item(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(text(name))
    return found


def stored(name: str) -> Item:
    """An item that DynamoDB has."""
    return from_attributes(item(name))


def golden_record() -> Schedule:
    record = from_item(stored("schedule-item.json"))
    assert isinstance(record, Schedule)
    return record


@pytest.fixture
def world() -> World:
    """A minute after everything in it was due; the last version has used eight shards."""
    world = World()
    world.control.raise_shards(Shards(highest=7, since=minute_of(NOW) - 5))
    world.clock.sleep_until(NOW + MINUTE)
    return world


def fired(world: World) -> list[tuple[str, str]]:
    """Id and payload of each attempt."""
    world.run_until(NOW + 20 * MINUTE)
    return [(message.schedule.id, message.schedule.definition.payload) for _, message in world.target.reached]


def test_a_record_that_waits_in_the_table(world: World) -> None:
    world.table.put(golden_record())
    assert fired(world) == [(golden_record().id, '{"order": 17.0}')]
    row = world.row(golden_record())
    assert row is not None
    assert row.state is State.EXECUTED


def test_a_record_that_is_in_the_stream(world: World) -> None:
    """Deleted by the last version, and read by this one: the only copy."""
    assert world.enqueue([change_of(cast("StreamRecord", STREAM_RECORD))]) == []
    assert fired(world) == [(golden_record().id, '{"order": 17.0}')]


def test_a_message_in_the_delayer_queue(world: World) -> None:
    world.delayer_queue.add(text("delayer-message.json"), NOW, "g")
    golden = item("delayer-message.json")
    assert fired(world) == [(golden["id"], '{"order": 17.0, "note": "ä\u2028"}')]


@pytest.mark.parametrize(("fence", "attempts"), [("fence-3", 1), ("fence-4", 0)])
def test_a_message_that_was_handed_over(world: World, fence: str, attempts: int) -> None:
    """Claimed by the last version. Its fencing token counts: a message that was overtaken stays so."""
    golden = item("executor-message.json")
    claim = {**stored("ledger-item.json"), "scheduleId": golden["id"]}
    row = ledger.from_item({**claim, "fence": fence, "retryOf": "fence-2", "attempt": 3})
    world.ledger.write([LedgerChange(row=row)])
    world.http_queue.add(text("executor-message.json"), NOW, "g")
    assert len(fired(world)) == attempts
    current = world.ledger.read(golden["id"])
    assert current is not None
    assert current.state is (State.EXECUTED if attempts else State.CLAIMED)


def test_an_outcome_that_is_carried(world: World) -> None:
    """The attempt was made by the last version: it is not made again, and the next one is made in its time."""
    golden = item("outcome-message.json")
    claim = {**stored("ledger-item.json"), "scheduleId": golden["id"]}
    row = ledger.from_item({**claim, "fence": "fence-3", "retryOf": "fence-2", "attempt": 3})
    world.ledger.write([LedgerChange(row=row)])
    world.http_queue.add(text("outcome-message.json"), NOW, "g")
    assert len(fired(world)) == 1
    current = world.ledger.read(golden["id"])
    assert current is not None
    assert (current.state, current.attempt) == (State.EXECUTED, 4)


def test_a_row_of_the_last_version_decides(world: World) -> None:
    """It holds the claim: a second copy of the schedule is refused."""
    world.ledger.write([LedgerChange(row=ledger.from_item(stored("ledger-item.json")))])
    world.table.put(golden_record())
    assert fired(world) == []


def test_a_bucket_that_was_handed_on(world: World) -> None:
    waiting = a_schedule(NOW, shard=7)
    world.table.put(waiting)
    world.feed.records[SCHEDULES].clear()  # its INSERT was read long ago
    world.ticking = False
    world.control.note_heartbeat(NOW)
    world.sweep_queue.add(text("sweep-message.json"), NOW, "")
    assert [schedule_id for schedule_id, _ in fired(world)] == [waiting.id]


def test_a_dead_letter_can_be_shown_and_discarded(world: World) -> None:
    """Its body may be years old."""
    letter = decode(text("dead-letter.json").encode())
    world.store.put(letter)
    assert world.redrive.show(letter.key)["body"] == letter.body
    world.redrive.discard(letter.key)
    assert world.redrive.list() == {"deadLetters": []}


def test_old_and_new_side_by_side(world: World) -> None:
    """In the middle of a deployment: the same schedule in the table, in the stream and in the queue. It fires once."""
    world.table.put(golden_record())
    world.enqueue([change_of(cast("StreamRecord", STREAM_RECORD))])
    message = {**item("delayer-message.json"), "id": golden_record().id, "pointInTime": NOW}
    world.delayer_queue.add(json.dumps(message), NOW, "g")
    assert len(fired(world)) == 1
