"""The minute task, and the sweepers of big buckets."""

from attrs import evolve

from delayer.engines.ports import ReceivedMessage
from delayer.enqueue.rules import SweepGate, decide_gate
from delayer.records.repository import HEARTBEAT_ROW
from delayer.schedule.instants import DAY, HOUR, MINUTE, SECOND, Millis, minute_of
from delayer.schedule.messages import SweepMessage, decode, encode
from delayer.schedule.schedule import Schedule
from delayer.schedule.schedule_id import Shards
from delayer.schedule.table_change import ChangeKind
from delayer.schedule.tables import SCHEDULES
from tests.fakes.faults import FaultPlan
from tests.looking import all_rows, put_item
from tests.samples import NOW, a_schedule, many_schedules
from tests.tables import preceded
from tests.world import PERIOD, START, World


def stack(shards: int = 2, page_size: int = 500, since: int = minute_of(START), now: Millis = START) -> World:
    """A stack in use, whose stream has been read up to now."""
    world = World(shards=shards, page_size=page_size)
    world.control.raise_shards(Shards(highest=shards - 1, since=since))
    world.clock.sleep_until(now)
    world.control.note_heartbeat(now)
    return world


def put(world: World, *schedules: Schedule) -> None:
    for schedule in schedules:
        world.table.put(schedule)


def left(world: World) -> set[int]:
    return {row.point_in_time - NOW for row in all_rows(world.table).values() if isinstance(row, Schedule)}


def test_it_deletes_what_has_entered_the_period_and_nothing_else() -> None:
    world = stack()
    put(world, *(a_schedule(NOW + offset, shard=1) for offset in (5, 3 * MINUTE, PERIOD + 59_999, PERIOD + MINUTE)))
    world.tick()
    assert left(world) == {PERIOD + MINUTE}
    assert world.observer.counts["Swept"] == 3


def test_it_sends_nothing_itself() -> None:
    """The table's stream does the rest."""
    world = stack()
    put(world, a_schedule(NOW, shard=0))
    world.tick()
    assert world.delayer_queue.sent == 0
    assert [change.kind for change in world.feed.records[SCHEDULES]][-1] is ChangeKind.REMOVE


def test_every_shard_ever_used_is_swept() -> None:
    """By the control row, and not by anything that a deployment could lower."""
    world = stack(shards=2)
    world.control.raise_shards(Shards(highest=9, since=0))
    put(world, *(a_schedule(NOW + MINUTE, shard=shard) for shard in range(10)))
    world.tick()
    assert left(world) == set()


def test_a_tick_before_the_first_post_does_nothing_but_beat() -> None:
    world = World()
    world.tick()
    assert world.control.progress() is None
    assert [change.kind for change in world.feed.records[SCHEDULES]] == [ChangeKind.INSERT, ChangeKind.REMOVE]


