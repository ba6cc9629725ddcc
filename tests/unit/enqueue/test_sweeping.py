"""The plan of a tick: whatever ticks are missed, doubled or cut short, no minute is passed over."""

from collections.abc import Iterator

import pytest
from attrs import evolve
from hypothesis import example, given
from hypothesis import strategies as st

from delayer.enqueue.rules import (
    CLOSABLE_AFTER,
    GAP,
    HEARTBEAT_FRESH,
    HEARTBEAT_WAIT,
    WHOLE_WINDOW_EVERY,
    all_empty,
    first_open,
    first_progress,
    heartbeat_is_fresh,
    may_close,
    plan,
)
from delayer.schedule.instants import (
    DAY,
    HOUR,
    MINUTE,
    SECOND,
    Millis,
    Minute,
    edge_of,
    minute_of,
    start_of,
    within_period,
)
from delayer.schedule.schedule_id import Progress, Shards
from tests.samples import NOW, PERIOD

periods = st.integers(60 * SECOND, 840 * SECOND)
pauses = st.one_of(
    st.integers(50 * SECOND, 70 * SECOND),  # as it should be
    st.integers(0, 2 * SECOND),  # the same tick twice
    st.integers(70 * SECOND, 3 * HOUR),  # missed ticks, an outage
)
Tick = tuple[Millis, bool, int]  # pause before it, whether it ends within its budget, how many minutes it can close
ticks = st.lists(st.tuples(pauses, st.booleans(), st.integers(0, 300)), min_size=1, max_size=30)


def swept(ticks: list[Tick], period: Millis, since: Minute) -> Iterator[tuple[Millis, set[Minute], Progress]]:
    """Each tick's instant, the minutes it looks at, and the progress it writes, as the use case does it."""
    now, progress = NOW, Progress(closed_until=since)
    for pause, finished, closable in ticks:
        now += pause
        todo = plan(progress, now, period)
        old = range(progress.closed_until, first_open(now))  # those the watermark may pass
        looked_at = set(todo.minutes) | set(old[: closable + 1] if not (todo.whole and finished) else old)
        closed = min(progress.closed_until + closable, max(first_open(now), progress.closed_until))
        whole_at = now if todo.whole and finished else progress.whole_at
        progress = evolve(progress, closed_until=closed, swept_at=now, whole_at=whole_at)
        yield now, looked_at, progress


@given(ticks, periods)
def test_every_minute_is_looked_at_as_it_enters_the_period(ticks: list[Tick], period: Millis) -> None:
    """By the first tick whose edge reaches it, and so before it is due as long as ticks come within the period."""
    edge = minute_of(NOW) - 1
    for now, looked_at, _ in swept(ticks, period, since=minute_of(NOW)):
        passed_over = set(range(edge + 1, edge_of(now, period) + 1)) - looked_at
        assert all(minute < first_open(now) for minute in passed_over), "those are swept by the closing of minutes"
        edge = max(edge, edge_of(now, period))


@given(ticks, periods)
def test_after_a_gap_all_that_is_not_closed_is_looked_at(ticks: list[Tick], period: Millis) -> None:
    """By one tick that ends within its budget, however long the outage was."""
    before, last = minute_of(NOW), 0
    for (_, finished, _), (now, looked_at, progress) in zip(ticks, swept(ticks, period, minute_of(NOW)), strict=True):
        if finished and now - last > GAP:
            assert looked_at >= set(range(before, edge_of(now, period) + 1))
        before, last = progress.closed_until, now


@given(ticks, periods, st.integers(0, 5 * HOUR), st.integers(0, 6 * HOUR), st.integers(0, HOUR))
@example([(60 * SECOND, True, 0)] * 20, PERIOD, PERIOD, 0, 0)
def test_a_record_is_fast_tracked_or_swept(
    ticks: list[Tick], period: Millis, put: Millis, ahead: Millis, lag: Millis
) -> None:
    """For any due time, and any lag of the stream: what the INSERT leaves is looked at by the first tick whose edge
    reaches it, and that tick begins after the put."""
    put_at = NOW + put
    read_at = put_at + lag
    minute = minute_of(put_at + ahead)
    if within_period(minute, read_at, period):
        return  # the fast track has it
    sweeps = swept(ticks, period, minute_of(NOW))
    reached = [(now, looked_at) for now, looked_at, _ in sweeps if edge_of(now, period) >= minute]
    if reached:
        now, looked_at = reached[0]
        assert now > read_at >= put_at
        assert minute in looked_at or minute < first_open(now)


