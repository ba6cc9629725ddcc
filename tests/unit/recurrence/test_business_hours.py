"""The next business hour, compared with a walk over every minute."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delayer.recurrence.business_hours import DAYS, MINUTES_OF_A_DAY, BusinessHours, Hours
from delayer.schedule.instants import MINUTE, Millis

ZONES = [
    "UTC", "Europe/Lisbon", "Europe/Berlin", "America/New_York", "America/Sao_Paulo", "Asia/Kolkata", "Asia/Kathmandu",
    "Australia/Lord_Howe", "Pacific/Apia", "Pacific/Chatham", "America/St_Johns", "Africa/Casablanca",
]  # fmt: skip
OFFICE = [Hours(opens=9 * 60, closes=17 * 60)]
WEEK = dict.fromkeys(DAYS[:5], OFFICE)


def at(text: str, zone: str = "UTC", fold: int = 0) -> Millis:
    moment = datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone), fold=fold)
    return round(moment.timestamp() * 1000)


def shown(instant: Millis, zone: str) -> str:
    return datetime.fromtimestamp(instant / 1000, ZoneInfo(zone)).strftime("%a %d %H:%M:%S")


hours = st.tuples(st.integers(0, MINUTES_OF_A_DAY - 1), st.integers(1, MINUTES_OF_A_DAY)).map(
    lambda two: Hours(opens=min(two[0], two[1] - 1), closes=max(two[1], two[0] + 1))
)
weeks = st.dictionaries(st.sampled_from(DAYS), st.lists(hours, min_size=1, max_size=2), min_size=1)
instants = st.integers(at("2024-01-01"), at("2030-12-31"))


@given(st.sampled_from(ZONES), weeks, instants)
def test_it_is_open_then_and_was_not_before(zone: str, week: dict[str, list[Hours]], instant: Millis) -> None:
    """By the clock on the wall, at the instant itself and at every tenth minute before it."""
    found = BusinessHours(zone=ZoneInfo(zone), week=week).next_open(instant)
    assert found is not None
    assert found >= instant
    assert is_open(found, zone, week) or is_after_a_jump(found, zone)
    if found > instant:
        steps = range(instant, found - MINUTE, max((found - instant) // 200, 10 * MINUTE))
        assert not [shown(one, zone) for one in steps if is_open(one, zone, week) and not is_shown_twice(one, zone)]


def is_open(instant: Millis, zone: str, week: dict[str, list[Hours]]) -> bool:
    wall = datetime.fromtimestamp(instant / 1000, ZoneInfo(zone))
    minute = wall.hour * 60 + wall.minute
    return any(one.opens <= minute < one.closes for one in week.get(DAYS[wall.weekday()], ()))


def is_shown_twice(instant: Millis, zone: str) -> bool:
    wall = datetime.fromtimestamp(instant / 1000, ZoneInfo(zone))
    return wall.replace(fold=0).utcoffset() != wall.replace(fold=1).utcoffset()


def is_after_a_jump(instant: Millis, zone: str) -> bool:
    now, before = (datetime.fromtimestamp(one / 1000, ZoneInfo(zone)) for one in (instant, instant - 2000))
    return now.utcoffset() != before.utcoffset()


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        ("2026-11-20T08:59", "Fri 20 09:00:00"),
        ("2026-11-20T12:34", "Fri 20 12:34:00"),
        ("2026-11-20T17:00", "Mon 23 09:00:00"),
        ("2026-12-24T18:00", "Mon 28 09:00:00"),
    ],
)
def test_an_office_in_lisbon(now: str, expected: str) -> None:
    zone = "Europe/Lisbon"
    office = BusinessHours(zone=ZoneInfo(zone), week=WEEK, holidays=frozenset({date(2026, 12, 25)}))
    found = office.next_open(at(now, zone))
    assert found
    assert shown(found, zone) == expected


def test_an_opening_that_the_clock_never_shows_is_when_it_jumps() -> None:
    """In Berlin, 02:30 of 28 March 2027 does not exist: the clocks go from 02:00 to 03:00."""
    night = BusinessHours(zone=ZoneInfo("Europe/Berlin"), week={"SUN": [Hours(opens=150, closes=300)]})
    found = night.next_open(at("2027-03-28T01:00", "Europe/Berlin"))
    assert found == at("2027-03-28T01:00", "UTC")


def test_what_the_clock_shows_twice() -> None:
    """In Berlin, 02:00 to 03:00 of 31 October 2027 comes twice: from the first 02:15 to the second 02:45."""
    night = BusinessHours(zone=ZoneInfo("Europe/Berlin"), week={"SUN": [Hours(opens=135, closes=165)]})
    assert night.next_open(at("2027-10-31T00:00", "Europe/Berlin")) == at("2027-10-31T02:15", "Europe/Berlin")
    second = at("2027-10-31T02:44", "Europe/Berlin", fold=1)
    assert night.next_open(second) == second


def test_a_calendar_that_is_never_open() -> None:
    closed = BusinessHours(zone=ZoneInfo("UTC"), week={})
    assert closed.next_open(0) is None
    days = frozenset(date(2026, 1, 1) + timedelta(days=one) for one in range(500))
    holidays = BusinessHours(zone=ZoneInfo("UTC"), week=WEEK, holidays=days)
    assert holidays.next_open(at("2026-01-02")) is None


@pytest.mark.parametrize(("opens", "closes"), [(600, 600), (700, 600), (-1, 60), (0, 1441)])
def test_hours_end_after_they_begin(opens: int, closes: int) -> None:
    with pytest.raises(ValueError, match="after the opening"):
        Hours(opens=opens, closes=closes)


def test_the_end_of_a_day_is_open_until_midnight() -> None:
    late = BusinessHours(zone=ZoneInfo("UTC"), week={"MON": [Hours(opens=1380, closes=1440)]})
    instant = round(datetime(2026, 11, 23, 23, 59, 59, tzinfo=UTC).timestamp() * 1000)
    assert late.next_open(instant) == instant
