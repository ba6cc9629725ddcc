"""Rounds through directories: each is made once, in portions, and in the end all of it was looked at."""

import pytest

from delayer.schedule.instants import DAY, HOUR, MINUTE
from delayer.series.rules.series import (
    ONCE_MORE_AFTER,
    PARTS,
    Directory,
    Round,
    SeriesState,
    is_zoned,
    waking_round,
    went_on,
    zone_round,
)
from tests.samples import NOW
from tests.unit.series.rules.samples import a_cursor, a_series


def finished(current: Round, directory: Directory = Directory.ZONED) -> Round:
    while not current.is_over:
        current = went_on(current, directory, "")
    return current


def test_a_round_goes_through_all_parts_and_goes_on_where_it_ended() -> None:
    current, seen = zone_round(None, "2026f", NOW), list[tuple[int, str]]()
    while not current.is_over:
        seen.append((current.part, current.after))
        current = went_on(current, Directory.ZONED, "me#0a" if not current.after and current.part % 2 else "")
    wanted = [(part, after) for part in range(PARTS[Directory.ZONED]) for after in ("", "me#0a")[: 1 + part % 2]]
    assert seen == wanted


def test_a_new_version_begins_a_round_and_the_same_one_none() -> None:
    first = zone_round(None, "2026f", NOW)
    assert zone_round(first, "2026f", NOW + MINUTE) == first
    done = finished(first)
    assert zone_round(done, "2026f", NOW + MINUTE).is_over
    second = zone_round(done, "2026g", NOW + DAY)
    assert (second.label, second.part, second.is_over, second.began) == ("2026g", 0, False, NOW + DAY)


def test_there_is_one_more_round_when_no_function_goes_by_the_version_before() -> None:
    done = finished(zone_round(None, "2026f", NOW))
    assert zone_round(done, "2026f", NOW + ONCE_MORE_AFTER - 1) == done
    again = zone_round(done, "2026f", NOW + ONCE_MORE_AFTER)
    assert (again.part, again.is_over) == (0, False)
    assert zone_round(again, "2026f", NOW + 2 * HOUR) == again
    assert zone_round(finished(again), "2026f", NOW + 9 * DAY).is_over, "and no third"


def test_a_rollback_is_a_new_version_too() -> None:
    done = finished(zone_round(None, "2026g", NOW))
    assert not zone_round(done, "2026f", NOW + 1).is_over


def test_series_that_wait_are_asked_once_a_day() -> None:
    first = waking_round(None, NOW)
    done = finished(first, Directory.WAITING)
    assert waking_round(done, NOW + MINUTE) == done
    assert not waking_round(done, NOW + DAY).is_over


@pytest.mark.parametrize("repeat", ["{", "[]", '{"timeZone": 7}'])
def test_a_document_that_cannot_be_read_may_have_a_zone(repeat: str) -> None:
    assert is_zoned(a_cursor(), a_series(repeat=repeat))


@pytest.mark.parametrize("state", [SeriesState.ENDED, SeriesState.CANCELLED])
def test_what_is_over_has_no_times(state: SeriesState) -> None:
    lisbon = a_series(repeat='{"cron": "0 9 * * *", "timeZone": "Europe/Lisbon"}')
    assert is_zoned(a_cursor(), lisbon)
    assert not is_zoned(a_cursor(state=state), lisbon)
