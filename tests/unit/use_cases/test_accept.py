"""Accepting: one put, at the address that is in the id."""

import json
from collections import Counter

import pytest

from delayer.core.admission import Invalid, NotJson, TooLarge
from delayer.core.enqueueing import Kind
from delayer.core.instants import DAY, MINUTE, SECOND, minute_of
from delayer.core.schedule_id import is_genuine
from delayer.core.sweeping import Shards
from delayer.use_cases.enqueue import key_of
from tests.samples import ACTION, OWNER
from tests.world import START, World


def body(**fields: object) -> bytes:
    return json.dumps({"delaySeconds": 90, "action": ACTION, **fields}).encode()


def test_the_schedule_stands_at_its_address() -> None:
    world = World()
    schedule = world.accept(body(payload={"a": 1}), OWNER)
    assert world.table.rows == {key_of(schedule): schedule}
    assert (schedule.point_in_time, schedule.created_at, schedule.owner) == (START + 90 * SECOND, START, OWNER)
    assert (schedule.payload, json.loads(schedule.action)) == ('{"a": 1}', ACTION)
    key = world.control.id_key(b"")
    assert is_genuine(schedule.id, OWNER, key=key)
    assert world.observer.counts["Accepted"] == 1


def test_one_write_and_no_other() -> None:
    """Due in a second or in ten years: nothing here knows of the delayer period."""
    for seconds in (0, 1, 315_576_000):
        world = World()
        world.accept(body(delaySeconds=seconds), OWNER)
        assert [change.kind for change in world.table.stream] == [Kind.INSERT]
        assert world.ledger.rows == {}
        assert world.delayer_queue.sent == 0


def test_an_overdue_schedule_is_filed_under_now_and_keeps_its_point_in_time() -> None:
    world = World()
    fields = {"pointInTime": START / 1000 - 60, "action": ACTION}
    schedule = world.accept(json.dumps(fields).encode(), OWNER)
    assert schedule.point_in_time == START - MINUTE
    assert schedule.address.due == START


@pytest.mark.parametrize(
    ("given_body", "error"), [(b"", NotJson), (b"{}", Invalid), (b" " * 262_145, TooLarge)], ids=str
)
def test_what_is_refused_writes_nothing(given_body: bytes, error: type[Exception]) -> None:
    world = World()
    with pytest.raises(error):
        world.accept(given_body, OWNER)
    assert world.table.rows == {}
    assert world.control.shards() is None, "not even a control row"


def test_the_control_row_says_which_shards_are_used_before_the_first_put() -> None:
    world = World(shards=5)
    world.accept(body(), OWNER)
    standing = world.control.shards()
    assert standing == Shards(highest=4, since=minute_of(START) - 5)


def test_a_writer_with_fewer_shards_does_not_lower_the_row() -> None:
    world = World(shards=2)
    world.control.raise_shards(Shards(highest=33, since=7))
    world.accept(body(), OWNER)
    assert world.control.shards() == Shards(highest=33, since=7)


def test_the_control_table_is_asked_once_per_execution_environment() -> None:
    """The key and the shards cost nothing on the second call."""
    world = World()
    world.accept(body(), OWNER)
    world.control.raise_shards(Shards(highest=33, since=0))
    world.accept(body(), OWNER)
    assert world.control.shards() == Shards(highest=33, since=minute_of(START) - 5)


def test_all_shards_are_used() -> None:
    world = World(shards=4)
    shards = Counter(world.accept(body(delaySeconds=3600), OWNER).address.shard for _ in range(40))
    assert set(shards) == {0, 1, 2, 3}


def test_the_same_body_twice_is_two_schedules() -> None:
    world = World()
    assert world.accept(body(), OWNER).id != world.accept(body(), OWNER).id
    assert len(world.table.rows) == 2


def test_the_id_key_lasts() -> None:
    """Another execution environment brings its own candidate, and uses the key that stands."""
    world, other = World(), World()
    other.control = world.control
    other._build()
    ids = [one.accept(body(delaySeconds=DAY // SECOND), OWNER).id for one in (world, other)]
    key = world.control.id_key(b"")
    assert all(is_genuine(one, OWNER, key=key) for one in ids)
