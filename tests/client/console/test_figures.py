"""Figures and pictures of what was listed."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delayer_client import Schedule
from delayer_client.api.models import HistoryEntry, SchedulePage
from delayer_client.console.listing import figures
from delayer_client.console.listing.recent import LONGEST, recent
from delayer_client.console.pictures.axis import axis, span_of
from delayer_client.console.pictures.path import path, stations
from delayer_client.console.pictures.svg import element
from delayer_client.console.words.numbers import lateness
from delayer_client.console.words.times import ahead, duration

NOW = datetime(2027, 1, 4, 9, 0, tzinfo=UTC)


def made(seconds: float, **fields: Any) -> Schedule:
    due = NOW + timedelta(seconds=seconds)
    return Schedule(**{"id": f"s{seconds}", "state": "executed", "point_in_time": due, "lateness_ms": 5, **fields})


class Listing:
    """GET /schedules over what there is."""

    def __init__(self, schedules: list[Schedule]) -> None:
        self.schedules = sorted(schedules, key=lambda one: one.point_in_time or NOW)
        self.asked = 0

    async def page(self, *, since: Any, until: Any, page_size: int, cursor: str | None, **_: Any) -> SchedulePage:
        self.asked += 1
        fits = [one for one in self.schedules if one.point_in_time and since <= one.point_in_time < until]
        begin = int(cursor or 0)
        more = str(begin + page_size) if len(fits) > begin + page_size else None
        return SchedulePage(schedules=fits[begin : begin + page_size], next_cursor=more)


@given(
    ago=st.lists(st.integers(1, 4000), max_size=120, unique=True),
    at_most=st.sampled_from([5, 50, 1000]),
)
def test_recent_has_the_last_that_were_due_without_a_gap(ago: list[int], at_most: int) -> None:
    listing: Any = Listing([made(-seconds) for seconds in ago])
    found = asyncio.run(recent(listing, NOW, at_most))
    within = [one for one in listing.schedules if one.point_in_time >= NOW - LONGEST]
    assert list(found.schedules) == within[len(within) - len(found.schedules) :]
    if not found.is_cut:
        assert list(found.schedules) == within
    else:
        assert len(found.schedules) <= at_most
        assert found.schedules or at_most < len(within)


def test_a_busy_second_is_not_read_to_its_end() -> None:
    listing: Any = Listing([made(-0.5 - number / 10_000) for number in range(3000)])
    found = asyncio.run(recent(listing, NOW, 1000))
    assert found.is_cut
    assert len(found.schedules) == 1000
    assert listing.asked < 60


@pytest.mark.parametrize(
    ("values", "share", "expected"),
    [([], 0.5, None), ([7], 0.99, 7), ([1, 2, 3, 4], 0.5, 2), (list(range(100)), 0.99, 98)],
)
def test_percentiles_are_the_nearest_rank(values: list[float], share: float, expected: float | None) -> None:
    assert figures.percentile(values, share) == expected


def test_what_fails_is_counted_by_action_and_host() -> None:
    web = {"state": "failed", "action": {"type": "http-request", "url": "https://user:pw@a.example/x"}}
    queue = {"state": "dead-lettered", "action": {"type": "sqs-send", "queueUrl": "https://sqs/1/orders"}}
    claimed = {
        "state": "claimed",
        "next_attempt_at": NOW,
        "action": {"type": "http-request", "url": "https://a.example"},
    }
    first, again = made(3, **claimed, attempt=1), made(4, **claimed, attempt=2)
    found = figures.failing([made(1, **web), made(2, **queue), first, again, made(5)])
    assert [(one.kind, one.target, one.number) for one in found] == [
        ("http-request", "a.example", 2),
        ("sqs-send", "orders", 1),
    ]


def test_bars_count_each_that_is_due_once() -> None:
    bars = figures.bars([made(seconds) for seconds in range(60)], NOW, NOW + timedelta(minutes=1), 6)
    assert [bar.number for bar in bars] == [10] * 6
    assert 'role="img"' in axis(bars)
    assert "60 schedules due within 1\u00a0min" in axis(bars)


def test_the_axis_does_not_stretch_for_a_lone_one() -> None:
    due = [NOW + timedelta(minutes=minutes) for minutes in range(1, 50)] + [NOW + timedelta(days=300)]
    assert span_of(NOW, due) == timedelta(hours=1)
    assert span_of(NOW, []) == timedelta(minutes=1)


def entry(event: str, seconds: float, **fields: Any) -> HistoryEntry:
    state = "claimed" if "attempt" in event else "scheduled"
    return HistoryEntry(event=event, at=NOW + timedelta(seconds=seconds), state=state, **fields)


def test_a_path_has_a_station_for_each_event_and_for_what_is_to_come() -> None:
    history = [entry("scheduled", 0), entry("enqueued", 0), entry("claimed", 5), entry("attempt-failed", 6, attempt=1)]
    one = made(5, state="claimed", attempt=2, next_attempt_at=NOW + timedelta(seconds=20), history=history)
    assert [station.name for station in stations(one, NOW)] == [
        "scheduled",
        "enqueued",
        "claimed",
        "attempt 1",
        "attempt 2",
    ]
    assert "waited 5\u00a0s" in path(one, NOW)


def test_a_time_of_another_day_has_its_date() -> None:
    history = [entry("scheduled", -86_400), entry("enqueued", 0)]
    drawn = path(made(60, state="enqueued", history=history), NOW)
    assert ">03 Jan 09:00:00.0</text>" in drawn
    assert ">09:00:00.0</text>" in drawn


def test_many_attempts_are_few_stations() -> None:
    history = [entry("attempt-failed", number, attempt=number) for number in range(1, 30)]
    one = made(5, state="failed", history=[*history, entry("failed", 31, attempt=30)])
    assert [station.name for station in stations(one, NOW)] == ["attempt 1", "27 attempts", "attempt 29", "failed"]


@pytest.mark.parametrize("state", ["undecided", "scheduled", "enqueued", "claimed", "executed", "dropped", "made-up"])
def test_a_path_without_history_is_drawn_from_what_is_known(state: str) -> None:
    assert path(made(5, state=state, created_at=NOW), NOW).startswith("<svg")
    assert path(Schedule(id="x", state=state), NOW).startswith("<svg")


def test_texts_in_a_picture_are_escaped() -> None:
    assert (
        element("text", "<script>", class_='"><script>')
        == '<text class="&#34;&gt;&lt;script&gt;">&lt;script&gt;</text>'
    )


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "now"),
        (5, "in 5 s"),
        (-5, "5 s ago"),
        (3 * 60, "in 3 min"),
        (7500, "in 2 h 5 min"),
        (86_400 * 12, "in 12 d"),
    ],
)
def test_times_are_said_in_words(seconds: int, words: str) -> None:
    assert ahead(NOW + timedelta(seconds=seconds), NOW).replace("\u00a0", " ") == words


def test_durations_and_lateness_are_short() -> None:
    assert duration(timedelta(hours=28)) == "1\u00a0d 4\u00a0h"
    assert [lateness(value) for value in (None, 4, 2_345, 90_000)] == ["–", "4\u00a0ms", "2.3\u00a0s", "1.5\u00a0min"]
