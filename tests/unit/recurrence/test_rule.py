"""What a `repeat` may say, and how it is told that something is wrong with it."""

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delayer.recurrence.rule import ClockOverlap, Gap, check_new, document_of, parse_rule
from delayer.recurrence.terms import BadRule, OnMissed
from delayer.recurrence.times import check_not_empty, times
from delayer.schedule.instants import format_instant, parse_instant
from tests.recurrence.strategies import repeats

NOW = parse_instant("2026-11-22T12:00:00Z")


def check_as_new(repeat: Any) -> None:
    """As the API does. Raises BadRule."""
    rule = parse_rule(repeat, NOW)
    check_new(rule)
    check_not_empty(rule)


def faults(repeat: Any) -> list[tuple[str, str, str]]:
    with pytest.raises(BadRule) as caught:
        check_as_new(repeat)
    return [(fault.field, fault.problem, fault.allowed) for fault in caught.value.faults]


def next_of(repeat: dict[str, Any], count: int = 3) -> list[str]:
    return [format_instant(at)[:16] for at in times(parse_rule(repeat, NOW), NOW, count)]


def test_what_is_not_said_has_its_default() -> None:
    rule = parse_rule({"cron": "0 9 * * *"}, NOW)
    assert (rule.time_zone, rule.start, rule.until, rule.count) == ("UTC", NOW + 1, None, None)
    assert (rule.on_missed, rule.gap, rule.overlap) == (OnMissed.SKIP, Gap.SHIFT, ClockOverlap.FIRST)


@given(repeats())
def test_its_document_is_the_same_rule_at_any_time(repeat: dict[str, Any]) -> None:
    rule = parse_rule(repeat, NOW)
    assert parse_rule(document_of(rule), NOW + 123_456_789) == rule


