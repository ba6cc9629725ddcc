"""The times of a rule rise, keep within its bounds, and are the same however they are asked for."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from delayer.recurrence import times as times_module
from delayer.recurrence.duration import LAST_WALL
from delayer.recurrence.rule import RecurrenceRule, parse_rule
from delayer.recurrence.times import next_after, number_of, times
from delayer.schedule.instants import MINUTE, YEAR, format_instant, parse_instant
from tests.recurrence.random_rules import FIRST, LAST
from tests.recurrence.strategies import repeats

NOW = FIRST
rules = repeats().map(lambda repeat: parse_rule(repeat, NOW))
anywhere = st.integers(FIRST, LAST)


@given(rules, anywhere)
def test_they_rise_by_a_minute_at_least_and_keep_within_the_bounds(rule: RecurrenceRule, after: int) -> None:
    """It takes some seconds: rules at random, up to centuries ahead."""
    found = times(rule, after, 40)
    assert all(later - earlier >= MINUTE for earlier, later in pairwise(found))
    assert all(max(after + 1, rule.start) <= at < LAST_WALL for at in found)
    assert rule.until is None or all(at <= rule.until for at in found)
    assert rule.count is None or len(found) <= rule.count


@given(rules, anywhere, st.integers(0, 30), st.integers(0, 30))
def test_they_are_the_same_in_parts(rule: RecurrenceRule, after: int, some: int, more: int) -> None:
    """It takes some seconds: rules at random, up to centuries ahead."""
    whole = times(rule, after, some + more)
    first = times(rule, after, some)
    assert whole == first + times(rule, first[-1] if first else after, more)


@given(rules, anywhere, st.integers(0, 10**9))
def test_an_instant_between_two_times_leads_to_the_second(rule: RecurrenceRule, after: int, part: int) -> None:
    """It takes some seconds: rules at random, up to centuries ahead."""
    found = next_after(rule, after)
    if found is not None:
        assert next_after(rule, after + part % (found - after)) == found


@given(rules)
@settings(max_examples=50)
def test_an_accepted_rule_has_a_time_and_says_when_it_has_no_more(rule: RecurrenceRule) -> None:
    """It takes some seconds: rules at random, up to centuries ahead."""
    first = next_after(rule, rule.start - 1)
    assert first is not None
    if rule.count is None and rule.until is None:
        assert next_after(rule, first) is not None
    last = times(rule, rule.start - 1, 1000)[-1]
    if rule.count is not None and rule.count <= 1000 and number_of(rule, last) == rule.count:
        assert next_after(rule, last) is None


@given(rules, anywhere)
def test_each_has_its_number(rule: RecurrenceRule, after: int) -> None:
    """Counted in one go, whatever lies between. It takes some seconds: rules at random, up to centuries ahead."""
    found = times(rule, after, 20)
    before = number_of(rule, after)
    assert [number_of(rule, at) for at in found] == [before + place for place in range(1, len(found) + 1)]
    assert [number_of(rule, at - 1) for at in found] == [before + place for place in range(len(found))]


def of(repeat: dict[str, Any], count: int = 4) -> list[str]:
    rule = parse_rule(repeat, NOW)
    return [format_instant(at)[:16] for at in times(rule, rule.start - 1, count)]


SPRING = {"timeZone": "Europe/Lisbon", "from": "2027-03-28T00:00:00Z"}  # at 01:00 it is 02:00
AUTUMN = {"timeZone": "Europe/Lisbon", "from": "2027-10-31T00:00:00Z"}  # 01:00 in summer; from 01:00 it is 01:00 again


@pytest.mark.parametrize(
    ("repeat", "expected"),
    [
        ({"cron": "30 1 * * *"} | SPRING, ["2027-03-28T01:00", "2027-03-29T00:30"]),
        ({"cron": "30 1 * * *", "dst": {"gap": "skip"}} | SPRING, ["2027-03-29T00:30", "2027-03-30T00:30"]),
        ({"cron": "*/20 1 * * *"} | SPRING, ["2027-03-28T01:00", "2027-03-29T00:00", "2027-03-29T00:20"]),
        ({"cron": "30 1,2 * * *"} | SPRING, ["2027-03-28T01:00", "2027-03-28T01:30", "2027-03-29T00:30"]),
        ({"cron": "0 1,2 * * *"} | SPRING, ["2027-03-28T01:00", "2027-03-29T00:00", "2027-03-29T01:00"]),
        ({"cron": "*/30 * * * *"} | SPRING, [f"2027-03-28T0{at}" for at in ("0:00", "0:30", "1:00", "1:30", "2:00")]),
        ({"every": "P1D", "anchor": "2027-03-27T01:30:00"} | SPRING, ["2027-03-28T01:00", "2027-03-29T00:30"]),
        ({"cron": "30 1 * * *"} | AUTUMN, ["2027-10-31T00:30", "2027-11-01T01:30"]),
        ({"cron": "30 1 * * *", "dst": {"overlap": "both"}} | AUTUMN, ["2027-10-31T00:30", "2027-10-31T01:30"]),
        ({"cron": "*/30 * * * *"} | AUTUMN, [f"2027-10-31T0{at}" for at in ("0:00", "0:30", "1:00", "1:30", "2:00")]),
        ({"cron": "0 * * * *", "dst": {"overlap": "first"}} | AUTUMN, [f"2027-10-31T0{hour}:00" for hour in range(4)]),
        ({"every": "P1D", "anchor": "2027-10-30T01:30:00"} | AUTUMN, ["2027-10-31T00:30", "2027-11-01T01:30"]),
    ],
    ids=str,
)
def test_at_both_changes_of_the_clocks(repeat: dict[str, Any], expected: list[str]) -> None:
    assert of(repeat, len(expected)) == expected
    rule = parse_rule(repeat, NOW)
    assert [number_of(rule, parse_instant(f"{at}:00Z")) for at in expected] == [*range(1, len(expected) + 1)]


def test_what_is_shown_again_before_a_long_pause_is_a_time_again() -> None:
    """In Nuuk, Saturday's last hour comes twice; the rule has no other time in the month."""
    nuuk = {"cron": "30 * * * 6L", "timeZone": "America/Nuuk", "from": "2027-10-31T00:00:00Z"}
    assert of(nuuk, 3) == ["2027-10-31T00:30", "2027-10-31T01:30", "2027-11-27T02:30"]


