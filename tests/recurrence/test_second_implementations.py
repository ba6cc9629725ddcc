"""The times of rules are compared with libraries of others: croniter, cronsim with zones, aws-croniter, dateutil.

Each difference is one that was chosen: it stands in a table with its reason (ADR 0093), and is seen at least once.
"""

import heapq
import random
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import islice
from zoneinfo import ZoneInfo

import pytest
from aws_croniter import AwsCroniter
from croniter import croniter, croniter_range
from cronsim import CronSim
from dateutil.relativedelta import relativedelta

from delayer.recurrence.rule import parse_rule
from delayer.recurrence.times import next_after, times
from delayer.recurrence.zones import offset_at, span_at
from delayer.schedule.instants import HOUR, MINUTE, SECOND, Millis, parse_instant
from tests.recurrence.random_rules import ZONES, Sample, changes, samples

SEED = 47
RULES = 300
TIMES = 50


@cache
def drawn() -> list[Sample]:
    """Not when the tests are collected: it takes a second."""
    return list(samples(SEED, RULES))


# ------------------------------------------------------------ croniter

UNUSUAL = {"Australia/Lord_Howe", "Pacific/Chatham", "Antarctica/Troll"}
Differs = Callable[[Sample], bool]
CRONITER_DIFFERS: dict[str, Differs] = {
    # Where a month has no 31st, croniter takes 31W for the weekday nearest to its last day. Here, in Quartz and in
    # EventBridge such a month has no 31W.
    "nW in a month without that day": lambda sample: sample.cron.split()[2] in ("29W", "30W", "31W"),
    # Where the clocks are not put back by one hour to a full hour, croniter loses some of the times shown again.
    "clocks not put back by an hour to a full hour": lambda sample: sample.zone in UNUSUAL,
}


def croniters(sample: Sample) -> Iterator[Millis]:
    """With a day of the month *and* a day of the week, a day that is one of both is enough: cron's rule.

    croniter does so for plain days, but not for W, # and L. So it is asked for each of the two by itself.
    """
    minute, hour, day, month, weekday = sample.cron.split()
    weekday = f"L{weekday[0]}" if weekday.endswith("L") else weekday
    if day.startswith("*") or weekday.startswith("*"):
        rules = [f"{minute} {hour} {day} {month} {weekday}"]
    else:
        rules = [f"{minute} {hour} {day} {month} *", f"{minute} {hour} * {month} {weekday}"]
    last = None
    for at in heapq.merge(*(croniter_times(rule, sample) for rule in rules)):
        if at != last:
            yield at
        last = at


def croniter_times(rule: str, sample: Sample) -> Iterator[Millis]:
    start = datetime.fromtimestamp(sample.start / SECOND, UTC).astimezone(ZoneInfo(sample.zone))
    found = croniter(rule, start, implement_cron_bug=True)  # a field that begins with a star is met besides the other
    while True:
        yield round(found.get_next(float) * SECOND)


def croniter_agrees(sample: Sample) -> bool:
    """Its times run again when the clocks are put back: overlap `both`."""
    rule = sample.rule(dst={"overlap": "both"})
    return times(rule, sample.start, TIMES) == tuple(islice(croniters(sample), TIMES))


def test_croniter_agrees_but_for_what_was_chosen() -> None:
    """It takes some seconds: the next fifty times of 300 rules, of which some are years ahead."""
    differ = [sample for sample in drawn() if not croniter_agrees(sample)]
    assert [one for one in differ if not any(applies(one) for applies in CRONITER_DIFFERS.values())] == []
    assert all(any(applies(one) for one in differ) for applies in CRONITER_DIFFERS.values())
    assert len(differ) < RULES // 20


# ------------------------------------------------------------ cronsim with zones


def starts_with_star(sample: Sample) -> bool:
    minute, hour, *_ = sample.cron.split()
    return "*" in (minute[0], hour[0]) and hour != "*"