@given(st.integers(0, 10 * DAY), st.integers(0, 59_999), periods)
def test_the_edge_comes_first(outage: Millis, within: Millis, period: Millis) -> None:
    """What is on time stays on time during a catch-up; and a plan is bounded, whatever the outage was."""
    now = NOW + within
    todo = plan(Progress(closed_until=minute_of(now - outage)), now, period)
    edge = edge_of(now, period)
    near = [minute for minute in (edge, edge - 1, edge - 2) if minute >= minute_of(now - outage)]
    assert list(todo.minutes[: len(near)]) == near
    assert min(todo.minutes, default=edge) >= minute_of(now - outage), "what is closed is not looked at again"
    assert len(todo.minutes) == len(set(todo.minutes)) <= (period + CLOSABLE_AFTER) // MINUTE + 2
    assert todo.whole


@given(st.integers(0, GAP), st.integers(0, WHOLE_WINDOW_EVERY), st.integers(0, 59_999))
def test_between_whole_windows_three_minutes_do(since_tick: Millis, since_whole: Millis, within: Millis) -> None:
    now = NOW + within
    progress = Progress(closed_until=0, swept_at=now - since_tick, whole_at=now - since_whole)
    todo = plan(progress, now, PERIOD)
    assert todo.whole == (since_whole >= WHOLE_WINDOW_EVERY)
    if not todo.whole:
        edge = edge_of(now, PERIOD)
        assert todo.minutes == (edge, edge - 1, edge - 2)


@pytest.mark.parametrize(("since_tick", "whole"), [(GAP, False), (GAP + 1, True)])
def test_after_a_gap_all_that_is_open_is_looked_at(since_tick: Millis, whole: bool) -> None:
    """Though that was done a moment ago."""
    progress = Progress(closed_until=0, swept_at=NOW - since_tick, whole_at=NOW - 1)
    assert plan(progress, NOW, PERIOD).whole is whole


@given(st.integers(0, GAP), st.integers(0, 59_999), periods)
def test_three_minutes_bridge_any_pause_that_is_no_gap(pause: Millis, within: Millis, period: Millis) -> None:
    now = NOW + within
    assert edge_of(now + pause, period) - edge_of(now, period) <= 2


@given(st.integers(0, 2 * HOUR), st.integers(0, 2 * HOUR), st.integers(0, 599_999), st.integers(0, 10 * DAY))
def test_no_minute_is_closed_that_somebody_may_still_write_to(
    slow: Millis, took: Millis, bound: Millis, ahead: Millis
) -> None:
    """A writer's clock that is behind, and a put that takes its time, together less than ten minutes: the query that
    closes the minute begins after the put has come in."""
    slow %= bound + 1
    took = min(took, bound - slow)
    arrived = NOW + took
    minute = minute_of(max(NOW - slow, NOW - slow + ahead))
    assert not may_close(minute, arrived)
    assert minute >= first_open(arrived)


@given(st.integers(0, 10 * DAY))
def test_a_minute_is_closed_ten_minutes_after_its_end(after: Millis) -> None:
    minute = minute_of(NOW)
    assert may_close(minute, start_of(minute + 1) + after) == (after >= 10 * MINUTE)


@given(st.integers(0, 10 * DAY))
def test_the_first_open_minute_is_the_first_that_cannot_be_closed(at: Millis) -> None:
    now = NOW + at
    assert not may_close(first_open(now), now)
    assert may_close(first_open(now) - 1, now)


@given(ticks, periods)
def test_the_watermark_stays_behind_what_is_still_open(ticks: list[Tick], period: Millis) -> None:
    before = minute_of(NOW)
    for now, looked_at, progress in swept(ticks, period, minute_of(NOW)):
        assert progress.closed_until >= before
        assert progress.closed_until <= max(first_open(now), minute_of(NOW))
        assert set(range(before, progress.closed_until)) <= looked_at, "closed without a look"
        before = progress.closed_until


def test_a_new_stack_begins_where_its_first_writer_may_have_begun() -> None:
    progress = first_progress(Shards(highest=7, since=minute_of(NOW)))
    assert progress.closed_until == minute_of(NOW)
    assert plan(progress, NOW, PERIOD).whole


def test_a_minute_needs_every_shard_empty() -> None:
    assert all_empty([True, True])
    assert not all_empty([True, False])
    assert not all_empty([]), "no answer is no proof"


@given(st.integers(-HOUR, HOUR))
@example(3 * MINUTE)
@example(3 * MINUTE + 1)
def test_a_heartbeat_is_fresh_for_three_minutes(age: Millis) -> None:
    assert heartbeat_is_fresh(NOW - age, NOW) == (age <= 3 * MINUTE)
    assert not heartbeat_is_fresh(None, NOW)


def test_the_bounds_agree() -> None:
    assert HEARTBEAT_WAIT < MINUTE < GAP < 2 * MINUTE
    assert HEARTBEAT_FRESH < WHOLE_WINDOW_EVERY < CLOSABLE_AFTER
