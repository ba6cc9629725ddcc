"""A series that is over is kept for as long as something of it may be asked for or redriven."""

import pytest

from delayer.core.schedule.instants import DAY, SECOND
from delayer.core.series.retention import KEPT_AT_LEAST, OVER, kept
from delayer.core.series.series import SeriesState
from tests.samples import NOW
from tests.unit.core.series.samples import a_cursor


@pytest.mark.parametrize("state", SeriesState)
def test_what_is_over_expires_and_nothing_else(state: SeriesState) -> None:
    cursor = kept(a_cursor(state=state), NOW, 400 * DAY)
    assert bool(cursor.expires_at) == (state in OVER)
    assert kept(a_cursor(state=state, expires_at=SECOND), NOW, 0).expires_at == (SECOND if state in OVER else 0)


def test_it_is_kept_as_long_as_the_journal_and_not_less_than_a_dead_letter() -> None:
    """To the second, rounded up: TTL counts in seconds."""
    for keep_for, wanted in ((400 * DAY, 400 * DAY), (DAY, KEPT_AT_LEAST)):
        cursor = kept(a_cursor(state=SeriesState.CANCELLED), NOW + 1, keep_for)
        assert cursor.expires_at % SECOND == 0
        assert 0 < cursor.expires_at - (NOW + wanted) <= SECOND
