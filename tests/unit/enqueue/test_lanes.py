"""Heartbeats take every shard and lane of the stream by chance: one that is not read closes the sweep (ADR 0123).

The stream here has as many lanes as on AWS a table's shards have together. Any of them may stop being read for as long
as it likes, requests of the tick may fail, and ticks may be missed.
"""

from collections.abc import Iterator
from zlib import crc32

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from delayer.enqueue.rules import AWAITED_TICKS, HEARTBEAT_FRESH, heartbeat_is_fresh
from delayer.records.repository import HEARTBEAT_ROW
from delayer.schedule.instants import DAY, MINUTE, Millis
from delayer.schedule.table_change import Heartbeat, RecordChange
from delayer.schedule.tables import SCHEDULES
from tests.looking import put_item
from tests.world import START, World

BEATS = 2
LANES = st.integers(1, 12)
STOPPED = st.lists(
    st.sets(st.integers(0, 11)), min_size=1, max_size=40
)  # the lanes that are not read, minute by minute


class Lanes:
    """The stream of a world, which is read lane by lane, each in order."""

    def __init__(self, count: int, knows: bool = True) -> None:
        self.world = World()
        self.count = count
        self.read = 0
        self.waiting: list[list[RecordChange]] = [[] for _ in range(count)]
        self.ticked: list[Millis] = []
        self.world.control.note_heartbeat(START) if knows else None

    def lane_of(self, change: RecordChange) -> int:
        row = change.row
        assert isinstance(row, Heartbeat)
        return crc32(f"{row.sent_at}#{row.lane}".encode()) % self.count

    def minute(self, stopped: set[int]) -> None:
        """A tick's heartbeats, and then the stream is read, except these lanes."""
        self.world.clock.move(MINUTE)
        self.ticked.append(self.world.clock.now())
        self.world.tick.beat(self.world.clock.now())
        self.read_all_but(stopped)

    def read_all_but(self, stopped: set[int]) -> None:
        for change in self.world.feed.records[SCHEDULES][self.read :]:
            self.waiting[self.lane_of(change)].append(change)
        self.read = len(self.world.feed.records[SCHEDULES])
        for lane, changes in enumerate(self.waiting):
            if lane not in stopped and changes:
                assert self.world.enqueue(changes) == []
                changes.clear()

    @property
    def open(self) -> bool:
        return heartbeat_is_fresh(self.world.control.heartbeats().proven, self.world.clock.now())

    def stuck(self) -> Iterator[Millis]:
        """How long the first heartbeat that is awaited has waited in each lane that is not read.

        The one without a lane is not awaited: it says that the stream is read, not which lanes.
        """
        for changes in self.waiting:
            awaited = [row for change in changes if isinstance(row := change.row, Heartbeat) and row.lane]
            for heartbeat in awaited[:1]:
                yield self.world.clock.now() - heartbeat.sent_at


@given(LANES, STOPPED)
@example(2, [set(), {0}, {0}, {0}, {0}, {0}])  # the one without a lane alone waits there, for four minutes
def test_no_sweep_while_a_heartbeat_waits_in_a_lane(count: int, minutes: list[set[int]]) -> None:
    """Nothing is deleted into a lane of which it is known that it is not read, whatever else is read.

    It takes seconds: each of the examples has a stack, and up to forty minutes.
    """
    lanes = Lanes(count)
    for stopped in minutes:
        lanes.minute(stopped)
        assert not (lanes.open and any(age > HEARTBEAT_FRESH for age in lanes.stuck()))


@given(LANES, STOPPED)
def test_it_opens_as_soon_as_every_lane_is_read(count: int, minutes: list[set[int]]) -> None:
    """Whatever happened before, the next tick may sweep. It takes seconds, as the one above."""
    lanes = Lanes(count)
    for stopped in minutes:
        lanes.minute(stopped)
    lanes.minute(set())
    assert lanes.open
    assert lanes.world.control.heartbeats().awaited == ()


@given(LANES, STOPPED)
def test_what_waits_is_bounded(count: int, minutes: list[set[int]]) -> None:
    """An outage of a day must not fill the row, nor the stream. It takes seconds, as the first one."""
    lanes = Lanes(count)
    for stopped in minutes:
        before = len(lanes.world.feed.records[SCHEDULES])
        lanes.minute(stopped)
        assert len(lanes.world.control.heartbeats().awaited) < (AWAITED_TICKS + 1) * BEATS
        assert len(lanes.world.feed.records[SCHEDULES]) - before <= 2 * (1 + (AWAITED_TICKS + 2) * BEATS)


@pytest.mark.parametrize("count", [1, 8, 96])
def test_a_lane_that_is_never_read_is_noticed_long_before_the_stream_forgets(count: int) -> None:
    """The stream keeps a record for a day. By chance alone: with 96 lanes and two heartbeats, half a day is plenty.

    It takes a second: up to 96 lanes, of which each seventh is tried.
    """
    for dead in range(0, count, 7):
        lanes = Lanes(count)
        noticed = next(minute for minute in range(DAY // MINUTE // 2) if not after_a_minute(lanes, {dead}))
        assert noticed < DAY // MINUTE // 2


def after_a_minute(lanes: Lanes, stopped: set[int]) -> bool:
    """Whether it may still sweep."""
    lanes.minute(stopped)
    return lanes.open


def test_a_heartbeat_that_was_not_written_is_sent_again() -> None:
    """Else one failed request would close the sweep for good."""
    lanes = Lanes(4)
    lanes.world.control.await_lanes([Heartbeat(sent_at=START, lane="0"), Heartbeat(sent_at=START, lane="1")])
    lanes.minute(set())
    assert lanes.open
    assert lanes.world.control.heartbeats().awaited == ()


def test_code_that_does_not_know_them_gets_none() -> None:
    """A stack is updated function by function: the tick may be newer than what reads the stream."""
    lanes = Lanes(4, knows=False)
    put_item(lanes.world.control, HEARTBEAT_ROW, {"seenAt": START})  # as older code notes it
    lanes.world.clock.move(MINUTE)
    lanes.world.tick.beat(lanes.world.clock.now())
    assert {change.row for change in lanes.world.feed.records[SCHEDULES]} == {Heartbeat(sent_at=START + MINUTE)}
    lanes.read_all_but(set())
    lanes.minute(set())
    assert {change.row for change in lanes.world.feed.records[SCHEDULES][2:]} == {
        Heartbeat(sent_at=START + 2 * MINUTE),
        Heartbeat(sent_at=START + 2 * MINUTE, lane="0"),
        Heartbeat(sent_at=START + 2 * MINUTE, lane="1"),
    }
