"""Each field of cron means what a second implementation finds minute by minute, and the words say the same."""

from collections import defaultdict
from collections.abc import Hashable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from delayer.recurrence.describe import description
from delayer.recurrence.rule import document_of, parse_rule
from delayer.recurrence.terms import BadRule
from delayer.recurrence.times import times
from delayer.schedule.instants import MINUTE, SECOND, Millis, format_instant, parse_instant
from tests.recurrence.naive_cron import DAYS, MONTHS, NICKNAMES, fires, is_time

NOW = parse_instant("2026-11-22T12:00:00Z")
MINUTES_OF_A_DAY = 24 * 60


def between(cron: str, first: datetime, minutes: int) -> list[Millis]:
    start = round(first.timestamp() * SECOND)
    until = format_instant(start + minutes * MINUTE - 1)
    return [*times(parse_rule({"cron": cron, "until": until}, 0), start - 1, minutes)]


def naive(cron: str, first: datetime, minutes: int) -> list[Millis]:
    return [round(at.timestamp() * SECOND) for at in fires(cron, first, minutes)]


def days_of(cron: str, first: datetime, days: int) -> list[Millis]:
    """Of a rule at midnight."""
    found = [first + timedelta(days=number) for number in range(days)]
    return [round(at.timestamp() * SECOND) for at in found if is_time(cron, at)]


@pytest.mark.parametrize(
    ("cron", "expected"),
    [
        ("1-1/1 * * * *", "12:01 13:01 14:01"),
        ("1-1/1,30 * * * *", "12:01 12:30 13:01"),
        ("0 14-14/2 * * *", "14:00"),
        ("0 05-5/2 * * *", "05:00"),
        ("cron(5-5/10 14 ? * SUN *)", "14:05"),
        ("cron(0 14 22-22/2 * ? *)", "14:00"),
        ("0 14 22-22/3 * *", "14:00"),
        ("0 14 * NOV-11/1 *", "14:00"),
        ("0 14 * * SUN-0/2", "14:00"),
        ("0 14 * * 7-7/2", "14:00"),
    ],
)
def test_a_range_of_one_value_is_one_value(cron: str, expected: str) -> None:
    found = between(cron, datetime(2026, 11, 22, 12, tzinfo=UTC), MINUTES_OF_A_DAY)
    instants = [datetime.fromtimestamp(at / SECOND, UTC).strftime("%H:%M") for at in found]
    assert instants[: len(expected.split())] == expected.split()
    assert found == naive(cron, datetime(2026, 11, 22, 12, tzinfo=UTC), MINUTES_OF_A_DAY)


@pytest.mark.parametrize(
    ("cron", "days"),
    [
        ("0 9 * * 1-5/2", "MON WED FRI"),
        ("0 9 * * MON-FRI/2", "MON WED FRI"),
        ("0 9 * * 0-7/2", "SUN TUE THU SAT"),
        ("0 9 * * 1-7/2", "SUN MON WED FRI"),
        ("0 9 * * TUE-4/2,SAT", "TUE THU SAT"),
        ("cron(0 9 ? * 2-6/2 *)", "MON WED FRI"),
        ("cron(0 9 ? * FRI-MON/2 *)", "SUN FRI"),
    ],
)
def test_a_range_of_weekdays_may_have_a_step(cron: str, days: str) -> None:
    found = between(cron, datetime(2026, 11, 22, tzinfo=UTC), 7 * MINUTES_OF_A_DAY)
    assert [datetime.fromtimestamp(at / SECOND, UTC).strftime("%a").upper() for at in found] == days.split()


@pytest.mark.parametrize("nickname", NICKNAMES)
def test_a_nickname_of_cron_is_its_five_fields(nickname: str) -> None:
    rule = parse_rule({"cron": nickname}, NOW)
    assert rule == parse_rule({"cron": NICKNAMES[nickname]}, NOW)
    assert rule == parse_rule({"cron": f" {nickname.upper()} "}, NOW)


