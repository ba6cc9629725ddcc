"""Schedules of EventBridge Scheduler: when they are due, what is around it, and what stands against a move."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from delayer_client.eventbridge.composing import name_of
from delayer_client.eventbridge.mapping.outcome import Options, Request, Source
from delayer_client.eventbridge.mapping.spacing import least_seconds
from delayer_client.eventbridge.reading.sources import Found
from delayer_client.eventbridge.translating import translate, translate_schedule
from tests.client.eventbridge.samples import (
    NOW,
    PLACE,
    QUEUE,
    a_schedule,
    left,
    moved,
    notes_of,
    requested,
    why_not,
)


def test_a_cron_in_its_zone() -> None:
    body = moved(a_schedule("cron(0 9 ? * MON-FRI *)", ScheduleExpressionTimezone="Europe/Lisbon"))
    assert body == {
        "repeat": {"cron": "cron(0 9 ? * MON-FRI *)", "timeZone": "Europe/Lisbon"},
        "action": {
            "type": "sqs-send",
            "queueUrl": "https://sqs.eu-west-1.amazonaws.com/123456789012/delayer-target-orders",
        },
        "payload": {"order": 17},
        "retry": {"maxAttempts": 100, "maxAgeSeconds": 86_400},
        "tags": {"eventbridge": f"arn:aws:scheduler:{PLACE}:schedule/default/nightly"},
    }


@pytest.mark.parametrize(
    ("local", "zone", "instant"),
    [
        ("2026-12-24T18:00:00", "Europe/Lisbon", "2026-12-24T18:00:00Z"),
        ("2026-12-24T18:00:00", "America/New_York", "2026-12-24T23:00:00Z"),
        ("2027-03-28T01:30:00", "Europe/Lisbon", "2027-03-28T01:00:00Z"),  # left out by the clocks: the end of the gap
        ("2027-03-14T02:30:00", "America/New_York", "2027-03-14T07:00:00Z"),
        ("2027-10-31T01:30:00", "Europe/Lisbon", "2027-10-31T00:30:00Z"),  # shown twice: the first
    ],
)
def test_one_that_fires_once(local: str, zone: str, instant: str) -> None:
    body = moved(a_schedule(f"at({local})", ScheduleExpressionTimezone=zone))
    assert body["pointInTime"] == instant
    assert "repeat" not in body


@pytest.mark.parametrize(
    ("local", "said"), [("2027-03-28T01:30:00", "leave this time out"), ("2027-10-31T01:30:00", "show this time twice")]
)
def test_a_time_that_the_clocks_change_is_noted(local: str, said: str) -> None:
    schedule = a_schedule(f"at({local})", ScheduleExpressionTimezone="Europe/Lisbon")
    assert said in notes_of(translate_schedule(schedule, Options(now=NOW)))["ScheduleExpression"]


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("at(2026-11-23T12:59:59)", "which has passed"),
        ("at(2026-11-23T13:04:00)", "within five minutes"),
        ("at(2037-01-01T00:00:00)", "up to ten years"),
        ("at(2026-02-30T00:00:00)", "is no at("),
        ("at(tomorrow)", "is no at("),
        ("cron(0 9 * * *)", "six fields"),
        ("rate(30 seconds)", "minutes, hours or days"),
        ("rate(0 minutes)", "minutes, hours or days"),
        ("every day", "six fields"),
    ],
)
def test_an_expression_that_is_not_moved(expression: str, said: str) -> None:
    assert said in why_not(a_schedule(expression))


def test_a_zone_that_is_not_known() -> None:
    assert "tzdata" in why_not(a_schedule(ScheduleExpressionTimezone="Mars/Olympus"))
    assert "tzdata" in why_not(a_schedule("at(2027-01-01T00:00:00)", ScheduleExpressionTimezone="../etc"))


def test_start_and_end() -> None:
    body = moved(a_schedule(StartDate="2026-12-01T00:00:00+00:00", EndDate="2027-12-01T01:00:00+01:00"))
    assert body["repeat"]["from"] == "2026-12-01T00:00:00Z"
    assert body["repeat"]["until"] == "2027-12-01T00:00:00Z"
    assert "has passed" in why_not(a_schedule(EndDate="2026-11-22T00:00:00Z"))


def test_of_what_fires_once_start_and_end_are_ignored_as_at_eventbridge() -> None:
    assert "repeat" not in moved(a_schedule("at(2027-01-01T00:00:00)", EndDate="2026-11-22T00:00:00Z"))


def test_a_rate_is_counted_from_its_start_or_its_creation() -> None:
    created = {"CreationDate": "2026-11-01T10:03:27.500+00:00"}
    assert moved(a_schedule("rate(7 hours)", **created))["repeat"]["anchor"] == "2026-11-01T10:03:27.500Z"
    started = a_schedule("rate(7 hours)", StartDate="2026-11-02T00:00:00Z", **created)
    assert moved(started)["repeat"]["anchor"] == "2026-11-02T00:00:00Z"
    unknown = translate_schedule(a_schedule("rate(7 hours)"), Options(now=NOW))
    assert "counted from the import" in notes_of(unknown)["ScheduleExpression"]


def test_with_a_cutover_each_time_belongs_to_one_of_the_two() -> None:
    cutover = NOW + timedelta(days=1)
    assert moved(a_schedule(), cutover=cutover)["repeat"]["from"] == "2026-11-24T13:00:00Z"
    later = a_schedule(StartDate="2027-01-01T00:00:00Z")
    assert moved(later, cutover=cutover)["repeat"]["from"] == "2027-01-01T00:00:00Z"
    assert "before the cut-over" in why_not(a_schedule("at(2026-11-24T12:59:59)"), cutover=cutover)
    assert moved(a_schedule("at(2026-11-24T13:00:00)"), cutover=cutover)["pointInTime"] == "2026-11-24T13:00:00Z"
    assert "no time left" in why_not(a_schedule(EndDate="2026-11-24T13:00:00Z"), cutover=cutover)


def test_a_disabled_one_is_left() -> None:
    assert why_not(a_schedule(State="DISABLED")).startswith("State: it is disabled")


@pytest.mark.parametrize(
    ("expression", "zone", "minutes", "seconds"),
    [
        ("cron(0 9 * * ? *)", "UTC", 15, 900),
        ("cron(0 9 * * ? *)", "UTC", 1_440, 86_399),
        ("cron(0 9 * * ? *)", "Europe/Lisbon", 1_440, 82_799),  # a day on which the clocks are put forward
        ("cron(30 * * * ? *)", "Europe/Lisbon", 60, 3_599),
        ("cron(45 * * * ? *)", "Australia/Lord_Howe", 60, 1_799),  # half an hour is shown twice
        ("cron(0/15 * * * ? *)", "UTC", 15, 899),
        ("rate(1 hour)", "UTC", 30, 1_800),
        ("rate(1 minute)", "UTC", 5, 59),
    ],
)
def test_a_window_is_shorter_than_the_interval(expression: str, zone: str, minutes: int, seconds: int) -> None:
    window = {"Mode": "FLEXIBLE", "MaximumWindowInMinutes": minutes}
    schedule = a_schedule(expression, ScheduleExpressionTimezone=zone, FlexibleTimeWindow=window)
    item = translate_schedule(schedule, Options(now=NOW))
    assert requested(item)["window"] == {"seconds": seconds}
    assert ("FlexibleTimeWindow" in notes_of(item)) == (seconds != minutes * 60)


def test_a_window_of_one_that_fires_once() -> None:
    window = {"Mode": "FLEXIBLE", "MaximumWindowInMinutes": 1_440}
    assert moved(a_schedule("at(2027-01-01T00:00:00)", FlexibleTimeWindow=window))["window"] == {"seconds": 86_400}


def test_what_is_not_understood_counts_as_every_minute() -> None:
    assert least_seconds("cron(L 9 * * ? *)", "UTC", NOW) == 60
    assert least_seconds("cron(70 9 * * ? *)", "UTC", NOW) == 60


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        ({}, {"maxAttempts": 100, "maxAgeSeconds": 86_400}),
        ({"MaximumRetryAttempts": 0}, {"maxAttempts": 1, "maxAgeSeconds": 86_400}),
        ({"MaximumRetryAttempts": 99, "MaximumEventAgeInSeconds": 60}, {"maxAttempts": 100, "maxAgeSeconds": 60}),
        ({"MaximumRetryAttempts": 185}, {"maxAttempts": 100, "maxAgeSeconds": 86_400}),
    ],
)
def test_retries(policy: dict[str, int], expected: dict[str, int]) -> None:
    item = translate_schedule(a_schedule(target={"RetryPolicy": policy}), Options(now=NOW))
    assert requested(item)["retry"] == expected
    assert ("Target.RetryPolicy.MaximumRetryAttempts" in notes_of(item)) == (
        policy.get("MaximumRetryAttempts", 185) > 99
    )


def test_what_has_no_counterpart_is_noted() -> None:
    key = f"arn:aws:kms:{PLACE}:key/1"
    more: dict[str, Any] = {"KmsKeyArn": key, "ActionAfterCompletion": "DELETE"}
    item = translate_schedule(
        a_schedule(target={"DeadLetterConfig": {"Arn": f"{QUEUE}-dead"}}, **more), Options(now=NOW)
    )
    assert notes_of(item).keys() >= {"KmsKeyArn", "ActionAfterCompletion", "Target.DeadLetterConfig", "Target.RoleArn"}


def test_group_and_description_are_kept() -> None:
    body = moved(a_schedule(GroupName="orders", Description="The nightly report"))
    assert body["group"] == "orders"
    assert body["tags"]["description"] == "The nightly report"


@pytest.mark.parametrize(
    ("within", "name", "expected"),
    [
        ("default", "nightly", "nightly"),
        ("orders", "nightly", "orders:nightly"),
        ("g" * 64, "n" * 64, f"{'g' * 64}:{'n' * 46}:b68aa6d7cd1d1069"),
        ("default", ".", ".:cdb4ee2aea69cc6a"),
    ],
)
def test_names(within: str, name: str, expected: str) -> None:
    source = Source(service="scheduler", name=name, within=within, expression="")
    found = name_of(source)
    assert found == expected if len(expected) < 60 and name != "." else (len(found) <= 128 and found != name)


def test_a_rule_is_called_like_its_bus_and_target() -> None:
    assert (
        name_of(Source(service="rule", name="nightly", within="default", expression="", target_id="1"))
        == "rule:nightly:1"
    )
    named = Source(service="rule", name="nightly", within="orders", expression="", target_id="1")
    assert name_of(named, "eu-") == "eu-rule:orders:nightly:1"


def test_two_of_one_name_from_two_regions() -> None:
    here = a_schedule()
    there = a_schedule(Arn=here.arn.replace("eu-west-1", "us-east-1"))
    one, other = translate(Found(schedules=(here, there)), Options(now=NOW))
    assert isinstance(one, Request)
    assert "is called nightly in Delayer, too" in left(other)


def test_the_clock_of_the_caller_may_have_any_zone() -> None:
    now = datetime(2026, 11, 23, 14, 0, tzinfo=UTC).astimezone()
    assert isinstance(translate_schedule(a_schedule("at(2026-11-23T14:06:00)"), Options(now=now)), Request)
