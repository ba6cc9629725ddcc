"""The stored document of a series says its times; what cannot be read fails instead of ending the series."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delayer.recurrence.rule import document_of, parse_rule
from delayer.recurrence.terms import OnMissed
from delayer.recurrence.times import times
from delayer.schedule.instants import DAY, parse_instant
from delayer.series.rules.rules import begun_as, next_times, rule_of, text_of, words_of
from delayer.series.rules.series import RuleFailed, SeriesDefinition
from tests.recurrence.strategies import repeats
from tests.samples import NOW, OWNER, a_definition

BEFORE = parse_instant("2024-01-01T00:00:00Z")


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


@given(repeats())
def test_a_rule_that_is_sent_again_is_the_stored_one(repeat: dict[str, Any]) -> None:
    """Whatever it leaves out; and one with other times is not."""
    asked = parse_rule(repeat, BEFORE)
    stored = a_series(text_of(asked))
    assert begun_as(stored, repeat, NOW) == asked
    assert next_times(stored, BEFORE, 5) == times(asked, BEFORE, 5)
    assert begun_as(stored, {"every": "PT61M"}, NOW) is None
    assert words_of(stored)


@given(repeats(), st.sampled_from(OnMissed))
def test_what_is_done_about_missed_times_makes_no_other_rule(repeat: dict[str, Any], on_missed: OnMissed) -> None:
    stored = a_series(text_of(parse_rule(repeat, BEFORE)))
    again = begun_as(stored, {**repeat, "onMissed": on_missed.value}, NOW)
    assert again
    assert again.on_missed is on_missed


def test_an_end() -> None:
    until = parse_instant("2027-01-01T00:00:00Z")
    asked = parse_rule({"every": "PT1H", "until": "2027-01-01T00:00:00Z"}, NOW)
    rule = rule_of(a_series(json.dumps(document_of(asked))))
    assert rule.next_after(until + DAY) is None


@pytest.mark.parametrize("document", ["", "[]", "{}", '{"cron": "0 9 * * *", "timeZone": "Europe/Atlantis"}', "\ud800"])
def test_what_cannot_be_read_fails(document: str) -> None:
    with pytest.raises(RuleFailed):
        rule_of(a_series(document)).next_after(NOW)
    with pytest.raises(RuleFailed):
        next_times(a_series(document), NOW, 1)
    assert words_of(a_series(document)) == ""
    assert begun_as(a_series(document), {"every": "PT1M"}, NOW) is None
