"""Where a schedule stands: one word, one time, one lateness, the same on the command line and in the console."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from delayer_client import Schedule
from delayer_client.api.models import HistoryEntry, Waiting
from delayer_client.states import WORDS, fits, has_fired, next_time, own_lateness, word
from tests.openapi import openapi

NOW = datetime(2027, 1, 4, 20, 38, 16, tzinfo=UTC)
SOON, LATER = NOW + timedelta(seconds=4), NOW + timedelta(seconds=20)


def made(state: str, **fields: Any) -> Schedule:
    return Schedule(**{"id": "x", "state": state, "point_in_time": NOW - timedelta(minutes=1), **fields})


def waiting(until: datetime | None) -> Waiting:
    return Waiting(for_="circuit", reason="HTTP 503", since=NOW, until=until)


def test_the_words_are_those_of_the_api() -> None:
    states = openapi()["components"]["schemas"]["Schedule"]["properties"]["state"]["enum"]
    assert set(WORDS) - set(states) == {"retrying"}
    assert set(states) <= set(WORDS)


@pytest.mark.parametrize(
    ("one", "said"),
    [
        (made("claimed"), "claimed"),
        (made("claimed", attempt=1), "claimed"),
        (made("claimed", attempt=5, next_attempt_at=SOON), "retrying"),
        (made("claimed", attempt=5), "retrying"),
        (made("failed", attempt=5), "failed"),
        (made("executed", attempt=2), "executed"),
        (made("of a newer stack"), "of a newer stack"),
    ],
)
def test_one_word(one: Schedule, said: str) -> None:
    assert word(one) == said
    assert fits(one, "retrying") == (said == "retrying")
    assert fits(one, None)


@pytest.mark.parametrize(
    ("one", "at"),
    [
        (made("scheduled", point_in_time=LATER), LATER),
        (made("undecided", point_in_time=None), None),
        (made("claimed"), None),
        (made("claimed", attempt=5, next_attempt_at=SOON), SOON),
        # The circuit is probed only after the time for which the attempt was planned, and the other way round.
        (made("claimed", attempt=5, next_attempt_at=SOON, waiting=waiting(LATER)), LATER),
        (made("claimed", attempt=5, next_attempt_at=LATER, waiting=waiting(SOON)), LATER),
        (made("enqueued", waiting=waiting(SOON)), SOON),
        # A suspension ends when an operator says so.
        (made("enqueued", waiting=waiting(None)), None),
        (made("claimed", attempt=5, next_attempt_at=SOON, waiting=waiting(None)), None),
        (made("executed"), None),
        (made("cancelled", point_in_time=LATER), None),
    ],
)
def test_one_answer_to_when_next(one: Schedule, at: datetime | None) -> None:
    assert next_time(one) == at


@pytest.mark.parametrize(
    ("one", "said"),
    [
        (made("executed", lateness_ms=0), True),
        (made("failed", attempt=9, lateness_ms=4), True),
        (made("claimed", attempt=5, lateness_ms=4, next_attempt_at=SOON), False),
        (made("claimed"), False),
        (made("cancelled"), False),
    ],
)
def test_what_is_retried_has_not_fired(one: Schedule, said: bool) -> None:
    assert has_fired(one) is said


def test_the_lateness_of_the_first_attempt_is_of_no_other() -> None:
    def entry(attempt: int | None, own: int | None = None) -> HistoryEntry:
        return HistoryEntry(
            event="attempt-failed", at=NOW, state="claimed", attempt=attempt, lateness_ms=7, attempt_lateness_ms=own
        )

    assert [own_lateness(entry(attempt)) for attempt in (None, 1, 2, 3)] == [7, 7, None, None]
    assert [own_lateness(entry(attempt, own=0)) for attempt in (1, 2, 3)] == [0, 0, 0]
