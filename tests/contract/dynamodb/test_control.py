"""The control rows: small state that only ever goes forward."""

import base64
from typing import Any

import pytest

from delayer.engines.aws.dynamo_store import DynamoStore
from delayer.engines.ports import Unavailable
from delayer.engines.store.model import Change, Put, row_key
from delayer.engines.store.store import Store
from delayer.records.ports import Control
from delayer.records.repository import StoredControl
from delayer.schedule.instants import DAY
from delayer.schedule.schedule_id import IdKey, IdKeys, Progress, Shards, first_keys, rotated
from delayer.schedule.table_change import Heartbeat, Heartbeats
from tests.clients import ERRORS, Failing, Wrapped
from tests.contract.conftest import create_table
from tests.samples import KEY, NOW

FIRST = first_keys(KEY, NOW)
SECOND = rotated(FIRST, bytes(range(224, 256)), NOW)

ADAPTER = StoredControl


@pytest.fixture
def control(store: Store) -> StoredControl:
    return StoredControl(store=store, table=create_table(store, "name"))


def test_a_new_stack_has_none(control: Control) -> None:
    assert control.shards() is None
    assert control.progress() is None
    assert control.heartbeats() == Heartbeats()


def test_the_first_writer_says_since_when(control: Control) -> None:
    assert control.raise_shards(Shards(highest=7, since=1000)) == Shards(highest=7, since=1000)
    assert control.shards() == Shards(highest=7, since=1000)


@pytest.mark.parametrize("highest", [0, 6, 7, 8, 33])
def test_the_highest_shard_only_grows(control: Control, highest: int) -> None:
    """The first `since` stays; lowering has no effect; the standing row is the answer."""
    control.raise_shards(Shards(highest=7, since=1000))
    current = Shards(highest=max(7, highest), since=1000)
    assert control.raise_shards(Shards(highest=highest, since=900)) == current
    assert control.shards() == current


def test_shard_zero_alone(control: Control) -> None:
    assert control.raise_shards(Shards(highest=0, since=5)) == Shards(highest=0, since=5)


@pytest.mark.parametrize("wanted", [[3, 17, 5, 1, 17, 9], [1, 3, 5, 9, 17, 17], [17, 17, 9, 5, 3, 1]], ids=str)
def test_writers_of_all_sizes_at_a_time(control: Control, wanted: list[int]) -> None:
    """Each write is one conditional update, so their order is all there is: whatever it is, each writer finds its own
    shards in the row that it is answered, before its first put."""
    for highest in wanted:
        current = control.raise_shards(Shards(highest=highest, since=1000))
        assert current.highest >= highest
    assert control.shards() == Shards(highest=17, since=1000)


def test_the_first_key_stays(control: Control) -> None:
    """Of two that make the first one, one is refused."""
    assert control.id_keys() == IdKeys()
    assert control.write_id_keys(FIRST, IdKeys())
    assert not control.write_id_keys(first_keys(bytes(32), NOW), IdKeys())
    assert control.id_keys() == FIRST


def test_a_rotation_goes_over_what_was_read(control: Control) -> None:
    """Of two rotations at a time one is refused; and one over keys that have changed."""
    control.write_id_keys(FIRST, IdKeys())
    assert control.write_id_keys(SECOND, FIRST)
    assert not control.write_id_keys(rotated(FIRST, bytes(32), NOW), FIRST)
    third = rotated(SECOND, bytes(32), NOW + DAY)
    assert control.write_id_keys(third, SECOND)
    assert control.id_keys() == third
    assert [key.version for key in third.keys] == [1, 2, 3]


def test_progress_is_written_whole(control: Control) -> None:
    progress = Progress(closed_until=1000, swept_at=NOW, whole_at=NOW - 1)
    control.advance(progress)
    assert control.progress() == progress
    again = Progress(closed_until=1000, swept_at=NOW + 1, whole_at=NOW)
    control.advance(again)
    assert control.progress() == again


def test_the_watermark_goes_forward_only(control: Control) -> None:
    """A slow tick that ends after a later one changes nothing."""
    ahead = Progress(closed_until=1000, swept_at=NOW, whole_at=NOW)
    control.advance(ahead)
    control.advance(Progress(closed_until=999, swept_at=NOW + 5, whole_at=NOW + 5))
    assert control.progress() == ahead


def test_the_newest_heartbeat_stays(control: Control) -> None:
    for sent_at in (NOW, NOW + 60, NOW + 30, NOW):
        control.note_heartbeat(sent_at)
    assert control.heartbeats().seen == NOW + 60