def test_what_was_closed_is_not_looked_at_again() -> None:
    """A year after the first POST, a tick would read a year."""
    world, plan = stack(since=minute_of(START) - HOUR // MINUTE), FaultPlan()
    world.tick()
    world.clock.move(MINUTE)
    world.control.note_heartbeat(world.clock.now())
    world.spoiled, world.plan = "tick", plan
    world.build()
    world.tick()
    assert 0 < plan.seen.count("StoredScheduleTable.query") < HOUR // MINUTE


def test_no_sweep_while_the_stream_is_not_read() -> None:
    """Fails closed: in the table, the records are safe."""
    world = stack()
    world.stopped.add("stream-enqueuer")
    world.clock.move(HOUR)
    put(world, a_schedule(NOW, shard=0))
    world.tick()
    assert left(world) == {0}
    assert world.observer.counts["SweepHeld"] == 1
    assert world.clock.now() <= START + HOUR + 11 * SECOND, "it waits for its own heartbeat, not for long"


def test_with_a_backlog_what_is_urgent_is_swept_all_the_same() -> None:
    """Another owner holds the relay up; what is due within three minutes goes on, and what is overdue."""
    world = stack(since=minute_of(START - HOUR))
    with_backlog(world)
    put(world, *(a_schedule(NOW + offset, shard=0) for offset in (-MINUTE, 0, 3 * MINUTE, 4 * MINUTE, 10 * MINUTE)))
    world.tick()
    assert left(world) == {4 * MINUTE, 10 * MINUTE}
    assert world.observer.counts["SweepHeld"] == 1


def test_with_a_backlog_the_oldest_get_a_share() -> None:
    """A greedy owner that never stops must not starve what an outage has left behind."""
    world = stack(since=minute_of(START - HOUR))
    with_backlog(world)
    put(world, *(a_schedule(NOW - 50 * MINUTE + minute * MINUTE, shard=0) for minute in range(3)))
    world.tick()
    assert left(world) == set()


def test_overdue_records_come_in_portions() -> None:
    """Each is visible in the delayer queue at once: a tick deletes no more than there is room for."""
    world = stack(since=minute_of(START - HOUR), page_size=500)
    world.settings = evolve(world.settings, backlog_mark=6)
    world.build()
    put(world, *(a_schedule(NOW - 50 * MINUTE + minute * MINUTE + at, shard=0) for minute in range(9) for at in (0, 1)))
    world.tick()
    assert len(all_rows(world.table)) == 18 - 6
    world.clock.move(MINUTE)
    world.control.note_heartbeat(world.clock.now())
    fill(world, 6)
    world.tick()
    assert len(all_rows(world.table)) == 18 - 6 - 2, "with that backlog, a third"


def test_a_stale_heartbeat_stops_what_is_urgent_too() -> None:
    world = stack(now=START + 4 * MINUTE)
    put_item(world.control, HEARTBEAT_ROW, {"seenAt": START})  # as older code notes it
    world.ticking = False
    put(world, a_schedule(NOW + 5 * MINUTE, shard=0))
    tick = evolve(world.tick, clock=world.clock)
    tick()
    assert len(left(world)) == 1


def with_backlog(world: World) -> None:
    fill(world, world.settings.backlog_mark + 1)


def fill(world: World, number: int, visible_at: Millis = START) -> None:
    for _ in range(number):
        world.delayer_queue.add("", visible_at)


def test_the_mark_follows_the_number_of_relays() -> None:
    assert [decide_gate(NOW, backlog, 100, NOW) for backlog in (100, 101)] == [SweepGate.OPEN, SweepGate.URGENT]
    assert decide_gate(NOW - 4 * MINUTE, 0, 100, NOW) is SweepGate.CLOSED
    assert decide_gate(None, 0, 100, NOW) is SweepGate.CLOSED


def test_a_sweeper_of_a_big_bucket_obeys_the_same_gate() -> None:
    """One page of what is not urgent; nothing at all while the stream is not read."""
    world = stack(page_size=10)
    with_backlog(world)
    put(world, *many_schedules(35, NOW + 10 * MINUTE, shard=0))
    body = encode(SweepMessage(minute=minute_of(NOW + 10 * MINUTE), shard=0))
    message = [ReceivedMessage(message_id="m", body=body)]
    assert world.sweep_buckets(message) == ["m"]
    assert len(all_rows(world.table)) == 25
    world.clock.move(4 * MINUTE)
    assert world.sweep_buckets(message) == ["m"]
    assert len(all_rows(world.table)) == 25


def test_messages_that_wait_out_their_delay_are_no_backlog() -> None:
    world = stack()
    fill(world, 10_001, START + HOUR)
    put(world, a_schedule(NOW, shard=0))
    world.tick()
    assert left(world) == set()


def test_a_bucket_of_more_than_a_page_is_handed_on() -> None:
    """One message per minute and shard; its neighbours are swept here."""
    world = stack(page_size=10)
    put(world, *many_schedules(11, NOW + MINUTE, shard=0), *many_schedules(9, NOW + MINUTE, shard=1))
    world.tick()
    [message] = world.sweep_queue.messages
    assert decode(message.body, SweepMessage) == SweepMessage(minute=minute_of(NOW + MINUTE), shard=0)
    assert len(left(world)) == 11


def test_a_big_bucket_is_swept_page_by_page() -> None:
    world = stack(page_size=10)
    put(world, *many_schedules(35, NOW, shard=0), a_schedule(NOW, shard=1))
    body = encode(SweepMessage(minute=minute_of(NOW), shard=0))
    assert world.sweep_buckets([ReceivedMessage(message_id="m", body=body)]) == []
    assert len(all_rows(world.table)) == 1
    assert world.observer.counts["Swept"] == 35


def test_a_bucket_already_swept_is_no_error() -> None:
    world = stack()
    body = encode(SweepMessage(minute=minute_of(NOW), shard=0))
    assert (
        world.sweep_buckets([ReceivedMessage(message_id="m", body=body), ReceivedMessage(message_id="m2", body=body)])
        == []
    )


def test_a_sweep_message_that_cannot_be_read_is_dropped() -> None:
    """The minute task writes another within five minutes."""
    world = stack()
    assert world.sweep_buckets([ReceivedMessage(message_id="m", body="{not json")]) == []
    assert world.observer.warnings


def test_the_watermark_follows_ten_minutes_behind() -> None:
    world = stack(since=minute_of(START) - 30)
    world.tick()
    progress = world.control.progress()
    assert progress
    assert progress.closed_until == minute_of(START) - 10
    assert (progress.swept_at, progress.whole_at) == (START, START)


def test_an_old_minute_that_was_not_empty_is_looked_at_again_before_it_is_closed() -> None:
    world = stack(since=minute_of(START) - 30)
    put(world, a_schedule(NOW - 20 * MINUTE, shard=1))
    world.tick()
    assert left(world) == set()
    progress = world.control.progress()
    assert progress
    assert progress.closed_until == minute_of(START) - 10


def test_a_minute_that_does_not_get_empty_holds_up_no_other() -> None:
    """A big old bucket is handed on; behind it, all is swept; the watermark waits for it."""
    world = stack(page_size=10, since=minute_of(START) - 30)
    put(world, *many_schedules(11, NOW - 20 * MINUTE, shard=0), a_schedule(NOW - 12 * MINUTE, shard=1))
    world.tick()
    assert len(left(world)) == 11
    progress = world.control.progress()
    assert progress
    assert progress.closed_until == minute_of(NOW - 20 * MINUTE)


def test_an_outage_of_a_week_is_caught_up_with() -> None:
    world = stack(since=minute_of(START), now=START + 7 * DAY)
    put(world, *(a_schedule(NOW + hour * HOUR, shard=1) for hour in range(0, 24 * 7, 5)))
    world.tick()
    assert left(world) == set()


def test_a_tick_that_runs_out_of_time_leaves_the_rest_to_the_next() -> None:
    """Every query takes a tenth of a second."""
    world = stack(since=minute_of(START), now=START + 2 * DAY)
    world.table = preceded(world.table, lambda: world.clock.move(100), ["query"])
    world.build()
    put(world, *(a_schedule(NOW + hour * HOUR, shard=1) for hour in range(24)))
    ticks = 0
    while left(world) and ticks < 40:
        began = world.clock.now()
        world.control.note_heartbeat(began)
        world.tick()
        ticks += 1
        assert world.clock.now() - began < 60 * SECOND, "within the function's timeout"
        world.clock.sleep_until(began + MINUTE)
    assert 1 < ticks < 20


def test_any_number_of_ticks_at_a_time() -> None:
    """They need no lock: the second finds nothing, and the watermark does not go back."""
    world = stack(since=minute_of(START) - 30)
    put(world, a_schedule(NOW, shard=0))
    for _ in range(3):
        world.tick()
    removals = [
        one for one in world.feed.records[SCHEDULES] if one.kind is ChangeKind.REMOVE and isinstance(one.row, Schedule)
    ]
    assert len(removals) == 1
