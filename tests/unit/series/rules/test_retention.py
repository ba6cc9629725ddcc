"""A series that is over is kept for as long as something of it may be asked for or redriven."""

import pytest
from attrs import evolve

from delayer.schedule.instants import DAY, SECOND, YEAR
from delayer.series.rules.series import KEPT_AT_LEAST, OVER, RENEWED_BELOW, Backfill, SeriesState, kept
from tests.samples import NOW, an_id
from tests.unit.series.rules.samples import CURRENT, a_cursor


@pytest.mark.parametrize("state", SeriesState)
def test_what_is_over_expires_and_nothing_else(state: SeriesState) -> None:
    cursor = kept(a_cursor(state=state), NOW, 400 * DAY)
    assert bool(cursor.expires_at) == (state in OVER)
    before = a_cursor(state=state, expires_at=SECOND, current="")
    assert kept(before, NOW, 0).expires_at == (SECOND if state in OVER else 0)


@pytest.mark.parametrize("state", sorted(OVER))
def test_what_it_names_keeps_it_from_being_forgotten(state: SeriesState) -> None:
    """Each write of its cursor gives it time anew, but not before half of it is over: all of its rows are written."""
    near, far = NOW + RENEWED_BELOW - SECOND, NOW + RENEWED_BELOW
    beside = a_cursor(state=state, current="", beside=(CURRENT,))
    filled = a_cursor(state=state, current="", backfill=Backfill(since=1, until=NOW, at=2, current=CURRENT))
    for cursor in (beside, filled):
        assert kept(evolve(cursor, expires_at=near), NOW, 0).expires_at >= NOW + KEPT_AT_LEAST
        assert kept(evolve(cursor, expires_at=far), NOW, 0).expires_at == far


def test_it_is_kept_as_long_as_the_journal_and_not_less_than_a_dead_letter() -> None:
    """To the second, rounded up: TTL counts in seconds."""
    for keep_for, wanted in ((400 * DAY, 400 * DAY), (DAY, KEPT_AT_LEAST)):
        cursor = kept(a_cursor(state=SeriesState.CANCELLED), NOW + 1, keep_for)
        assert cursor.expires_at % SECOND == 0
        assert 0 < cursor.expires_at - (NOW + wanted) <= SECOND


@pytest.mark.parametrize("expires_at", [0, NOW + RENEWED_BELOW])
def test_what_its_owner_has_moved_far_ahead_keeps_it_until_then(expires_at: int) -> None:
    far = NOW + 5 * YEAR
    moved = a_cursor(state=SeriesState.ENDED, current="", beside=(an_id(far), CURRENT), expires_at=expires_at)
    assert kept(moved, NOW, 0).expires_at >= far + KEPT_AT_LEAST