@pytest.mark.parametrize(("until", "count"), [("10:59:59.999", 2), ("11:00:00.000", 3)])
def test_a_rule_ends_with_its_last_millisecond(until: str, count: int) -> None:
    rule = parse_rule({"every": "PT1H", "from": "2027-01-01T09:00:00Z", "until": f"2027-01-01T{until}Z"}, NOW)
    assert number_of(rule, parse_instant("2028-01-01T00:00:00Z")) == count
    assert len(times(rule, rule.start - 1, 10)) == count


def test_a_count_is_of_all_times_missed_ones_included() -> None:
    rule = parse_rule({"cron": "0 9 * * *", "count": 3}, parse_instant("2027-01-01T09:00:00Z"))
    assert times(rule, parse_instant("2027-01-03T12:00:00Z"), 5) == (parse_instant("2027-01-04T09:00:00Z"),)


def test_the_last_instant_may_be_a_time() -> None:
    assert of({"cron": "0 9 * * *", "until": "2024-01-02T09:00:00Z"}) == ["2024-01-01T09:00", "2024-01-02T09:00"]


def test_a_time_more_than_ten_years_ahead_is_returned() -> None:
    """Who asks decides what to do until then."""
    rule = parse_rule({"cron": "cron(0 0 1 1 ? 2150)"}, NOW)
    found = next_after(rule, NOW)
    assert found == parse_instant("2150-01-01T00:00:00Z")
    assert found - NOW > 10 * YEAR
    assert next_after(rule, found) is None


def test_the_leap_day_that_a_century_leaves_out() -> None:
    rule = parse_rule({"cron": "0 0 29 2 *", "from": "2096-01-01"}, NOW)
    assert [format_instant(at)[:4] for at in times(rule, NOW, 3)] == ["2096", "2104", "2108"]


def test_nothing_lies_after_the_year_2199() -> None:
    for repeat in ({"every": "P1M", "timeZone": "UTC"}, {"every": "PT24H"}, {"cron": "0 0 * * *"}):
        rule = parse_rule(repeat | {"from": "2199-12-31T00:00:00Z"}, NOW)
        assert times(rule, NOW, 2) == (parse_instant("2199-12-31T00:00:00Z"),)


def test_a_rule_whose_every_time_is_left_out_comes_to_an_end() -> None:
    """The clocks leave out that hour on each last Sunday of March, as far as the years go."""
    repeat = {"cron": "30 1 * 3 0L", "timeZone": "Europe/Lisbon", "dst": {"gap": "skip"}}
    assert next_after(parse_rule(repeat, NOW), NOW) is None


@pytest.mark.parametrize("year", [1971, 1996, 2027])
def test_what_lies_before_the_year_is_counted_once(year: int) -> None:
    rule = parse_rule({"cron": "30 1 * * *", "timeZone": "Europe/Lisbon", "from": "1970-01-01", "count": 20_000}, NOW)
    asked = [parse_instant(f"{year}-{month:02}-15T12:00:00Z") for month in range(1, 13)]
    before = times_module.number_before_year.cache_info().misses
    for at in asked:
        found = next_after(rule, at)
        assert (found is None) == (number_of(rule, at) >= 20_000)
    assert times_module.number_before_year.cache_info().misses - before <= 1
