"""Names in the wrong field of `cron(…)`: refused of a new rule, and no matter of a change that keeps the rule."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from delayer.actions.rules.foreign import built_in
from delayer.http.problem import Invalid
from delayer.recurrence.rule import parse_rule
from delayer.schedule.instants import MINUTE, parse_instant
from delayer.schedule.schedule import NO_TRAITS
from delayer.series.rules.admission import admit_named_series, admit_preview, admit_series, admit_series_change
from delayer.series.rules.request import SeriesRequest
from delayer.series.rules.rules import rule_of, text_of
from delayer.series.rules.series import SeriesDefinition
from tests.samples import NOW, OWNER, a_definition

ACTION = {"type": "http-request", "url": "https://example.org"}
SUNDAYS = {"cron": "cron(0 10 ? * JAN *)"}
REASON = ("repeat.cron", "wrong day-of-week: JAN: JAN is the name of a month")


def stored_series(repeat: dict[str, Any]) -> SeriesDefinition:
    rule = parse_rule(repeat, NOW)
    return SeriesDefinition(
        owner=OWNER, repeat=text_of(rule), on_missed=rule.on_missed, definition=a_definition(), created_at=NOW
    )


def changed(series: SeriesDefinition, **change: Any) -> SeriesDefinition:
    return admit_series_change(json.dumps(change).encode(), NOW, built_in()).applied_to(series)


@pytest.mark.parametrize(
    "ask",
    [
        lambda: admit_series(json.dumps({"repeat": SUNDAYS, "action": ACTION}).encode(), NOW, built_in()),
        lambda: admit_preview(json.dumps({"repeat": SUNDAYS}).encode(), NOW),
        lambda: changed(stored_series({"cron": "0 9 * * *"}), repeat=SUNDAYS),
    ],
    ids=["POST", "preview", "PATCH"],
)
def test_a_new_rule_is_refused(ask: Any) -> None:
    with pytest.raises(Invalid) as caught:
        ask()
    assert [(error.field, error.problem) for error in caught.value.errors] == [REASON]


def test_a_new_rule_is_refused_and_a_stored_one_may_be_ended() -> None:
    series = changed(stored_series(SUNDAYS), repeat={"until": "2027-01-01"}, tags={"team": "blue"})
    sunday = parse_instant("2026-11-22T10:00:00Z")
    assert rule_of(series).next_after(sunday - MINUTE) == sunday
    assert json.loads(series.repeat)["until"] == "2027-01-01T23:59:59.999Z"


def test_what_reads_otherwise_from_now_on_goes_on_from_where_it_is() -> None:
    """The occurrence of 12:05 was put by the release before, which took 1-1/1 for every minute."""
    series = stored_series({"cron": "1-1/1 * * * *"})
    assert rule_of(series).next_after(parse_instant("2026-11-21T12:05:00Z")) == parse_instant("2026-11-21T13:01:00Z")


@pytest.mark.parametrize("more", [{"until": "2028-01-01"}, {"timeZone": "Europe/Lisbon", "count": 3}, {}])
def test_whoever_sends_the_stored_text_again_keeps_the_rule(more: dict[str, Any]) -> None:
    """The command line sends a changed rule as a whole, and a deployment its document."""
    stored = stored_series(SUNDAYS)
    assert json.loads(changed(stored, repeat={**SUNDAYS, **more}).repeat)["cron"] == SUNDAYS["cron"]
    assert json.loads(put(SUNDAYS | more).in_place_of(stored).repeat)["cron"] == SUNDAYS["cron"]


@pytest.mark.parametrize("stored", [{"cron": "cron(0 10 ? * SUN *)"}, {"every": "PT1H"}], ids=["cron", "every"])
def test_another_text_is_refused_wherever_it_is_to_stand(stored: dict[str, Any]) -> None:
    asks: list[Callable[[], object]] = [
        lambda: put(SUNDAYS).in_place_of(stored_series(stored)),
        lambda: put(SUNDAYS).asked_for(OWNER, NOW, NO_TRAITS),
        lambda: changed(stored_series(stored), repeat=SUNDAYS),
    ]
    for ask in asks:
        with pytest.raises(Invalid) as caught:
            ask()
        assert [(error.field, error.problem) for error in caught.value.errors] == [REASON]


def test_with_other_faults_it_is_named_as_well() -> None:
    with pytest.raises(Invalid) as caught:
        put(SUNDAYS, overlap="twice")
    assert [error.field for error in caught.value.errors] == ["overlap", "repeat.cron"]


def put(repeat: dict[str, Any], **more: Any) -> SeriesRequest:
    body = json.dumps({"repeat": repeat, "action": ACTION, **more}).encode()
    return admit_named_series(body, "report", NOW, built_in())
