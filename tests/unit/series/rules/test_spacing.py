"""A series with a window, or in the relaxed lane: its times must be far enough apart (ADR 0096, ADR 0097)."""

import json
from typing import Any

import pytest

from delayer.actions.rules.foreign import built_in
from delayer.http.problem import FieldError, Invalid
from delayer.schedule.instants import MINUTE
from delayer.series.rules.admission import admit_series, admit_series_change
from delayer.series.rules.request import SeriesRequest
from delayer.series.rules.series import SeriesDefinition
from tests.samples import NOW, OWNER, a_definition

ACTION = {"type": "http-request", "url": "https://example.org"}
LISBON = "Europe/Lisbon"
DAILY = {"cron": "30 1 * * *", "timeZone": LISBON}  # the clocks are put forward at 01:00
HOURLY = {"every": "PT1H"}
RELAXED = "precision"
WINDOW = "window.seconds"


def admitted(repeat: dict[str, Any], **more: Any) -> SeriesRequest:
    return admit_series(json.dumps({"repeat": repeat, "action": ACTION, **more}).encode(), NOW, built_in())


def refused(repeat: dict[str, Any], **more: Any) -> list[FieldError]:
    with pytest.raises(Invalid) as caught:
        admitted(repeat, **more)
    return list(caught.value.errors)


@pytest.mark.parametrize(
    "repeat",
    [
        DAILY,
        {"every": "P1D", "timeZone": LISBON},
        {"every": "PT23H"},
        {"cron": "0 9 * * MON-FRI", "timeZone": LISBON},
        {"every": "P1Y", "timeZone": "UTC"},
        {"every": "PT1M", "count": 1},
    ],
    ids=json.dumps,
)
def test_what_runs_daily_or_more_rarely_may_be_relaxed(repeat: dict[str, Any]) -> None:
    assert admitted(repeat, precision="relaxed").is_relaxed
    assert not admitted(repeat, precision="precise").is_relaxed
    assert not admitted(repeat).is_relaxed


@pytest.mark.parametrize(
    ("repeat", "apart"),
    [
        (HOURLY, "3,600"),
        ({"every": "PT22H59M"}, "82,740"),
        ({"cron": "0 9,17 * * *"}, "28,800"),
        ({"cron": "0 0,1 1 1 *"}, "3,600"),
        ({**DAILY, "dst": {"overlap": "both"}}, "3,600"),
    ],
    ids=str,
)
def test_what_runs_more_often_may_not(repeat: dict[str, Any], apart: str) -> None:
    [error] = refused(repeat, precision="relaxed")
    assert error.field == RELAXED
    assert f"two times are {apart} seconds apart" in error.problem
    assert error.allowed == "precise, or a rule whose times are at least 23 hours apart"
    assert not admitted(repeat).is_relaxed


@pytest.mark.parametrize(
    ("repeat", "longest"),
    [
        (HOURLY, 3_599),
        ({"every": "PT1M"}, 59),
        ({"cron": "0 9 * * *", "timeZone": LISBON}, 23 * 3_600 - 1),
        ({"cron": "0 9,17 * * *"}, 8 * 3_600 - 1),
    ],
    ids=str,
)
def test_a_window_is_shorter_than_the_interval(repeat: dict[str, Any], longest: int) -> None:
    kept = admitted(repeat, window={"seconds": longest}).definition.window
    assert json.loads(kept) == {"seconds": longest}
    [error] = refused(repeat, window={"seconds": longest + 1})
    assert (error.field, error.allowed) == (WINDOW, f"1 to {longest:,}")


def test_a_series_with_one_time_has_no_interval() -> None:
    assert admitted({"every": "PT1M", "count": 1}, window={"seconds": 86_400}).definition.window


def test_both_are_named_together() -> None:
    errors = refused(HOURLY, precision="relaxed", window={"seconds": 7_200})
    assert [error.field for error in errors] == [WINDOW, RELAXED]


@pytest.mark.parametrize(
    ("field", "value"), [("window", {"seconds": 0}), ("window", 60), ("window", {"from": "x"}), ("precision", "fast")]
)
def test_what_is_no_window_and_no_lane(field: str, value: object) -> None:
    [error, *_] = refused(HOURLY, **{field: value})
    assert error.field.startswith(field)


# ------------------------------------------------------------ a change


def stored(repeat: dict[str, Any] = HOURLY, *, is_relaxed: bool = False, window: str = "") -> SeriesDefinition:
    definition = a_definition(window=window)
    return SeriesDefinition(
        owner=OWNER,
        repeat=json.dumps({**repeat, "anchor": "2026-01-01T00:00:00Z"} if "every" in repeat else repeat),
        definition=definition,
        is_relaxed=is_relaxed,
    )


def changed(series: SeriesDefinition, **change: Any) -> SeriesDefinition:
    return admit_series_change(json.dumps(change).encode(), NOW + MINUTE, built_in()).applied_to(series)


def test_a_change_may_give_it_a_window_and_take_it_away() -> None:
    series = changed(stored(), window={"seconds": 60})
    assert json.loads(series.definition.window) == {"seconds": 60}
    assert changed(series, tags={"a": "b"}).definition.window == series.definition.window
    assert changed(series, window=None).definition.window == ""


def test_a_change_may_move_it_to_another_lane() -> None:
    series = changed(stored(DAILY), precision="relaxed")
    assert series.is_relaxed
    assert changed(series, tags={}).is_relaxed
    assert not changed(series, precision="precise").is_relaxed


@pytest.mark.parametrize(
    ("series", "change", "field"),
    [
        (stored(), {"precision": "relaxed"}, RELAXED),
        (stored(DAILY, is_relaxed=True), {"repeat": {"every": "PT1H"}}, RELAXED),
        (stored(), {"window": {"seconds": 3_600}}, WINDOW),
        (stored(window='{"seconds":600}'), {"repeat": {"every": "PT5M"}}, WINDOW),
    ],
    ids=["lane", "rule of the relaxed", "window", "rule under a window"],
)
def test_what_is_new_must_fit_what_stays(series: SeriesDefinition, change: dict[str, Any], field: str) -> None:
    with pytest.raises(Invalid) as caught:
        changed(series, **change)
    assert [error.field for error in caught.value.errors] == [field]


def test_a_rule_that_cannot_be_read_any_more_is_no_matter_of_the_change() -> None:
    gone = SeriesDefinition(
        owner=OWNER, repeat='{"cron":"0 9 * * *","timeZone":"Gone/Zone"}', definition=a_definition()
    )
    assert changed(gone, precision="relaxed").is_relaxed
