"""Durations, points in time and rules as a person writes them; and times in words."""

from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delayer.recurrence.duration import parse_first
from delayer.recurrence.zones import wall_at, zone_info
from delayer.schedule.instants import SECOND
from delayer_client.calls.times import http_date, iso_instant, shown_by
from delayer_client.cli.reading.durations import NotRead, duration, iso
from delayer_client.cli.reading.moments import local, moment
from delayer_client.cli.reading.prefixes import by_prefix
from delayer_client.cli.reading.rules import rule
from delayer_client.cli.reading.zones import city_of, zone
from delayer_client.cli.showing.words import absolute, lateness, relative
from tests.recurrence.random_rules import ZONES as RULE_ZONES
from tests.recurrence.random_rules import changes

LISBON = ZoneInfo("Europe/Lisbon")
NOW = datetime(2026, 11, 23, 13, 50, tzinfo=UTC)  # a Monday
ZONES = st.sampled_from(
    ["UTC", "Europe/Lisbon", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "Pacific/Apia"]
).map(ZoneInfo)
INSTANTS = st.integers(0, 3_700_000_000).map(lambda seconds: datetime.fromtimestamp(seconds, UTC))


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("30s", 30),
        ("10m", 600),
        ("2h30m", 9000),
        ("2h 30m", 9000),
        ("1d", 86_400),
        ("2w", 1_209_600),
        ("1.5h", 5400),
        ("500ms", 0.5),
        ("5 minutes", 300),
        ("PT10M", 600),
        ("P1DT12H", 129_600),
        ("pt1h", 3600),
        ("0s", 0),
    ],
)
def test_a_duration(text: str, seconds: float) -> None:
    assert duration(text).total_seconds() == seconds


@pytest.mark.parametrize("text", ["", "ten", "10", "-5m", "P", "PT", "P1D12H", "10m5", "1mo", "5m2h", "9" * 30 + "d"])
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(NotRead):
        duration(text)


def test_a_number_without_a_unit_is_refused_with_how_it_is_written() -> None:
    with pytest.raises(NotRead, match="90s or 90m"):
        duration("90")


@given(st.integers(0, 10**9))
def test_a_duration_is_read_as_it_was_written(seconds: int) -> None:
    assert duration(iso(timedelta(seconds=seconds))) == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("2026-12-24 18:00 Europe/Lisbon", "2026-12-24T18:00:00+00:00"),
        ("2026-07-24 18:00 Europe/Lisbon", "2026-07-24T17:00:00+00:00"),
        ("2026-12-24T18:00:00Z", "2026-12-24T18:00:00+00:00"),
        ("2026-12-24T18:00:00.250+01:00", "2026-12-24T17:00:00.250000+00:00"),
        ("2026-12-24 18:00 +01:00", "2026-12-24T17:00:00+00:00"),
        ("2026-12-24T18:00", "2026-12-24T18:00:00+00:00"),
        ("2026-12-24", "2026-12-24T00:00:00+00:00"),
        ("tomorrow 09:00", "2026-11-24T09:00:00+00:00"),
        ("tomorrow at 9:00 New_York", "2026-11-24T14:00:00+00:00"),
        ("today 18:00", "2026-11-23T18:00:00+00:00"),
        ("monday 8:00", "2026-11-30T08:00:00+00:00"),
        ("mon 14:00", "2026-11-23T14:00:00+00:00"),
        ("next friday 5 pm", "2026-11-27T17:00:00+00:00"),
        ("18:30", "2026-11-23T18:30:00+00:00"),
        ("9am", "2026-11-24T09:00:00+00:00"),
        ("12am", "2026-11-24T00:00:00+00:00"),
        ("in 10m", "2026-11-23T14:00:00+00:00"),
        ("now", "2026-11-23T13:50:00+00:00"),
    ],
)
def test_a_point_in_time(text: str, instant: str) -> None:
    found = moment(text, NOW, LISBON)
    assert found.at.astimezone(UTC).isoformat() == instant
    assert found.note == ""


@pytest.mark.parametrize(
    "text",
    [
        *["", "soon", "25:00", "tomorrow 9", "13pm", "2026-02-30 10:00", "2026-12-24 18:00 Atlantis", "in 5", "10"],
        *["2026-12-31T23:59:59+05:99", "2026-12-31 23:59 -0575", "2026-12-31T23:59:59+23:60"],
    ],
)
def test_what_is_no_point_in_time(text: str) -> None:
    with pytest.raises(NotRead, match=r"written|time zone|called"):
        moment(text, NOW, LISBON)


def test_of_a_time_that_the_clocks_leave_out_the_end_of_the_gap_is_taken() -> None:
    found = moment("2027-03-28 01:30 Europe/Lisbon", NOW, ZoneInfo("UTC"))
    assert found.at.isoformat() == "2027-03-28T02:00:00+01:00"
    assert "There is no 2027-03-28 01:30 in Europe/Lisbon" in found.note


def test_of_a_time_that_is_there_twice_the_first_is_taken() -> None:
    found = moment("2027-10-31 01:30 Europe/Lisbon", NOW, ZoneInfo("UTC"))
    assert found.at.astimezone(UTC) == datetime(2027, 10, 31, 0, 30, tzinfo=UTC)
    assert "the second is 2027-10-31T01:30:00+00:00" in found.note


