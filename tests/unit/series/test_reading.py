"""GET of a series, its next times, its occurrences, and of many series, through their functions."""

import json

import pytest
from attrs import evolve

from delayer.ledger.model import EventType
from delayer.schedule.instants import DAY, MINUTE, Millis, format_instant
from delayer.series.rules.stepping import Happened
from delayer.series.use_cases.halt import Halt
from delayer.series.use_cases.step import StepSeries
from delayer.wiring.build import build
from tests.looking import empty
from tests.samples import ACTION
from tests.unit.handlers import handler_of
from tests.unit.series.calls import OWNER, Api
from tests.world import START

MINUTELY = {"every": "PT1M", "anchor": format_instant(START)}
BODY = {"repeat": MINUTELY, "action": ACTION}


def step(api: Api, schedule_id: str) -> None:
    build(StepSeries, api.world.ports("step"))(Happened(schedule_id=schedule_id, kind=EventType.CLAIMED))


def current(api: Api, series: str) -> str:
    cursor = api.world.series.cursor(OWNER, series)
    assert cursor
    return cursor.current


def fired(api: Api, series: str, times: int) -> None:
    """So many occurrences are executed, each stepped by its claim."""
    for _ in range(times):
        at = api.ok(f"GET /series/{series}")["occurrence"]["pointInTime"]
        one = current(api, series)
        api.world.run_until(_millis(at) + 1_000)
        step(api, one)


def _millis(instant: str) -> Millis:
    return START + next(number for number in range(10**7) if format_instant(START + number * 1_000) == instant) * 1_000


def test_a_series_is_shown_with_its_rule_and_its_current_occurrence() -> None:
    api = Api()
    tags = {"team": "billing"}
    made = api.ok("POST /series", {**BODY, "name": "n", "group": "g", "payload": {"a": 1}, "tags": tags})
    body = api.ok(f"GET /series/{made['seriesId']}")
    assert body == api.ok("GET /series/by-name/n")
    assert {name: body[name] for name in made} == made
    assert body["repeat"]["every"] == "PT1M"
    assert body["repeat"]["onMissed"] == "skip"
    assert body["description"] == f"every minute, from {format_instant(START)}"
    assert (body["overlap"], body["group"], body["payload"], body["tags"]) == ("allow", "g", {"a": 1}, tags)
    assert body["createdAt"] == format_instant(START)
    assert "masked" not in body


def test_secrets_are_masked() -> None:
    api = Api()
    action = {"type": "http-request", "url": "https://x/?k=pw", "headers": {"Authorization": "Bearer abc"}}
    made = api.ok("POST /series", {**BODY, "action": action, "group": "g"})
    [listed] = api.ok("GET /series", group="g")["series"]
    for body in (api.ok(f"GET /series/{made['seriesId']}"), listed):
        assert body["masked"] is True
        assert "abc" not in json.dumps(body)
        assert "pw" not in json.dumps(body["action"])


@pytest.mark.parametrize("path", ["", "/next", "/occurrences"])
def test_the_series_of_another_owner_is_not_there(path: str) -> None:
    api = Api()
    made = api.ok("POST /series", {**BODY, "name": "n"}, {"delayer-owner": "somebody"})
    for series in (made["seriesId"], "0" * 32, "x", f"somebody#{made['seriesId']}"):
        assert api(f"GET /series/{series}{path}")[0] == 404
    assert api("GET /series/by-name/n")[0] == 404


@pytest.mark.parametrize("name", ["next", "occurrences"])
def test_a_series_may_be_called_like_a_step_of_the_path(name: str) -> None:
    """Whichever of the two routes the gateway takes."""
    api = Api()
    made = api.ok("POST /series", {**BODY, "name": name})
    for route, parameters in (
        ("GET /series/by-name/{name}", {"name": name}),
        (f"GET /series/{{seriesId}}/{name}", {"seriesId": "by-name"}),
    ):
        answer = handler_of(api.world, "api-series-get")({"routeKey": route, "pathParameters": parameters}, None)
        assert json.loads(answer["body"])["seriesId"] == made["seriesId"]


def test_the_next_times() -> None:
    api = Api()
    made = api.ok("POST /series", {**BODY, "repeat": {**MINUTELY, "count": 15}})
    body = api.ok(f"GET /series/{made['seriesId']}/next")
    assert body["times"] == [format_instant(START + number * MINUTE) for number in range(1, 11)]
    assert len(api.ok(f"GET /series/{made['seriesId']}/next", count="100")["times"]) == 15
    api.world.clock.move(3 * MINUTE)
    assert api.ok(f"GET /series/{made['seriesId']}/next", count="1")["times"] == [format_instant(START + 4 * MINUTE)]
    assert api(f"GET /series/{made['seriesId']}/next", count="0")[0] == 422
    assert api(f"GET /series/{made['seriesId']}/next", number="1")[0] == 422


def test_what_is_over_has_no_next_time_and_says_when_it_is_forgotten() -> None:
    api = Api()
    made = api.ok("POST /series", BODY)
    build(Halt, api.world.ports("halt")).pause(OWNER, made["seriesId"])
    paused = api.ok(f"GET /series/{made['seriesId']}")
    assert (paused["state"], "next" in paused, "expiresAt" in paused) == ("paused", False, False)
    assert api.ok(f"GET /series/{made['seriesId']}/next", count="1")["times"] != []
    build(Halt, api.world.ports("halt")).delete(OWNER, made["seriesId"])
    over = api.ok(f"GET /series/{made['seriesId']}")
    assert (over["state"], "next" in over) == ("cancelled", False)
    last = START + MINUTE  # the time of the occurrence that the cursor goes on naming
    assert over["expiresAt"] == format_instant(last + 90 * DAY)
    assert api.ok(f"GET /series/{made['seriesId']}/next")["times"] == []