def terms(least: int, most: int, names: tuple[str, ...] = (), passes_the_end: bool = False) -> st.SearchStrategy[str]:
    """Near to each other, so that a range is often one value; a name stands for its number now and then."""

    def named(number: int, by_name: bool) -> str:
        at = number - least
        return names[at] if by_name and at < len(names) else str(number)

    def term(first: int, length: int, step: int, kind: str, by_name: bool) -> str:
        last = first + length
        if last > most:
            last = least + last - most - 1 if passes_the_end else most
        begin, end = named(first, by_name), named(last, not by_name)
        return {
            "one": begin,
            "range": f"{begin}-{end}",
            "stepped": f"{begin}-{end}/{step}",
            "on": f"{begin}/{step}",
            "star": f"*/{step}",
        }[kind]

    kinds = st.sampled_from(["one", "range", "stepped", "stepped", "on", "star"])
    return st.builds(term, st.integers(least, most), st.integers(0, 4), st.integers(1, 9), kinds, st.booleans())


def fields(one: st.SearchStrategy[str], *more: str) -> st.SearchStrategy[str]:
    return st.lists(one, min_size=1, max_size=2).map(",".join) | st.sampled_from(["*", *more])


_OF_THE_DAY = st.tuples(fields(terms(0, 59)), fields(terms(0, 23)))
_FOREIGN_OF_THE_DAY = st.tuples(fields(terms(0, 59, (), True)), fields(terms(0, 23, (), True)))
_DAY = fields(terms(1, 31), "L", "LW", "15W", "1W,31W")
_WEEKDAY = fields(terms(0, 6, DAYS), "5L", "MON#2", "7", "SUN,7", "FRIL,0#1")
_FOREIGN_WEEKDAY = fields(terms(1, 7, DAYS, True), "6L", "MON#2", "L", "SAT#5")
BY_MINUTES = _OF_THE_DAY.map(lambda two: f"{two[0]} {two[1]} * * *") | _FOREIGN_OF_THE_DAY.map(
    lambda two: f"cron({two[0]} {two[1]} * * ? *)"
)
BY_DAYS = st.tuples(_DAY, fields(terms(1, 12, MONTHS)), _WEEKDAY).map(
    lambda three: f"0 0 {three[0]} {three[1]} {three[2]}"
) | st.tuples(
    st.tuples(_DAY, st.just("?")) | st.tuples(st.just("?"), _FOREIGN_WEEKDAY), fields(terms(1, 12, MONTHS, True))
).map(lambda found: f"cron(0 0 {found[0][0]} {found[1]} {found[0][1]} *)")


@settings(max_examples=60)
@given(BY_MINUTES)
def test_minute_by_minute(cron: str) -> None:
    """Of one day: what they are on another does not depend on it. It takes some seconds: each minute is looked at."""
    first = datetime(2026, 11, 22, tzinfo=UTC)
    assert between(cron, first, MINUTES_OF_A_DAY) == naive(cron, first, MINUTES_OF_A_DAY)


@settings(max_examples=60)
@given(BY_DAYS)
def test_day_by_day(cron: str) -> None:
    """Of two years, a leap year among them. A day that no month has is refused. It takes some seconds."""
    first = datetime(2027, 6, 1, tzinfo=UTC)
    expected = days_of(cron, first, 731)
    if expected:
        assert between(cron, first, 731 * MINUTES_OF_A_DAY) == expected
    else:
        with suppress(BadRule):
            assert between(cron, first, 731 * MINUTES_OF_A_DAY) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("0 9 * * MON-FRI", "0 9 * * 1-5"),
        ("*/15 * * * *", "0,15,30,45 * * * *"),
        ("0 * * * *", "0 */1 * * *"),
        ("00 9 * * *", "0 9 * * *"),
        ("@weekly", "0 0 * * 7"),
        ("0 0 * * 1-5/2", "0 0 * * MON,WED,FRI"),
        ("0 0 * * 7#2", "0 0 * * SUN#2"),
        ("0 0 1-31 * MON", "0 0 * * *"),  # either of the two is enough, and any day is one of the month
        ("0 0 * * 5#1,5#2,5#3,5#4,5#5", "0 0 * * FRI"),
        ("0 0 31 1,2 *", "0 0 31 JAN *"),
        ("0 0 LW * *", "0 0 31W,LW * *"),
        ("cron(0 0 ? * 2-6 *)", "cron(0 0 ? * MON-FRI 1970-2199)"),
    ],
)
def test_the_same_times_in_other_words_have_the_same_rhythm(one: str, other: str) -> None:
    first = datetime(2027, 1, 1, tzinfo=UTC)
    assert days_or_minutes(one, first) == days_or_minutes(other, first)
    assert rhythm(one) == rhythm(other)