@given(INSTANTS, ZONES)
def test_what_the_clocks_show_once_is_that_instant(at: datetime, there: ZoneInfo) -> None:
    shown = at.astimezone(there)
    found = local(shown.replace(tzinfo=None, fold=0), there)
    if found.note:
        assert abs(found.at - at) <= timedelta(days=1)
    else:
        assert found.at == at


@pytest.mark.parametrize("zone", [zone for zone in RULE_ZONES if changes(zone)])
def test_the_api_and_the_client_agree_on_what_the_clock_shows(zone: str) -> None:
    """Around each change of the clocks, of the years 2024 to 2030."""
    for change in changes(zone):
        for minutes in range(-180, 181, 15):
            wall = datetime(1970, 1, 1) + timedelta(milliseconds=wall_at(zone, change), minutes=minutes)  # noqa: DTZ001
            found = shown_by(wall, zone_info(zone))
            assert found.timestamp() * SECOND == parse_first(wall.isoformat(), zone)


@given(INSTANTS, ZONES)
def test_an_instant_is_read_as_it_was_written(at: datetime, there: ZoneInfo) -> None:
    assert moment(at.astimezone(there).isoformat(), NOW, LISBON).at == at


@given(INSTANTS, ZONES, st.times().map(lambda one: one.replace(microsecond=0, second=0)))
def test_a_time_without_a_date_is_the_next_such_time(now: datetime, there: ZoneInfo, clock: time) -> None:
    found = moment(f"{clock:%H:%M}", now, there)
    assert now < found.at <= now + timedelta(days=2)
    if not found.note:
        assert found.at.astimezone(there).time() == clock


@given(INSTANTS, ZONES)
def test_a_weekday_is_the_next_of_its_name(now: datetime, there: ZoneInfo) -> None:
    found = moment("wednesday 12:00", now, there).at
    assert now < found < now + timedelta(days=8)
    assert found.astimezone(there).weekday() == 2


@given(st.text(max_size=40))
def test_any_text_is_read_or_refused_with_a_sentence(text: str) -> None:
    """It takes some seconds: many texts are drawn."""
    for read in (duration, rule, lambda one: moment(one, NOW, LISBON)):
        try:
            read(text)
        except NotRead as error:
            assert str(error).rstrip().endswith((".", "m"))  # noqa: PT017 - either is right


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("0 9 * * MON-FRI", {"cron": "0 9 * * MON-FRI"}),
        ("cron(0 9 * * ? *)", {"cron": "cron(0 9 * * ? *)"}),
        ("rate(5 minutes)", {"cron": "rate(5 minutes)"}),
        ("15m", {"every": "PT15M"}),
        ("every 1d", {"every": "P1D"}),
        ("@daily", {"cron": "@daily"}),
        ("@every 1h30m", {"cron": "@every 1h30m"}),  # the API says what to write in its place
        ("P1M", {"every": "P1M"}),
    ],
)
def test_a_rule(text: str, read: dict[str, str]) -> None:
    assert rule(text) == read


def test_a_city_is_a_zone() -> None:
    assert city_of(zone("lisbon")) == "Lisbon"
    assert city_of(zone("America/Argentina/Buenos_Aires")) == "Buenos Aires"
    with pytest.raises(NotRead, match="Europe/Lisbon"):
        zone("Europe/Lissbon")


def test_an_alias_is_as_much_of_a_name_as_is_needed() -> None:
    names = ["event-put", "http-put", "http-request", "sns-publish", "sqs-send", "step-start"]
    assert by_prefix("http", names) == "http-request"
    assert by_prefix("sq", names) == "sqs-send"
    assert by_prefix("x", names) is None
    with pytest.raises(LookupError, match="sns-publish, sqs-send, step-start"):
        by_prefix("s", names)


@pytest.mark.parametrize(
    ("ahead", "words"),
    [
        (timedelta(0), "now"),
        (timedelta(seconds=40), "in 40 s"),
        (timedelta(minutes=3), "in 3 min"),
        (timedelta(hours=-2), "2 h ago"),
        (timedelta(days=5), "in 5 days"),
        (timedelta(days=800), "in 2 years"),
    ],
)
def test_how_far_away_in_words(ahead: timedelta, words: str) -> None:
    assert relative(NOW + ahead, NOW) == words


def test_a_time_by_the_clock_in_words() -> None:
    assert absolute(datetime(2026, 11, 24, 9, 0, tzinfo=UTC), NOW, LISBON) == "tomorrow 09:00 Lisbon"
    assert absolute(datetime(2026, 12, 24, 18, 0, 5, tzinfo=UTC), NOW, LISBON) == "Thu 24 Dec 18:00:05 Lisbon"
    assert absolute(datetime(2027, 1, 1, tzinfo=UTC), NOW, UTC) == "Fri 1 Jan 2027 00:00 UTC"
    assert absolute(NOW, NOW, LISBON).startswith("today ")


def test_lateness_in_words() -> None:
    assert [lateness(one) for one in (None, 13, 2400, 200_000)] == ["", "13 ms", "2.4 s", "3 min"]


@pytest.mark.parametrize("text", ["Mon, 23 Nov 2026 13:50:00 GMT", "Mon Nov 23 13:50:00 2026"])
def test_a_date_of_a_header_is_gmt(text: str) -> None:
    """That of asctime names no zone."""
    assert http_date(text) == NOW


@pytest.mark.parametrize("text", ["2026-11-23T13:50:00+05:99", "2026-11-23T13:50-0060"])
def test_an_offset_that_no_clock_has_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="59 minutes"):
        iso_instant(text)