def test_a_heartbeat_with_a_lane_is_awaited_until_it_came_through(control: Control) -> None:
    """However often each is said, and in whatever order. The reader of the stream says first that it knows them."""
    first, second = Heartbeat(sent_at=NOW, lane="1"), Heartbeat(sent_at=NOW + 60, lane="0")
    control.await_lanes([second])
    control.await_lanes([first, second])
    assert control.heartbeats() == Heartbeats()
    control.note_heartbeat(NOW - 60)
    found = Heartbeats(seen=NOW - 60, awaited=(first, second), reads_lanes=True)
    assert control.heartbeats() == found, "the oldest first"
    control.note_lanes([first, Heartbeat(sent_at=NOW - 60, lane="1")])
    control.note_lanes([first])
    assert control.heartbeats() == Heartbeats(seen=NOW - 60, awaited=(second,), reads_lanes=True)
    control.note_heartbeat(NOW)
    assert control.heartbeats() == Heartbeats(seen=NOW, awaited=(second,), reads_lanes=True)
    control.note_lanes([second])
    assert control.heartbeats() == Heartbeats(seen=NOW, reads_lanes=True)


def test_older_code_that_reads_the_stream_again_awaits_no_lane(store: Store, control: StoredControl) -> None:
    """After a roll-back: it knows the heartbeat without a lane only, and notes no more than that."""
    control.note_heartbeat(NOW)
    control.await_lanes([Heartbeat(sent_at=NOW, lane="1")])
    store.write(Change(control.table, row_key("heartbeat"), put={"seenAt": NOW + 60}))
    assert control.heartbeats() == Heartbeats(seen=NOW + 60)
    control.note_heartbeat(NOW + 120)
    assert control.heartbeats().reads_lanes


def test_the_rows_do_not_touch_each_other(control: Control) -> None:
    control.raise_shards(Shards(highest=7, since=1000))
    control.write_id_keys(FIRST, IdKeys())
    control.advance(Progress(closed_until=5))
    control.note_heartbeat(NOW)
    assert control.shards() == Shards(highest=7, since=1000)
    assert control.id_keys() == FIRST
    assert control.progress() == Progress(closed_until=5)
    assert control.heartbeats().seen == NOW


# ------------------------------------------------------------ the adapter alone


def test_reads_are_strongly_consistent(dynamodb: Any) -> None:
    """A sweeper that read an old row would miss a shard."""
    client = Wrapped(dynamodb)
    control = StoredControl(store=DynamoStore(client), table=create_table(dynamodb, "name"))
    control.shards()
    control.progress()
    control.heartbeats()
    control.id_keys()
    reads = [arguments for name, arguments in client.calls if name == "get_item"]
    assert len(reads) == 4
    assert all(arguments["ConsistentRead"] is True for arguments in reads)


@pytest.mark.parametrize("error", ERRORS)
def test_what_failed_is_unavailable(error: str) -> None:
    control = StoredControl(store=DynamoStore(Failing(ERRORS[error])), table="t")
    for call in (
        control.shards,
        control.progress,
        control.heartbeats,
        lambda: control.raise_shards(Shards(highest=1, since=1)),
        control.id_keys,
        lambda: control.write_id_keys(FIRST, IdKeys()),
        lambda: control.advance(Progress(closed_until=1)),
        lambda: control.note_heartbeat(NOW),
        lambda: control.await_lanes([Heartbeat(sent_at=NOW, lane="0")]),
        lambda: control.note_lanes([Heartbeat(sent_at=NOW, lane="0")]),
    ):
        with pytest.raises(Unavailable):
            call()


def test_a_row_that_vanishes_in_between_is_unavailable(dynamodb: Any) -> None:
    """Somebody emptied the table: no guess, no default."""
    client = Wrapped(dynamodb, get_item=lambda **_: {})
    control = StoredControl(store=DynamoStore(client), table=create_table(dynamodb, "name"))
    with pytest.raises(Unavailable):
        control.raise_shards(Shards(highest=1, since=1))


def test_a_row_of_the_first_form_is_read_and_rotated(store: Store, control: StoredControl) -> None:
    """It has one key, which all ids until then were made with; and code of that time still finds it afterwards."""
    encoded = base64.b64encode(KEY).decode()
    store.write(Put(control.table, row_key("id-key"), {"key": encoded}))
    old = control.id_keys()
    assert old == IdKeys(keys=(IdKey(version=1, secret=KEY, created_at=0, writes_from=0),))
    assert not control.write_id_keys(first_keys(bytes(32), NOW), IdKeys())
    assert control.write_id_keys(rotated(old, bytes(32), NOW), old)
    assert [key.version for key in control.id_keys().keys] == [1, 2]
    row = store.get(control.table, row_key("id-key"))
    assert row is not None
    assert row["key"] == encoded
