"""POST and PUT of a series, and the preview of a rule, through their functions."""

import json
import re

import pytest
from attrs import evolve

from delayer.recurrence.zones import tz_version
from delayer.schedule.instants import DAY, MINUTE, format_instant
from tests.cfn import ROOT
from tests.looking import all_rows
from tests.samples import ACTION
from tests.unit.series.calls import Api
from tests.world import START

QUARTER = {"every": "PT15M", "anchor": format_instant(START)}
BODY = {"repeat": QUARTER, "action": ACTION}
FIRST = format_instant(START + 15 * MINUTE)


def test_a_series_is_answered_with_its_first_occurrence() -> None:
    api = Api()
    body = api.ok("POST /series", {**BODY, "name": "n"})
    occurrence = body.pop("occurrence")
    assert (body.pop("name"), body.pop("state"), body.pop("next")) == ("n", "active", FIRST)
    assert list(body) == ["seriesId"]
    assert (occurrence["number"], occurrence["time"], occurrence["pointInTime"]) == (1, FIRST, FIRST)


def test_a_first_time_far_ahead_is_waited_for() -> None:
    body = Api().ok("POST /series", {**BODY, "repeat": {"cron": "0 0 1 1 *", "from": "2050-01-01"}})
    assert (body["state"], body["next"], "occurrence" in body) == ("waiting", "2050-01-01T00:00:00.000Z", False)


def test_the_same_key_has_the_same_answer() -> None:
    api = Api()
    first = api("POST /series", BODY, {"idempotency-key": "k"})
    api.world.clock.move(DAY - MINUTE)
    assert api("POST /series", BODY, {"idempotency-key": "k"}) == first
    status, problem = api("POST /series", {**BODY, "overlap": "skip"}, {"idempotency-key": "k"})
    assert (status, problem["type"]) == (422, "urn:delayer:problem:key-reused")
    assert problem["detail"].endswith("Use a new key for a new series.")


def test_a_name_that_is_taken() -> None:
    api = Api()
    first = api.ok("PUT /series/by-name/n", BODY)
    status, problem = api("POST /series", {**BODY, "name": "n"})
    assert (status, problem["seriesId"]) == (409, first["seriesId"])
    status, problem = api("PUT /series/by-name/n", BODY, {"if-none-match": "*"})
    assert (status, problem["seriesId"]) == (412, first["seriesId"])


def test_a_put_says_from_which_occurrence_on() -> None:
    api = Api()
    first = api.ok("PUT /series/by-name/n", BODY)
    status, second = api("PUT /series/by-name/n", {**BODY, "payload": 2})
    assert (status, second["seriesId"], second["takesEffectAt"]["number"]) == (200, first["seriesId"], 1)
    assert second["replaces"] == first["occurrence"]["scheduleId"]
    assert api.ok("GET /series/by-name/n")["payload"] == 2


