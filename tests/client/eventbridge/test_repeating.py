"""An import after another one: what it finds there has to be what it would make, or its commands would be wrong."""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from delayer_client.eventbridge import Answer, Options, Outcome, Report, State, apply, translate
from delayer_client.eventbridge.reading.sources import Rule, Schedule
from tests.client.eventbridge.samples import DESTINATION, NOW, a_rule, a_schedule, an_api_destination
from tests.client.eventbridge.test_applying import InMemory, items_of

EARLY = NOW + timedelta(hours=6)
LATE = NOW + timedelta(hours=12)
LATER = NOW + timedelta(minutes=10)  # when the second import is run
AT_EIGHT = a_schedule("at(2026-11-23T21:00:00)")  # between the two
FLEXIBLE: Mapping[str, Any] = {"FlexibleTimeWindow": {"Mode": "FLEXIBLE", "MaximumWindowInMinutes": 15}}


def again(
    there: InMemory, found: Schedule | Rule, cutover: datetime | None = None, now: datetime = LATER
) -> tuple[Outcome, tuple[str, ...]]:
    """The outcome of the second import, and its commands."""
    outcomes = apply(items_of(found, cutover=cutover, now=now), there)
    [outcome] = outcomes
    return outcome, Report(outcomes=outcomes, cutover=cutover).commands()


@pytest.mark.parametrize("found", [a_schedule(), a_rule(), a_schedule("rate(7 hours)")], ids=["cron", "rule", "rate"])
@pytest.mark.parametrize(
    ("first", "second"),
    [(EARLY, LATE), (LATE, EARLY), (None, LATE), (LATE, None)],
    ids=["later", "earlier", "only the second", "only the first"],
)
def test_another_cutover_is_refused_and_nothing_is_switched_off(
    found: Schedule | Rule, first: datetime | None, second: datetime | None
) -> None:
    there = InMemory()
    assert apply(items_of(found, cutover=first), there)[0].state is State.MOVED
    outcome, commands = again(there, found, second)
    assert outcome.state is State.REFUSED
    assert "repeat.from is 2026-11-2" in outcome.reason
    assert commands == ()


@pytest.mark.parametrize(
    "found",
    [
        *(a_schedule(), a_rule(), a_schedule("rate(7 hours)"), a_rule(expression="rate(7 hours)")),
        a_schedule("rate(7 hours)", CreationDate="2026-11-01T10:03:27.512345+00:00"),
        a_schedule(StartDate="2026-11-01T00:00:00Z", EndDate="2027-11-01T00:00:00Z", **FLEXIBLE),
        a_schedule("at(2027-01-01T09:00:00)", **FLEXIBLE),
    ],
    ids=["cron", "rule", "rate", "rate of a rule", "creation", "start and end", "once"],
)
@pytest.mark.parametrize("cutover", [None, EARLY], ids=["at once", "cut-over"])
def test_the_same_import_again_is_there(found: Schedule | Rule, cutover: datetime | None) -> None:
    there = InMemory()
    apply(items_of(found, cutover=cutover), there)
    outcome, commands = again(there, found, cutover)
    assert outcome.state is State.THERE, outcome.reason
    assert len(commands) == 1


def test_after_the_cutover_the_commands_are_printed_without_one() -> None:
    """Whoever has not run them in time is not left without them."""
    there = InMemory()
    apply(items_of(a_schedule(), cutover=EARLY), there)
    outcome, [command] = again(there, a_schedule(), now=LATE)
    assert outcome.state is State.THERE
    assert '.State = "DISABLED"' in command


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"expression": "cron(0 10 ? * MON-FRI *)"}, "repeat.cron"),
        ({"ScheduleExpressionTimezone": "Europe/Lisbon"}, "repeat.timeZone"),
        ({"EndDate": "2027-11-01T00:00:00Z"}, "repeat.until"),
        ({"target": {"Input": '{"order": 17.0}'}}, "payload"),
        ({"target": {"RetryPolicy": {"MaximumRetryAttempts": 3}}}, "retry"),
        ({"arn": "arn:aws:sqs:eu-west-1:123456789012:delayer-target-other"}, "action"),
        (FLEXIBLE, "window"),
    ],
)
def test_what_was_changed_at_eventbridge_since_is_not_there(changes: Mapping[str, Any], said: str) -> None:
    there = InMemory()
    apply(items_of(a_schedule()), there)
    outcome, commands = again(there, a_schedule(**changes))
    assert outcome.state is State.REFUSED
    assert f"not the same now: {said}. Nothing was changed" in outcome.reason
    assert commands == ()


