"""Instants: whole milliseconds, and what is finer rounds up."""

import contextlib
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delayer.schedule.instants import (
    DAY,
    MINUTE,
    YEAR,
    ceil_millis,
    format_instant,
    format_minute,
    minute_of,
    parse_instant,
    start_of,
)
from tests.samples import NOW

instants = st.integers(0, 253_402_300_799_999)  # to the end of the year 9999


@given(instants)
def test_what_is_formatted_is_parsed_again(instant: int) -> None:
    assert parse_instant(format_instant(instant)) == instant


@given(st.datetimes(datetime(1971, 1, 1), datetime(9998, 1, 1)), st.integers(-1439, 1439))  # noqa: DTZ001 - made aware below
def test_any_offset(at: datetime, offset: int) -> None:
    """The same instant, however it is written; microseconds round up."""
    aware = at.replace(tzinfo=timezone(timedelta(minutes=offset)))
    exact = (aware - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
    assert parse_instant(aware.isoformat()) == -(-exact // 1000)


@given(st.decimals(0, 10**12, allow_nan=False, places=60))
def test_digits_beyond_the_millisecond_round_up_however_many_there_are(seconds: Decimal) -> None:
    """Rounding down would fire early, by however little; Decimal's own 28 digits must not round first."""
    millis = ceil_millis(seconds)
    assert 0 <= millis - Fraction(seconds) * 1000 < 1


@pytest.mark.parametrize("offset", ["+05:99", "-00:60", "+23:60", "+24:00", "-99:00"])
def test_an_offset_that_no_clock_has(offset: str) -> None:
    with pytest.raises(ValueError, match="offset"):
        parse_instant(f"2026-12-31T23:59:59{offset}")


@pytest.mark.parametrize(
    ("seconds", "millis"),
    [
        ("0", 0),
        ("-0.0", 0),
        ("1795251600.25", NOW + 250),
        ("1795251600.2500000000000000000000000000000001", NOW + 251),
        ("1e-9999999", 1),
        ("1.7952516e9", NOW),
        ("0.0001", 1),
    ],
)
def test_forms_of_a_number(seconds: str, millis: int) -> None:
    assert ceil_millis(Decimal(seconds)) == millis


@pytest.mark.parametrize(
    ("text", "millis"),
    [
        ("2026-11-21T09:00:00Z", NOW),
        ("2026-11-21t09:00:00z", NOW),
        ("2026-11-21 09:00:00+00:00", NOW),
        ("2026-11-21T10:30:00+01:30", NOW),
        ("2026-11-21T09:00:00.25Z", NOW + 250),
        ("2026-11-21T09:00:00.0000000001Z", NOW + 1),
        ("2026-11-21T08:59:59.9990000001Z", NOW),
        ("2024-02-29T00:00:00Z", 1_709_164_800_000),
    ],
)
def test_forms_of_rfc_3339(text: str, millis: int) -> None:
    assert parse_instant(text) == millis


@pytest.mark.parametrize(
    "text",
    [
        "",
        "now",
        "2026-11-21",
        "2026-11-21T09:00Z",
        "2026-11-21T09:00:00",
        "2026-11-21T09:00:00.Z",
        "2026-11-21T09:00:00Z ",
        "2026-11-21T09:00:00Z\n",
        "2026-02-30T09:00:00Z",
        "2026-11-21T24:00:00Z",
        "2026-11-21T09:00:60Z",
        "2026-11-21T09:00:00+25:00",
        "２０２６-11-21T09:00:00Z",
        "20261121T090000Z",
        "1795251600",
    ],
)
def test_anything_else_is_refused_with_a_reason(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_instant(text)


@given(st.text())
def test_no_text_is_more_than_a_value_error(text: str) -> None:
    with contextlib.suppress(ValueError):
        assert isinstance(parse_instant(text), int)


@given(instants)
def test_an_instant_lies_in_its_minute(instant: int) -> None:
    minute = minute_of(instant)
    assert start_of(minute) <= instant < start_of(minute + 1)
    assert format_instant(instant).startswith(format_minute(minute))


def test_units() -> None:
    assert DAY == 1440 * MINUTE
    assert YEAR * 4 == 1461 * DAY
