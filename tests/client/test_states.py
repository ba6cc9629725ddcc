"""Where a schedule stands: one state, one time, one lateness, the same on the command line and in the console."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from delayer_client import Schedule
from delayer_client.api.models import HistoryEntry, Waiting
from delayer_client.states import STATES, has_fired, is_retried, next_time, own_lateness, retry_in_words
from tests.openapi import openapi

NOW = datetime(2027, 1, 4, 20, 38, 16, tzinfo=UTC)
SOON, LATER = NOW + timedelta(seconds=4), NOW + timedelta(seconds=20)


def made(state: str, **fields: Any) -> Schedule:
    return Schedule(**{"id": "x", "state": state, "point_in_time": NOW - timedelta(minutes=1), **fields})


def waiting(until: datetime | None) -> Waiting:
    return Waiting(for_="circuit", reason="HTTP 503", since=NOW, until=until)


def test_the_words_are_those_of_the_api() -> None:
    assert list(STATES) == openapi()["components"]["schemas"]["Schedule"]["properties"]["state"]["enum"]


@pytest.mark.parametrize(
    ("one", "said"),
    [
        (made("claimed"), ""),
        (made("claimed", attempt=1), ""),
        (made("claimed", attempt=1, next_attempt_at=SOON), ""),
        (made("claimed", next_attempt_at=SOON), ""),
        (made("claimed", attempt=5, next_attempt_at=SOON), "attempt 5"),
        (made("claimed", attempt=5), "attempt 5"),
        (made("failed", attempt=5), ""),
        (made("executed", attempt=2), ""),
        (made("of a newer stack"), ""),
    ],
)
def test_a_retry_is_said_beside_the_state(one: Schedule, said: str) -> None:
    assert retry_in_words(one) == said
    assert is_retried(one) == bool(said)


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