def test_without_events_the_answer_says_why() -> None:
    api = Api()
    api.world.settings = evolve(api.world.settings, has_events=False)
    for call in ("POST /series", "PUT /series/by-name/n"):
        status, problem = api(call, BODY)
        assert (status, problem["type"]) == (409, "urn:delayer:problem:no-lifecycle")
        assert "Lifecycle=off" in problem["detail"]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"repeat": None}, "repeat"),
        ({"repeat": {}}, "repeat"),
        ({"repeat": []}, "repeat"),
        ({"repeat": {"cron": "61 * * * *"}}, "repeat.cron"),
        ({"repeat": {"cron": "0 0 30 2 *"}}, "repeat.cron"),
        ({"repeat": {"cron": 7}}, "repeat.cron"),
        ({"repeat": {"every": "PT10S"}}, "repeat.every"),
        ({"repeat": {"every": "P1M"}}, "repeat.timeZone"),
        ({"repeat": {"every": "PT15M", "timeZone": "Europe/Lissabon"}}, "repeat.timeZone"),
        ({"repeat": {"every": "PT15M", "dst": {"gap": "jump"}}}, "repeat.dst.gap"),
        ({"repeat": {"every": "PT15M", "count": 0}}, "repeat.count"),
        ({"repeat": {"every": "PT15M", "count": 1.5}}, "repeat.count"),
        ({"repeat": {"every": "PT15M", "often": True}}, "repeat.often"),
        ({"repeat": {"every": "PT15M", "until": "2020-01-01"}}, "repeat.until"),
        ({"overlap": "sometimes"}, "overlap"),
        ({"action": {"type": "nothing"}}, "action.type"),
        ({"action": {"type": "http-request", "url": "ftp://x"}}, "action.url"),
        ({"group": "a b"}, "group"),
        ({"pointInTime": 1}, "pointInTime"),
        ({"series": {"seriesId": "x", "number": 1, "time": FIRST}}, "series"),
        ({"onLate": {"after": "1h", "do": "drop"}}, "onLate.after"),
    ],
    ids=lambda value: str(value)[:60],
)
def test_what_is_wrong_is_named_with_what_is_allowed(change: dict[str, object], field: str) -> None:
    api = Api()
    status, problem = api("POST /series", {**BODY, **change})
    assert status == 422
    [error] = problem["errors"]
    assert error["field"] == field
    assert error["problem"]
    assert error["allowed"]
    assert all_rows(api.world.series) == {}


def test_a_plain_schedule_cannot_say_that_it_is_an_occurrence() -> None:
    series = {"seriesId": "x", "number": 1, "time": FIRST}
    status, problem = Api()("POST /schedules", {"delaySeconds": 1, "action": ACTION, "series": series})
    assert (status, problem["errors"][0]["field"]) == (422, "series")


def test_a_preview_shows_the_next_times_and_stores_nothing() -> None:
    api = Api()
    rule = {"cron": "0 9 * * MON-FRI", "timeZone": "Europe/Lisbon"}
    body = api.ok("POST /series/preview", {"repeat": rule, "count": 3})
    assert body == {
        "times": ["2026-11-23T09:00:00.000Z", "2026-11-24T09:00:00.000Z", "2026-11-25T09:00:00.000Z"],
        "description": "every weekday at 09:00, Europe/Lisbon",
        "timeZoneDatabase": tz_version(),
    }
    assert len(api.ok("POST /series/preview", {"repeat": rule})["times"]) == 10
    assert len(api.ok("POST /series/preview", {"repeat": {**QUARTER, "count": 4}})["times"]) == 4
    assert all_rows(api.world.series) == {}
    assert all_rows(api.world.table) == {}


def test_the_example_of_the_page_comes_out_as_it_stands_there() -> None:
    """With half past one left out on 28 March."""
    text = (ROOT / "docs/use/series.md").read_text().split("\n## Preview\n")[1].split("\n## ")[0]
    asked, shown = re.search(r"-d '(.+?)'\n", text, re.DOTALL), re.search(r"```json\n(.+?)```", text, re.DOTALL)
    assert asked
    assert shown
    assert Api().ok("POST /series/preview", asked[1]) == json.loads(shown[1])


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"repeat": {"cron": "0 0 30 2 *"}}, "repeat.cron"),
        ({"repeat": QUARTER, "count": 101}, "count"),
        ({"repeat": QUARTER, "payload": 1}, "payload"),
        ({}, "repeat"),
    ],
    ids=["never", "too many", "unknown", "none"],
)
def test_a_preview_says_what_is_wrong(body: object, field: str) -> None:
    status, problem = Api()("POST /series/preview", body)
    assert (status, [error["field"] for error in problem["errors"]]) == (422, [field])


def test_what_is_no_json_and_what_is_too_large() -> None:
    for call in ("POST /series", "POST /series/preview", "PUT /series/by-name/n"):
        assert Api()(call, "[")[0] == 400
        assert Api()(call, " " * 262_145)[0] == 413