def days_or_minutes(cron: str, first: datetime) -> list[Millis]:
    """By the second implementation: each minute of a day, and each midnight of two years."""
    return naive(cron, first, MINUTES_OF_A_DAY) + days_of(cron, first, 731)


def rhythm(cron: str) -> Hashable:
    return parse_rule({"cron": cron, "timeZone": "Europe/Lisbon"}, NOW).rhythm


@st.composite
def spelled(draw: st.DrawFn, least: int, most: int, names: tuple[str, ...] = ()) -> tuple[str, str]:
    """The numbers of a field, written in two ways."""
    first, step = draw(st.integers(least, most)), draw(st.integers(1, 4))
    last = draw(st.integers(first, most))
    numbers = draw(st.permutations(range(first, last + 1, step)))
    listed = [names[one - least] if bool(names) and draw(st.booleans()) else f"{one:02}" for one in numbers]
    return f"{first}-{last}/{step}", ",".join(listed)


@settings(max_examples=40)
@given(st.tuples(spelled(0, 59), spelled(0, 23), spelled(1, 31), spelled(1, 12, MONTHS), spelled(0, 6, DAYS)))
def test_two_spellings_have_the_same_rhythm(parts: tuple[tuple[str, str], ...]) -> None:
    """It takes some seconds: each rule is asked for every day of each kind of month."""
    spellings = [" ".join(found) for found in zip(*parts, strict=True)]
    with suppress(BadRule):  # a day that no month has
        assert rhythm(spellings[0]) == rhythm(spellings[1])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("0 9 * * MON-FRI", "0 9 * * MON-SAT"),
        ("0 9 1 * MON", "0 9 */31 * MON"),  # one of the two is enough, or both are needed
        ("0 9 15 * *", "0 9 15W * *"),
        ("0 9 * * FRIL", "0 9 * * FRI#4"),
        ("0 9 29 2 *", "0 9 28 2 *"),
        ("0 9,10 * * *", "0,10 9 * * *"),
        ("cron(0 9 ? * MON 2027)", "cron(0 9 ? * MON 2028)"),
    ],
)
def test_what_only_looks_alike_has_another_rhythm(one: str, other: str) -> None:
    assert rhythm(one) != rhythm(other)


@pytest.mark.parametrize("weekdays", ["0-7/7", "0,7", "SUN,7", "7,00", "SUN"])
def test_sunday_is_said_once(weekdays: str) -> None:
    rule = parse_rule({"cron": f"0 9 * * {weekdays}"}, NOW)
    assert description(rule) == "every Sunday at 09:00, UTC"
    assert between(f"0 9 * * {weekdays}", datetime(2026, 11, 22, tzinfo=UTC), 14 * MINUTES_OF_A_DAY) == naive(
        "0 9 * * SUN", datetime(2026, 11, 22, tzinfo=UTC), 14 * MINUTES_OF_A_DAY
    )


def test_what_is_stored_for_a_step_over_the_week_names_sunday_once() -> None:
    assert document_of(parse_rule({"cron": "0 9 * * 0-7/7"}, NOW))["cron"] == "0 9 * * 0"


def test_rules_with_the_same_words_have_the_same_times() -> None:
    """So the words say what fires. Of each field there are some that are alike, and some that only look so.

    It takes some seconds: the next times of each of 270 rules.
    """
    days = ("*", "1-31", "*/2", "1", "1-1/3", "15W", "15W,1", "15W,*", "L")
    weekdays = ("*", "0-6", "1-7", "0-7", "MON", "1-1/2", "1-5/2", "MON,3,FRI", "*/2", "FRIL")
    found: defaultdict[str, dict[tuple[Millis, ...], str]] = defaultdict(dict)
    for day, month, weekday in product(days, ("*", "1-12", "JAN,2"), weekdays):
        cron = f"0 9 {day} {month} {weekday}"
        rule = parse_rule({"cron": cron}, 0)
        found[description(rule)].setdefault(times(rule, NOW, 40), cron)
    assert [(words, [*crons.values()]) for words, crons in found.items() if len(crons) > 1] == []