WRONG = [
    ({"cron": "60 9 * * *"}, "cron", "wrong minute: 60"),
    ({"cron": "0 24 * * *"}, "cron", "wrong hour: 24"),
    ({"cron": "0 9 32 * *"}, "cron", "wrong day-of-month: 32"),
    ({"cron": "0 9 32W * *"}, "cron", "wrong day-of-month: 32W"),
    ({"cron": "0 9 * JAM *"}, "cron", "wrong month: JAM"),
    ({"cron": "0 9 * * MON-SUN"}, "cron", "wrong day-of-week: the range MON-SUN goes backwards; none goes beyond SAT"),
    ({"cron": "0 22-2 * * *"}, "cron", "wrong hour: the range 22-2 goes backwards; none goes beyond 23"),
    ({"cron": "0 FRI-MON * * *"}, "cron", "wrong hour: FRI-MON"),
    ({"cron": "0 9 * * JAN"}, "cron", "wrong day-of-week: JAN"),
    ({"cron": "1-1/0 * * * *"}, "cron", "wrong minute: 1-1/0"),
    ({"cron": "0 9 * * 1-5/0"}, "cron", "wrong day-of-week: 1-5/0"),
    ({"cron": "@reboot"}, "cron", "@reboot is no time of the clock"),
    ({"cron": "@every 1h30m"}, "cron", "@every is written with the field `every`"),
    ({"cron": "@every"}, "cron", "@every is written with the field `every`"),
    ({"cron": "@noon"}, "cron", "no nickname of cron"),
    ({"cron": "@daily 9"}, "cron", "no nickname of cron"),
    ({"cron": "@"}, "cron", "no nickname of cron"),
    ({"cron": "0 9 * * 1#6"}, "cron", "wrong day-of-week: 1#6"),
    ({"cron": "*/0 * * * *"}, "cron", "wrong minute: */0"),
    ({"cron": "0 9 * *"}, "cron", "not five fields, but 4"),
    ({"cron": "* * * * * *"}, "cron", "not five fields, but 6"),
    ({"cron": "0 9 * * " + "1," * 200 + "1"}, "cron", "longer than 256 characters"),
    ({"cron": "0 9 30 2 *"}, "cron", "empty: there is no day 30 in month 2"),
    ({"cron": "0 9 31 4,6,SEP,11 *"}, "cron", "empty: there is no day 31 in month 4,6,SEP,11"),
    ({"cron": "0 9 31W 4 *"}, "cron", "empty: the rule has no time"),
    ({"cron": "cron(0 9 * * * *)"}, "cron", "one of day of month and day of week has to be ?, and only one"),
    ({"cron": "cron(0 9 * ?)"}, "cron", "not six fields in cron(…)"),
    ({"cron": "cron(0 9 ? * 8 *)"}, "cron", "wrong day-of-week: 8"),
    ({"cron": "cron(0 10 ? * JAN *)"}, "cron", "wrong day-of-week: JAN: JAN is the name of a month"),
    ({"cron": "cron(0 FRI-MON * * ? *)"}, "cron", "wrong hour: FRI-MON: FRI is the name of a day of the week"),
    ({"cron": "cron(0 9 1 NOV-SUN ? *)"}, "cron", "wrong month: NOV-SUN: SUN is the name of a day of the week"),
    ({"cron": "cron(NOV-FEB 9 1 * ? *)"}, "cron", "wrong minute: NOV-FEB: NOV is the name of a month"),
    ({"cron": "cron(0 9 ? * FEB-MON *)"}, "cron", "wrong day-of-week: FEB-MON: FEB is the name of a month"),
    ({"cron": "cron(0 9 * * ? 2200)"}, "cron", "wrong year: 2200"),
    ({"cron": "cron(0 9 * * ? 2020)"}, "cron", "empty: the rule has no time"),
    ({"cron": "rate(0 minutes)"}, "cron", "not a rate of EventBridge"),
    ({"every": "15m"}, "every", "not a duration of whole numbers"),
    ({"every": "P9999999Y", "timeZone": "UTC"}, "every", "longer than any rule can be"),
    ({"every": "PT"}, "every", "not a duration of whole numbers"),
    ({"every": "PT59S"}, "every", "shorter than a minute"),
    ({"every": "P0D"}, "every", "shorter than a minute"),
    ({"every": "P1DT12H"}, "every", "days have 23 to 25 hours: say either days and longer, or hours and shorter"),
    ({"every": "P1D"}, "timeZone", "missing: days and longer are counted by a wall clock"),
    ({"every": "PT15M", "timeZone": "europe/lisbon"}, "timeZone", "there is no such time zone"),
    ({"every": "PT15M", "timeZone": "../UTC"}, "timeZone", "there is no such time zone"),
    ({"every": "PT15M", "anchor": "1969-12-31T23:59:59Z"}, "anchor", "not between the years 1970 and 2199"),
    ({"every": "PT15M", "from": "2027-02-30"}, "from", "day is out of range for month"),
    ({"every": "PT15M", "from": "soon"}, "from", "not an RFC 3339 date-time with an offset"),
    ({"every": "PT15M", "from": "2027-01-02", "until": "2027-01-01"}, "until", "before `from`"),
    ({"cron": "0 9 1 1 *", "until": "2026-12-31"}, "until", "empty: the rule has no time"),
    ({"every": "PT15M", "count": 0}, "count", "not a number of times"),
    ({"every": "PT15M", "count": True}, "count", "not a number of times"),
    ({"every": "PT15M", "onMissed": "never"}, "onMissed", "unknown"),
    ({"every": "PT15M", "dst": {"gap": "both"}}, "dst.gap", "unknown"),
    ({"every": "PT15M", "dst": "skip"}, "dst", "not an object of `gap` and `overlap`"),
    ({"every": "PT15M", "times": 3}, "times", "unknown field"),
    ({"every": 15}, "every", "not a text"),
    ({"cron": "0 9 * * *", "every": "PT15M"}, "every", "there is a `cron`, too"),
    ({"cron": "0 9 * * *", "anchor": "2027-01-01"}, "anchor", "cron has none"),
    ({}, "", "neither cron nor every"),
    ([], "", "not an object"),
]


@pytest.mark.parametrize(("repeat", "field", "problem"), WRONG, ids=str)
def test_what_is_wrong_has_field_reason_and_example(repeat: Any, field: str, problem: str) -> None:
    [(found, reason, allowed)] = faults(repeat)
    assert found == field
    assert reason.startswith(problem)
    assert allowed


def test_all_faults_are_named_at_once() -> None:
    repeat = {"cron": "x", "timeZone": "Mars", "count": -1, "onMissed": 1, "dst": {"overlap": "last"}}
    assert [field for field, _, _ in faults(repeat)] == ["timeZone", "cron", "count", "onMissed", "dst.overlap"]