CRONSIM_DIFFERS: dict[str, Differs] = {
    # After a change by half an hour cronsim goes on in steps of an hour from half past, and misses times before half
    # past. Here it is asked for wall times without a zone only.
    "clocks changed by half an hour": lambda sample: sample.zone == "Australia/Lord_Howe",
    # Debian's cron follows the clock if the minute or the hour *begins* with a star, also every five minutes from
    # 2 to 3, or every second hour. What lies in a gap is lost then, and what is shown twice runs twice. Here only a
    # rule for every hour does so.
    "a star in a rule for some hours": starts_with_star,
}


def cronsim_agrees(sample: Sample) -> bool:
    start = datetime.fromtimestamp(sample.start / SECOND, UTC).astimezone(ZoneInfo(sample.zone))
    found = islice(CronSim(sample.cron, start), TIMES)
    return times(sample.rule(), sample.start, TIMES) == tuple(round(at.timestamp() * SECOND) for at in found)


def test_cronsim_with_zones_agrees_but_for_what_was_chosen() -> None:
    """It takes some seconds: the next fifty times of 300 rules, of which some are years ahead."""
    known = [sample for sample in drawn() if "W" not in sample.cron.split()[2]]
    differ = [sample for sample in known if not cronsim_agrees(sample)]
    assert [one for one in differ if not any(applies(one) for applies in CRONSIM_DIFFERS.values())] == []
    assert all(any(applies(one) for one in differ) for applies in CRONSIM_DIFFERS.values())
    assert len(differ) < RULES // 20


# ------------------------------------------------------------ every choice at every change of the clocks


EVERY_DAY = {  # by an hour, by half an hour and by two; at midnight, forward and back; back over midnight
    "Europe/Lisbon",
    "Australia/Lord_Howe",
    "Antarctica/Troll",
    "America/Santiago",
    "America/Nuuk",
}
CHANGED = [
    pytest.param(zone, marks=() if zone in EVERY_DAY else pytest.mark.thorough) for zone in ZONES if changes(zone)
]


@pytest.mark.parametrize("zone", CHANGED)
@pytest.mark.parametrize("cron", ["*/7 * * * *", "30 * * * *", "*/20 0-3 * * *", "15,45 0,1,2,23 * * SAT,SUN"])
def test_at_each_change_the_choices_are_what_they_say(zone: str, cron: str) -> None:
    """By trying each minute around it: croniter says which wall times match. That takes about a second."""
    for change in changes(zone)[::3]:  # in turn one forward and one back
        start, end = change - 4 * HOUR, change + 4 * HOUR
        minutes = range(start + MINUTE, end, MINUTE)
        walls = matching(cron, start + offset_at(zone, start))
        shown = [at for at in minutes if at + offset_at(zone, at) in walls]
        first = [at for at in shown if at < change or at + offset_at(zone, at) >= change + offset_at(zone, change - 1)]
        span = span_at(zone, change)
        left_out = any(at in walls for at in range(change + span.before, change + span.offset, MINUTE))
        shifted = sorted({*first, change}) if left_out else first
        for gap, overlap, expected in (
            ("skip", "both", shown),
            ("skip", "first", first),
            ("shift", "first", shifted),
            ("shift", "both", sorted({*shown, *shifted})),
        ):
            rule = Sample(cron=cron, zone=zone, start=start).rule(dst={"gap": gap, "overlap": overlap})
            found = [at for at in times(rule, start, len(minutes)) if at < end]
            assert found == (shown if " * * * *" in cron else expected)


def matching(cron: str, wall: Millis) -> set[Millis]:
    """Wall times from three hours before until eleven after, by croniter without a zone."""
    first = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=wall - 3 * HOUR)
    return {round(at.timestamp() * SECOND) for at in croniter_range(first, first + timedelta(hours=14), cron)}


# ------------------------------------------------------------ EventBridge