def test_an_occurrence_says_of_which_series_it_is() -> None:
    api = Api()
    made = api.ok("POST /series", BODY)
    shown = api.ok(f"GET /schedules/{made['occurrence']['scheduleId']}")
    assert shown["series"] == {"seriesId": made["seriesId"], "number": 1, "time": format_instant(START + MINUTE)}
    api.world.update_journal()
    [beginning] = api.history(made["occurrence"]["scheduleId"])
    assert beginning.original
    assert json.loads(beginning.original.schedule.definition.series) == shown["series"]


def test_occurrences_are_listed_the_latest_first_with_what_became_of_them() -> None:
    api = Api()
    made = api.ok("POST /series", BODY)
    series = made["seriesId"]
    api.world.update_journal()
    fired(api, series, 3)
    api.world.update_journal()
    listed = api.ok(f"GET /series/{series}/occurrences")["occurrences"]
    assert [one["series"]["number"] for one in listed] == [4, 3, 2, 1]
    assert [one["state"] for one in listed] == ["scheduled", "executed", "executed", "executed"]
    assert listed[3]["scheduleId"] == made["occurrence"]["scheduleId"]
    assert (listed[3]["attempt"], listed[3]["latenessMs"], listed[3]["series"]["seriesId"]) == (1, 0, series)
    first = api.ok(f"GET /series/{series}/occurrences", limit="3")
    second = api.ok(f"GET /series/{series}/occurrences", limit="3", cursor=first["nextCursor"])
    assert first["occurrences"] + second["occurrences"] == listed
    assert "nextCursor" not in second
    executed = api.ok(f"GET /series/{series}/occurrences", state="executed", limit="2")
    rest = api.ok(f"GET /series/{series}/occurrences", state="executed", limit="2", cursor=executed["nextCursor"])
    assert executed["occurrences"] + rest["occurrences"] == listed[1:]


def test_the_current_occurrence_is_listed_before_the_journal_knows_it() -> None:
    api = Api()
    made = api.ok("POST /series", BODY)
    listed = api.ok(f"GET /series/{made['seriesId']}/occurrences", limit="1")
    assert [one["scheduleId"] for one in listed["occurrences"]] == [made["occurrence"]["scheduleId"]]
    assert "nextCursor" not in listed


def test_what_the_ledger_has_forgotten_the_journal_remembers() -> None:
    api = Api()
    made = api.ok("POST /series", {**BODY, "repeat": {**MINUTELY, "count": 1}})
    fired(api, made["seriesId"], 1)
    api.world.update_journal()
    empty(api.world.ledger)
    api.world.clock.move(40 * DAY)
    [one] = api.ok(f"GET /series/{made['seriesId']}/occurrences")["occurrences"]
    assert (one["state"], one["attempt"], one["latenessMs"]) == ("executed", 1, 0)


def test_without_a_journal_the_answer_says_so() -> None:
    api = Api()
    made = api.ok("POST /series", BODY)
    api.world.settings = evolve(api.world.settings, has_journal=False)
    status, problem = api(f"GET /series/{made['seriesId']}/occurrences")
    assert (status, problem["type"]) == (409, "urn:delayer:problem:no-journal")


def test_series_are_listed_by_group_and_by_state_page_by_page() -> None:
    api = Api()
    made = [api.ok("POST /series", {**BODY, "group": group})["seriesId"] for group in ("a", "b", "a", "ab")]
    api.ok("POST /series", BODY, {"delayer-owner": "somebody"})
    everything = api.ok("GET /series")["series"]
    assert [one["group"] for one in everything] == ["a", "a", "ab", "b"]
    assert {one["seriesId"] for one in everything} == set(made)
    assert api.ok("GET /series", group="a")["series"] == everything[:2]
    build(Halt, api.world.ports("halt")).pause(OWNER, made[1])
    assert [one["seriesId"] for one in api.ok("GET /series", state="paused")["series"]] == [made[1]]
    page = api.ok("GET /series", limit="1")
    found = page["series"]
    for _ in range(3):
        page = api.ok("GET /series", limit="1", cursor=page["nextCursor"])
        found += page["series"]
    assert api.ok("GET /series", limit="1", cursor=page["nextCursor"]) == {"series": []}, "a full page may be the last"
    assert [one["seriesId"] for one in found] == [one["seriesId"] for one in everything]


def test_a_cursor_is_one_of_the_same_list() -> None:
    api = Api()
    for _ in range(3):
        api.ok("POST /series", {**BODY, "group": "a"})
    cursor = api.ok("GET /series", group="a", limit="1")["nextCursor"]
    assert len(api.ok("GET /series", group="a", cursor=cursor)["series"]) == 2
    for query in (
        {"cursor": cursor, "group": "b"},
        {"cursor": "x"},
        {"cursor": "é"},
        {"limit": "0"},
        {"state": "asleep"},
    ):
        assert api("GET /series", **query)[0] == 422
    made = api.ok("POST /series", BODY)
    assert api(f"GET /series/{made['seriesId']}/occurrences", cursor=cursor)[0] == 422


def test_a_list_holds_no_more_than_an_answer_may() -> None:
    api = Api()
    for _ in range(8):
        api.ok("POST /series", {**BODY, "payload": "x" * 250_000})
    page = api.ok("GET /series")
    assert 4 <= len(page["series"]) < 8
    assert len(page["series"]) + len(api.ok("GET /series", cursor=page["nextCursor"])["series"]) == 8