def test_a_zone_in_other_letters_is_guessed() -> None:
    [(_, _, allowed)] = faults({"cron": "0 9 * * *", "timeZone": "europe/lisbon"})
    assert allowed == "did you mean Europe/Lisbon?"


def test_a_range_over_the_weekend_is_answered_with_what_it_would_be() -> None:
    for wrong, right in {
        "FRI-MON": "FRI,SAT,SUN,MON",
        "6-0": "SAT,SUN",
        "MON,FRI-MON/2": "FRI,SUN",
        "sat-sun": "SAT,SUN",
    }.items():
        [(_, _, allowed)] = faults({"cron": f"0 9 * * {wrong}"})
        assert allowed == f"each of them: {right}"
        assert parse_rule({"cron": f"0 9 * * {right}"}, NOW)


@pytest.mark.parametrize(
    ("cron", "days"),
    [
        ("cron(0 10 ? * JAN *)", "2026-11-29T10:00 2026-12-06T10:00"),  # a Sunday, as it did
        ("cron(0 FRI-MON * * ? *)", "2026-11-22T21:00 2026-11-22T22:00"),  # from 6 to 2 o'clock
        ("cron(0 9 1 FRI-MON ? *)", "2026-12-01T09:00 2027-01-01T09:00"),  # from June to February
    ],
)
def test_what_is_refused_now_and_stands_goes_on_as_it_did(cron: str, days: str) -> None:
    stored = document_of(parse_rule({"cron": cron, "from": "2026-11-22T20:30:00Z"}, 0))
    assert stored["cron"] == cron
    assert next_of(stored, 2) == days.split()


signs = st.text(alphabet="0123456789*/,-#?LWLAFRIMONcronrate() PTYMDHS@", max_size=40)


@given(signs, st.sampled_from(["cron", "every"]))
def test_no_text_is_answered_with_anything_but_a_rule_or_its_faults(text: str, way: str) -> None:
    with suppress(BadRule):
        rule = parse_rule({way: text, "timeZone": "UTC"}, NOW)
        assert parse_rule(document_of(rule), 0) == rule


@pytest.mark.parametrize(
    ("sent", "stored"),
    [
        ("@daily", "0 0 * * *"),
        ("0 9 * * 1-5/2", "0 9 * * 1,3,5"),
        ("0 9 * * mon-fri/2,SUN", "0 9 * * 1,3,5,SUN"),
        ("1-1/1 * * * *", "1-1/1 * * * *"),
        ("0 9 * * MON/2", "0 9 * * MON/2"),
    ],
)
def test_what_is_stored_is_read_by_the_release_before_too(sent: str, stored: str) -> None:
    """It refuses nicknames, and steps of a range of weekdays, and a series whose rule cannot be read fails."""
    assert document_of(parse_rule({"cron": sent}, NOW))["cron"] == stored
    assert next_of({"cron": stored}, 20) == next_of({"cron": sent}, 20)


@pytest.mark.parametrize(
    ("cron", "other"),
    [
        ("0 9 * * fri", "0 9 * * 5"),
        ("0 9 * * FRIL", "0 9 * * 5L"),
        ("0 9 * * FRI#2", "0 9 * * 5#2"),
        ("0 9 * * MON/2", "0 9 * * 1,3,5"),
        ("0 9 * * 7", "0 9 * * SUN"),
        ("cron(0 9 ? * 1 *)", "0 9 * * SUN"),
        ("cron(0 9 ? * L *)", "0 9 * * SAT"),
        ("cron(0 9 ? * FRI-MON *)", "0 9 * * FRI,SAT,SUN,MON"),
        ("cron(0 9 1 NOV-FEB ? *)", "0 9 1 11,12,1,2 *"),
        ("cron(0 9 LW * ? *)", "0 9 LW * *"),
    ],
)
def test_the_same_may_be_said_otherwise(cron: str, other: str) -> None:
    assert next_of({"cron": cron}, 50) == next_of({"cron": other}, 50)