NOW = parse_instant("2026-11-22T12:00:00Z")
PUBLISHED = [  # the user guides of EventBridge and of EventBridge Scheduler: their words, and what they mean
    ("cron(0 10 * * ? *)", "10:00 every day", "2026-11-23T10:00 2026-11-24T10:00 2026-11-25T10:00"),
    ("cron(15 12 * * ? *)", "12:15 every day", "2026-11-22T12:15 2026-11-23T12:15 2026-11-24T12:15"),
    ("cron(0 18 ? * MON-FRI *)", "18:00, Monday to Friday", "2026-11-23T18:00 2026-11-24T18:00 2026-11-25T18:00"),
    ("cron(0 8 1 * ? *)", "08:00, every first of the month", "2026-12-01T08:00 2027-01-01T08:00 2027-02-01T08:00"),
    ("cron(0/15 * * * ? *)", "every 15 minutes", "2026-11-22T12:15 2026-11-22T12:30 2026-11-22T12:45"),
    ("cron(0/10 * ? * MON-FRI *)", "every 10 minutes", "2026-11-23T00:00 2026-11-23T00:10 2026-11-23T00:20"),
    ("cron(0/5 8-17 ? * MON-FRI *)", "8:00 to 17:55", "2026-11-23T08:00 2026-11-23T08:05 2026-11-23T08:10"),
    ("cron(0 9 ? * 2#1 *)", "9:00, the first Monday", "2026-12-07T09:00 2027-01-04T09:00 2027-02-01T09:00"),
    ("cron(15 10 ? * 6L 2027-2028)", "10:15, the last Friday", "2027-01-29T10:15 2027-02-26T10:15 2027-03-26T10:15"),
    ("cron(0 10 3W * ? *)", "the weekday nearest to the 3rd", "2026-12-03T10:00 2027-01-04T10:00 2027-02-03T10:00"),
    ("cron(0 0 L * ? *)", "the last of the month", "2026-11-30T00:00 2026-12-31T00:00 2027-01-31T00:00"),
    ("cron(0 20 20 11 ? 2027)", "once", "2027-11-20T20:00"),
    ("rate(5 minutes)", "every 5 minutes", "2026-11-22T12:05 2026-11-22T12:10 2026-11-22T12:15"),
    ("rate(1 hour)", "every hour", "2026-11-22T13:00 2026-11-22T14:00 2026-11-22T15:00"),
    ("rate(7 days)", "every 168 hours", "2026-11-29T12:00 2026-12-06T12:00 2026-12-13T12:00"),
]


@pytest.mark.parametrize(("text", "expected"), [(text, expected) for text, _, expected in PUBLISHED])
def test_published_examples_of_eventbridge_come_out_as_published(text: str, expected: str) -> None:
    found = times(parse_rule({"cron": text}, NOW), NOW, 3)
    assert found == tuple(parse_instant(f"{one}:00Z") for one in expected.split())


def test_a_published_example_passes_midnight() -> None:
    """From 20:00 to 02:30 on the days from Monday to Friday: on Monday also from 0:00, as the guide says."""
    rule = parse_rule({"cron": "cron(0/30 20-2 ? * MON-FRI *)"}, NOW)
    monday = times(rule, NOW, 14)
    hours = [f"{hour:02}:{minute}" for hour in (0, 1, 2, *range(20, 24)) for minute in ("00", "30")]
    assert monday == tuple(parse_instant(f"2026-11-23T{hour}:00Z") for hour in hours)


def test_eventbridge_skips_what_the_clock_leaves_out_and_repeats_nothing() -> None:
    """As its user guide says of daylight saving time."""
    spring = parse_rule({"cron": "cron(30 2 * * ? *)", "timeZone": "America/New_York", "from": "2027-03-13"}, NOW)
    assert times(spring, NOW, 2) == (parse_instant("2027-03-13T07:30:00Z"), parse_instant("2027-03-15T06:30:00Z"))
    autumn = parse_rule({"cron": "cron(30 1 * * ? *)", "timeZone": "America/New_York", "from": "2027-11-07"}, NOW)
    assert times(autumn, NOW, 2) == (parse_instant("2027-11-07T05:30:00Z"), parse_instant("2027-11-08T06:30:00Z"))