def test_another_time_of_what_fires_once() -> None:
    there = InMemory()
    apply(items_of(a_schedule("at(2027-01-01T09:00:00)")), there)
    outcome, commands = again(there, a_schedule("at(2027-01-01T10:00:00)"))
    assert "pointInTime is 2027-01-01T09:00:00Z, now it would be 2027-01-01T10:00:00Z" in outcome.reason
    assert commands == ()


def test_another_anchor() -> None:
    there = InMemory()
    apply(items_of(a_schedule("rate(7 hours)", CreationDate="2026-11-01T10:00:00Z")), there)
    outcome, _ = again(there, a_schedule("rate(7 hours)", CreationDate="2026-11-01T11:00:00Z"))
    assert "not the same now: repeat.anchor." in outcome.reason


def test_the_window_is_shown_with_where_it_opens_and_the_time_in_it() -> None:
    there = InMemory()
    found = a_schedule("at(2027-01-01T09:00:00)", **FLEXIBLE)
    apply(items_of(found), there)
    there.live[("schedule", "nightly")] |= {
        "pointInTime": "2027-01-01T09:07:31.125Z",
        "window": {"seconds": 900, "from": "2027-01-01T09:00:00.000Z"},
    }
    assert again(there, found)[0].state is State.THERE


@pytest.mark.parametrize(
    ("shown", "is_there"),
    [
        ("https://api.example.com/orders/17/notes?***", True),
        ("https://api.example.com/others?***", False),
        ("***", True),
    ],
)
def test_what_is_masked_may_be_anything(shown: str, is_there: bool) -> None:
    target = {"PathParameterValues": ["17"], "HeaderParameters": {"X-Token": "t"}, "QueryStringParameters": {"q": "1"}}
    rule = a_rule(DESTINATION, Input="{}", HttpParameters=target)
    items = translate(replace(an_api_destination(), rules=(rule,)), Options(now=NOW))
    there = InMemory()
    apply(items, there)
    there.live[("series", "rule:nightly:one")]["action"] |= {"url": shown, "headers": {"X-Token": "***"}}
    [outcome] = apply(items, there)
    assert (outcome.state is State.THERE) == is_there, outcome.reason


@pytest.mark.parametrize(
    "found",
    [AT_EIGHT, a_schedule("rate(1 hour)", EndDate="2026-11-23T23:00:00Z")],
    ids=["once", "its end is before the cut-over"],
)
def test_what_a_later_cutover_leaves_though_it_is_in_delayer(found: Schedule) -> None:
    there = InMemory()
    assert apply(items_of(found, cutover=EARLY), there)[0].state is State.MOVED
    outcome, commands = again(there, found, LATE)
    assert outcome.state is State.REFUSED
    assert "now both fire it, until 2026-11-23T2" in outcome.reason
    assert commands == ()
    assert again(InMemory(), found, LATE)[0].state is State.LEFT


def test_what_has_ended_at_eventbridge_as_the_commands_said_is_left() -> None:
    there = InMemory()
    apply(items_of(a_schedule(), cutover=EARLY), there)
    ended = a_schedule(EndDate=(EARLY - timedelta(seconds=1)).isoformat())
    assert again(there, ended, EARLY)[0].state is State.LEFT


@pytest.mark.parametrize("status", [404, 429])
def test_the_holder_of_a_name_that_is_not_shown(status: int, monkeypatch: pytest.MonkeyPatch) -> None:
    there = InMemory()
    apply(items_of(a_schedule()), there)
    answer: Callable[[str], Answer] = lambda _name: Answer(status, {"detail": "Not now."})  # noqa: E731
    monkeypatch.setattr(there, "get_series", answer)
    outcome, commands = again(there, a_schedule())
    assert outcome.state is State.UNKNOWN
    assert f"{status}: Not now." in outcome.reason
    assert commands == ()
