"""The stored document of a series says its times; what cannot be read fails instead of ending the series."""

import json

import pytest

from delayer.core.recurrence.rule import document_of, parse_rule
from delayer.core.recurrence.times import times
from delayer.core.schedule.instants import DAY, parse_instant
from delayer.core.series.rules import rule_of
from delayer.core.series.series import RuleFailed, SeriesDefinition
from tests.samples import NOW, OWNER, a_definition


def a_series(document: str) -> SeriesDefinition:
    return SeriesDefinition(owner=OWNER, repeat=document, definition=a_definition())


@pytest.mark.parametrize(
    "repeat",
    [
        {"cron": "0 9 * * MON-FRI", "timeZone": "Europe/Lisbon"},
        {"every": "PT15M"},
        {"every": "P1M", "timeZone": "America/New_York", "anchor": "2026-01-31T08:00:00"},
    ],
    ids=["cron", "exact", "calendar"],
)
def test_what_is_stored_has_the_times_of_what_was_asked_for(repeat: dict[str, str]) -> None:
    """Whenever it is read: nothing in it depends on the time of its reading."""
    asked = parse_rule(repeat, NOW)
    rule, at = rule_of(a_series(json.dumps(document_of(asked)))), NOW
    for expected in times(asked, NOW, 20):
        found = rule.next_after(at)
        assert found == expected
        at = expected


def test_an_end() -> None:
    until = parse_instant("2027-01-01T00:00:00Z")
    asked = parse_rule({"every": "PT1H", "until": "2027-01-01T00:00:00Z"}, NOW)
    rule = rule_of(a_series(json.dumps(document_of(asked))))
    assert rule.next_after(until + DAY) is None


@pytest.mark.parametrize("document", ["", "[]", "{}", '{"cron": "0 9 * * *", "timeZone": "Europe/Atlantis"}', "\ud800"])
def test_what_cannot_be_read_fails(document: str) -> None:
    with pytest.raises(RuleFailed):
        rule_of(a_series(document)).next_after(NOW)