def test_a_month_and_a_29_february_are_clamped_from_the_anchor() -> None:
    months = next_of({"every": "P1M", "timeZone": "UTC", "anchor": "2027-01-31T09:00"}, 4)
    assert months == ["2027-01-31T09:00", "2027-02-28T09:00", "2027-03-31T09:00", "2027-04-30T09:00"]
    years = next_of({"every": "P1Y", "timeZone": "UTC", "anchor": "2028-02-29"}, 5)
    assert years == [f"{day}T00:00" for day in ("2028-02-29", "2029-02-28", "2030-02-28", "2031-02-28", "2032-02-29")]


def test_the_nearest_weekday_stays_in_its_month() -> None:
    """1 May 2027 and 1 January 2028 are Saturdays, 31 October 2027 a Sunday."""
    first = next_of({"cron": "0 9 1W * *", "from": "2027-05-01"}, 2)
    assert first == ["2027-05-03T09:00", "2027-06-01T09:00"]
    last = next_of({"cron": "0 9 31W * *", "from": "2027-09-01"}, 2)
    assert last == ["2027-10-29T09:00", "2027-12-31T09:00"]


def test_a_date_is_a_whole_day_of_the_zone() -> None:
    repeat = {"cron": "0 * * * *", "timeZone": "Asia/Tokyo", "from": "2027-01-01", "until": "2027-01-01"}
    found = next_of(repeat, 100)
    assert (len(found), found[0], found[-1]) == (24, "2026-12-31T15:00", "2027-01-01T14:00")


def test_a_rule_without_an_anchor_begins_when_it_is_made() -> None:
    assert next_of({"every": "PT15M", "count": 2}) == ["2026-11-22T12:15", "2026-11-22T12:30"]
    assert next_of({"every": "PT15M", "from": "2027-01-01T00:05:00Z", "count": 2}) == [
        "2027-01-01T00:05",
        "2027-01-01T00:20",
    ]


def test_a_duration_in_hours_is_the_same_through_a_change_of_the_clocks() -> None:
    repeat = {"every": "PT24H", "timeZone": "Europe/Lisbon", "anchor": "2027-03-27T09:00"}
    assert next_of(repeat) == ["2027-03-27T09:00", "2027-03-28T09:00", "2027-03-29T09:00"]
    repeat = {"every": "P1D", "timeZone": "Europe/Lisbon", "anchor": "2027-03-27T09:00"}
    assert next_of(repeat) == ["2027-03-27T09:00", "2027-03-28T08:00", "2027-03-29T08:00"]


@pytest.mark.parametrize("gap", ["shift", "skip"])
@pytest.mark.parametrize(
    ("zone", "begin", "first", "later"),
    [
        ("America/New_York", "2026-03-08T02:30:00", "2026-03-08T07:00", "2026-03-09T06:30 2026-03-10T06:30"),
        ("America/Santiago", "2026-09-06", "2026-09-06T04:00", "2026-09-07T03:00 2026-09-08T03:00"),
        ("Australia/Lord_Howe", "2026-10-04T02:15", "2026-10-03T15:30", "2026-10-04T15:15 2026-10-05T15:15"),
    ],
)
def test_days_from_a_time_that_the_clocks_leave_out_have_that_time_afterwards(
    gap: str, zone: str, begin: str, first: str, later: str
) -> None:
    repeat = {"every": "P1D", "timeZone": zone, "from": begin, "dst": {"gap": gap}}
    expected = ([first] if gap == "shift" else []) + later.split()
    for rule in (parse_rule(repeat, 0), parse_rule(document_of(parse_rule(repeat, 0)), NOW)):
        assert [format_instant(at)[:16] for at in times(rule, 0, len(expected))] == expected


def test_every_field_has_the_same_answer_to_a_time_that_the_clocks_leave_out() -> None:
    """The end of the gap: 07:00Z. What is at that time by the rule is the last, or the first."""
    gap, zone = "2027-03-14T02:30:00", "America/New_York"
    assert next_of({"cron": "30 2 * * *", "timeZone": zone, "from": gap}, 1) == ["2027-03-14T07:00"]
    assert next_of({"every": "PT1H", "timeZone": zone, "anchor": gap, "from": gap}, 1) == ["2027-03-14T07:00"]
    assert next_of({"cron": "30 2 * * *", "timeZone": zone, "until": gap}, 1000)[-1] == "2027-03-14T07:00"
    assert next_of({"cron": "0 0 * * *", "timeZone": "America/Santiago", "until": "2027-09-04"}, 999)[-1] == (
        "2027-09-04T04:00"
    )
