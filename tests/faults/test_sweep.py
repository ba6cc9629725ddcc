"""task-1minute-enqueuer and sweep-bucket-enqueuer: skipped, doubled, killed; nothing stays in the table."""

import pytest

from delayer.engines.ports import Outgoing
from delayer.enqueue.rules import CLOSABLE_AFTER
from delayer.schedule.instants import DAY, HOUR, MINUTE, SECOND, minute_of
from tests.faults.cases import every_fault
from tests.faults.scenarios import check_fired_once
from tests.looking import all_rows
from tests.world import START, World


def a_busy_half_hour(world: World) -> None:
    """Five in one bucket that is big with a page of two, and some alone."""
    for _ in range(5):
        world.post(START + 20 * MINUTE + 3)
    for due in (16 * MINUTE, 21 * MINUTE, 29 * MINUTE + 59_999):
        world.post(START + due)
    world.run_out(START + HOUR)


@pytest.mark.parametrize("function", [pytest.param("tick", marks=pytest.mark.thorough), "sweep"])
def test_every_fault(function: str) -> None:
    """Each fires once, and none is late. That of the tick takes half a minute, for 304 faults."""
    for case, world in every_fault(function, a_busy_half_hour, page_size=2, shards=1):
        check_fired_once(case, world)
        assert max(world.observer.lateness) < 2 * MINUTE, case


def test_every_tick_twice() -> None:
    world = World(duplicated=True, page_size=2)
    a_busy_half_hour(world)
    check_fired_once("ticks doubled", world)


@pytest.mark.parametrize("outage", [2 * MINUTE, 14 * MINUTE, 3 * HOUR, 2 * DAY])
def test_the_minute_task_was_off(outage: int) -> None:
    """Whatever came due meanwhile fires on its return; what is on time stays on time."""
    world = World(shards=2)
    world.post(START)
    world.run_until(START + MINUTE)
    world.ticking = False
    for share in (1, 2, 3, 4):
        world.post(START + 20 * MINUTE + outage * share // 4)
    world.post(START + 20 * MINUTE + outage + 20 * MINUTE)
    back = START + 20 * MINUTE + outage + 3
    world.run_until(back)
    world.ticking = True
    world.run_out(back + 2 * HOUR)
    check_fired_once(f"off for {outage}", world)
    for schedule in world.accepted:
        assert world.reached(schedule)[0] <= max(schedule.point_in_time, back + 2 * MINUTE)
    assert world.reached(world.accepted[-1]) == [world.accepted[-1].point_in_time]


def test_the_watermark_follows_ten_minutes_behind() -> None:
    world = World()
    world.post(START)
    world.run_until(START + HOUR)
    progress = world.control.progress()
    assert progress is not None
    behind = minute_of(world.clock.now()) - progress.closed_until
    assert CLOSABLE_AFTER // MINUTE <= behind <= CLOSABLE_AFTER // MINUTE + 2


def test_no_sweep_while_the_stream_is_not_read() -> None:
    """Fail closed: with the consumer of the stream dead, records stay in the table, where they are safe."""
    world = World()
    world.post(START)
    world.run_until(START + MINUTE)
    world.enqueue = lambda changes: [change.sequence for change in changes]  # type: ignore[assignment] # down
    late = world.post(START + 20 * MINUTE)
    assert late is not None
    for _ in range(30):
        world.clock.move(MINUTE)
        world.tick()
    assert late in all_rows(world.table).values()
    assert world.observer.counts["SweepHeld"] >= 20
    world.build()  # it is back
    world.run_out(world.clock.now() + HOUR)
    check_fired_once("stream back", world)


def test_while_the_relay_has_a_backlog_only_what_is_urgent_is_swept() -> None:
    world = World()
    world.post(START)
    world.run_until(START + MINUTE)
    later = world.post(START + 20 * MINUTE)
    world.read_stream()
    world.delayer_queue.send([Outgoing(body="{}")] * 10_001)
    world.clock.move(10 * MINUTE)
    world.tick()
    assert later in all_rows(world.table).values()
    assert "not everything may be swept" in world.observer.warnings
    world.clock.move(7 * MINUTE)
    world.tick()
    assert later not in all_rows(world.table).values()


def test_shards_that_were_lowered_are_swept_all_the_same() -> None:
    """The control row remembers the highest shard ever used (ADR 0010)."""
    world = World(shards=8)
    for _ in range(16):
        world.post(START + 30 * MINUTE)
    world.shards = 1
    world.build()
    world.post(START + 30 * MINUTE)
    world.run_out(START + HOUR)
    check_fired_once("shards lowered", world)
    assert max(at - START for at, _ in world.target.reached) <= 30 * MINUTE + SECOND
