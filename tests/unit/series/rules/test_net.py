"""What the net does with what is filed, and when it looks again."""

import pytest

from delayer.ledger.model import EventType
from delayer.schedule.instants import DAY, HOUR, MINUTE, minute_of
from delayer.schedule.schedule_id import IdKind
from delayer.series.rules.series import Backfill, Cursor, SeriesState
from delayer.series.rules.upkeep import (
    AGAIN_AFTER,
    LOOK_AFTER,
    RARELY,
    Fate,
    decide_look,
    may_close,
    near_minute,
    next_look,
)
from tests.samples import NOW, an_id, many_schedules
from tests.unit.series.rules.samples import CURRENT, a_cursor, happened

ENDED = happened(EventType.EXECUTED)


@pytest.mark.parametrize(
    ("cursor", "what"),
    [
        (None, Fate.FORGET),
        (a_cursor(current="another"), Fate.FORGET),
        (a_cursor(current="", state=SeriesState.ENDED), Fate.FORGET),
        (a_cursor(), Fate.AGAIN),
        (a_cursor(state=SeriesState.PAUSED), Fate.AGAIN),
        (a_cursor(state=SeriesState.CANCELLED), Fate.FORGET),
        (a_cursor(current="another", beside=(CURRENT,)), Fate.FORGET),
        (a_cursor(current="another", backfill=Backfill(since=0, until=1, at=0, current=CURRENT)), Fate.AGAIN),
    ],
    ids=["gone", "stepped", "over", "active", "paused", "cancelled", "beside", "backfill"],
)
def test_what_its_series_waits_for_is_looked_at_again(cursor: Cursor | None, what: Fate) -> None:
    assert decide_look(CURRENT, cursor, ENDED) is what


def test_a_cancelled_series_is_kept_until_its_occurrence_has_ended() -> None:
    """DELETE may have died before it cancelled that one, which may then still be claimed."""
    cursor = a_cursor(state=SeriesState.CANCELLED)
    assert decide_look(CURRENT, cursor, None) is Fate.AGAIN
    assert decide_look(CURRENT, cursor, happened(EventType.CLAIMED)) is Fate.AGAIN


def test_the_next_look_is_in_a_minute_to_come_and_soon() -> None:
    for schedule in many_schedules(50):
        minute = next_look(schedule.id, a_cursor(), None, NOW)
        assert minute_of(NOW) < minute <= minute_of(NOW) + AGAIN_AFTER


def test_calls_soon_after_one_another_file_it_in_one_minute() -> None:
    """So what is looked at twice is filed once."""
    first = next_look(CURRENT, a_cursor(), None, NOW)
    assert next_look(CURRENT, a_cursor(), None, first * MINUTE - 1) == first
    assert next_look(CURRENT, a_cursor(), None, first * MINUTE) == first + AGAIN_AFTER


def test_the_next_looks_are_spread_over_the_minutes() -> None:
    looks = [next_look(schedule.id, a_cursor(), None, NOW) for schedule in many_schedules(300)]
    assert len(set(looks)) == AGAIN_AFTER


def test_what_is_paused_after_its_end_is_looked_at_more_and_more_rarely() -> None:
    """A pause may last for years. It is not dropped: a resume may be deciding to wait for it at this moment."""
    paused = a_cursor(state=SeriesState.PAUSED)
    waits = [
        next_look(CURRENT, paused, ENDED, NOW + age) - minute_of(NOW + age)
        for age in (0, HOUR, 6 * HOUR, DAY, 99 * DAY)
    ]
    assert waits == sorted(waits)
    assert waits[0] <= AGAIN_AFTER
    assert RARELY // MINUTE - AGAIN_AFTER < waits[-1] <= RARELY // MINUTE
    assert next_look(CURRENT, paused, None, NOW + DAY) - minute_of(NOW + DAY) <= AGAIN_AFTER, "it may still be claimed"


def test_what_is_relaxed_is_looked_at_more_and_more_rarely() -> None:
    """It may be days late, and nothing is wrong."""
    late = an_id(NOW, kind=IdKind.RELAXED_OCCURRENCE)
    waits = [next_look(late, a_cursor(), None, NOW + age) - minute_of(NOW + age) for age in (0, 6 * HOUR, 9 * DAY)]
    assert waits == sorted(waits)
    assert waits[0] <= AGAIN_AFTER
    assert RARELY // MINUTE - AGAIN_AFTER < waits[-1] <= RARELY // MINUTE


def test_of_a_series_that_cannot_be_read_it_is_looked_at_soon() -> None:
    assert next_look(CURRENT, None, ENDED, NOW + DAY) - minute_of(NOW + DAY) <= AGAIN_AFTER


def test_the_near_minute_has_been_over_for_long_enough() -> None:
    for offset in range(0, 60_000, 7_919):
        now = NOW + offset
        assert LOOK_AFTER <= now - (near_minute(now) + 1) * MINUTE < LOOK_AFTER + MINUTE
        assert not may_close(near_minute(now), now), "a write that was begun in it may still arrive"