def foreign_crons(number: int) -> Iterator[str]:
    chance = random.Random(SEED)
    for _ in range(number):
        minute = chance.choice(["0", "*", "0/15", "5,35", f"{chance.randint(0, 29)}-{chance.randint(30, 59)}"])
        hour = chance.choice(["*", "9", "8-17", "0/6", "1,13"])
        month = chance.choice(["*", "*", "1-6", "FEB", "1/3", "JUN,DEC"])
        day = chance.choice(["*", "1", "L", f"{chance.randint(1, 31)}W", "1/10", "29", "15,31"])
        weekday = chance.choice(["MON-FRI", "1", "2,4", f"{chance.randint(1, 7)}L", f"{chance.randint(1, 7)}#2"])
        days = chance.choice([(day, "?"), ("?", weekday)])
        year = chance.choice(["*", "*", "2027", "2027-2030", "2028,2032"])
        yield f"{minute} {hour} {days[0]} {month} {days[1]} {year}"


@pytest.mark.parametrize(
    ("rules", "least"), [(RULES // 4, 2_000), pytest.param(RULES, 10_000, marks=pytest.mark.thorough)]
)
def test_aws_croniter_agrees(rules: int, least: int) -> None:
    """It takes some seconds: aws-croniter is asked for each time anew.

    It gives up after ten steps, so it knows no time that is more than four years away: no 29 February after 2096.
    """
    compared = 0
    four_years = 4 * 366 * 24 * HOUR
    for text in foreign_crons(rules):
        theirs: list[Millis] = []
        at = datetime.fromtimestamp(NOW / SECOND, UTC)
        occurrence = AwsCroniter(text).occurrence(at)
        for _ in range(TIMES):
            found = occurrence.next()
            if found is None:
                break
            theirs.append(round(found.timestamp() * SECOND))
            occurrence = AwsCroniter(text).occurrence(found)
        compared += len(theirs)
        ours = times(parse_rule({"cron": f"cron({text})"}, NOW), NOW, TIMES)
        assert ours[: len(theirs)] == tuple(theirs), text
        assert all(at - (NOW, *theirs)[-1] > four_years for at in ours[len(theirs) :]), text
    assert compared > least


# ------------------------------------------------------------ durations on the calendar


@pytest.mark.parametrize("every", ["P1D", "P10D", "P2W", "P1M", "P5M", "P1Y", "P1Y6M", "P1M15D"])
@pytest.mark.parametrize("anchor", ["2024-01-31T09:00:00", "2024-02-29T00:00:00", "2023-12-30T23:59:00"])
def test_dateutil_agrees_on_months_and_years(every: str, anchor: str) -> None:
    """The 31st and the 29 February are clamped from the anchor: they come back."""
    step = {
        "P1D": relativedelta(days=1),
        "P10D": relativedelta(days=10),
        "P2W": relativedelta(weeks=2),
        "P1M": relativedelta(months=1),
        "P5M": relativedelta(months=5),
        "P1Y": relativedelta(years=1),
        "P1Y6M": relativedelta(years=1, months=6),
        "P1M15D": relativedelta(months=1, days=15),
    }[every]
    first = datetime.fromisoformat(anchor).replace(tzinfo=UTC)
    rule = parse_rule({"every": every, "timeZone": "UTC", "anchor": anchor, "from": "2020-01-01"}, 0)
    expected = [round((first + step * n).timestamp() * SECOND) for n in range(TIMES)]
    assert [*times(rule, 0, TIMES)] == expected
    assert next_after(rule, expected[-1] - 1) == expected[-1]
