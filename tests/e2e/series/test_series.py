"""A series over HTTP, under the roles of the template: created, fired, stepped, looked up, replaced."""

import json
import time
from typing import Any

from delayer.core.schedule.instants import MINUTE, SECOND, Millis, format_instant, parse_instant
from tests.e2e.client import Client, now

SOON: Millis = 3 * SECOND
PATIENCE = 40  # seconds that events may take, on a machine that is busy


def a_series(client: Client, path: str, due: Millis, **more: object) -> dict[str, Any]:
    """One that is due each minute, for the first time at `due`."""
    return {
        "repeat": {"every": "PT1M", "anchor": format_instant(due)},
        "action": {"type": "http-request", "url": client.receiver.url + path},
        **more,
    }


def until(client: Client, path: str, is_so: Any) -> dict[str, Any]:
    """The body of a GET, once it is as wanted."""
    for _ in range(PATIENCE * 2):
        status, _, body = client.call("GET", path)
        if status == 200 and is_so(body):
            return body
        time.sleep(0.5)
    raise AssertionError(f"not within {PATIENCE} s: {body}")


def states(body: dict[str, Any]) -> list[str]:
    """Of the occurrences, the latest first."""
    return [one["state"] for one in body["occurrences"]]


def test_a_series_fires_and_goes_on(client: Client) -> None:
    due = now() + SOON
    number = "<delayer.occurrence.number>"
    status, headers, made = client.call(
        "POST", "/series", a_series(client, "/series", due, payload=number, group="e2e")
    )
    assert status == 201, made
    assert headers["location"] == f"/series/{made['seriesId']}"
    assert made["next"] == format_instant(due)
    [request] = client.arrivals("/series")
    assert json.loads(request.body) == "1"
    assert request.headers["delayer-schedule-id"] == made["occurrence"]["scheduleId"]
    path = f"/series/{made['seriesId']}"
    second = until(client, path, lambda body: body["occurrence"]["number"] == 2)
    assert second["occurrence"]["pointInTime"] == format_instant(due + MINUTE)
    where = f"/schedules/{second['occurrence']['scheduleId']}"
    occurrence = until(
        client, where, lambda body: "series" in body
    )  # it is on its way: the journal knows it in a second
    assert occurrence["series"] == {"seriesId": made["seriesId"], "number": 2, "time": format_instant(due + MINUTE)}
    listed = until(
        client, path + "/occurrences", lambda body: [o["state"] for o in body["occurrences"]][1:] == ["executed"]
    )
    assert [one["series"]["number"] for one in listed["occurrences"]] == [2, 1]
    assert listed["occurrences"][1]["attempt"] == 1
    assert listed["occurrences"][1]["latenessMs"] >= 0
    assert [one["seriesId"] for one in client.call("GET", "/series?group=e2e&state=active")[2]["series"]] == [
        made["seriesId"]
    ]
    assert client.call("GET", path, headers={"Delayer-Owner": "somebody"})[0] == 404
    assert client.call("DELETE", path)[0] == 200


def test_a_key_a_name_and_a_put(client: Client) -> None:
    due = now() + 10 * MINUTE
    body = a_series(client, "/named-series", due, name="nightly")
    first = client.call("POST", "/series", body, {"Idempotency-Key": "series-1"})
    assert first[0] == 201, first
    assert client.call("POST", "/series", body, {"Idempotency-Key": "series-1"})[2] == first[2]
    assert client.call("POST", "/series", body)[0] == 409
    status, _, changed = client.call("PUT", "/series/by-name/nightly", {**body, "payload": "new"})
    assert (status, changed["seriesId"], changed["takesEffectAt"]["number"]) == (200, first[2]["seriesId"], 1)
    shown = client.call("GET", "/series/by-name/nightly")[2]
    assert (shown["payload"], shown["occurrence"]["time"]) == ("new", first[2]["next"])
    old = client.call("GET", f"/schedules/{first[2]['occurrence']['scheduleId']}")[2]
    assert (old["state"], old["replacedBy"]) == ("replaced", shown["occurrence"]["scheduleId"])
    assert client.call("DELETE", "/series/by-name/nightly")[0] == 200
    status, _, second = client.call("PUT", "/series/by-name/nightly", body)
    assert (status, second["seriesId"] != first[2]["seriesId"]) == (201, True)
    assert client.call("DELETE", "/series/by-name/nightly")[0] == 200


def test_a_preview_and_what_comes_next(client: Client) -> None:
    rule = {"cron": "0 9 * * MON-FRI", "timeZone": "Europe/Lisbon"}
    status, _, preview = client.call("POST", "/series/preview", {"repeat": rule, "count": 4})
    assert (status, preview["description"]) == (200, "every weekday at 09:00, Europe/Lisbon")
    assert [parse_instant(at) for at in preview["times"]] == sorted({parse_instant(at) for at in preview["times"]})
    status, _, made = client.call("POST", "/series", {**a_series(client, "/weekdays", 0), "repeat": rule})
    assert status == 201
    following = client.call("GET", f"/series/{made['seriesId']}/next?count=4")[2]
    assert following == preview
    assert client.call("DELETE", f"/series/{made['seriesId']}")[0] == 200


def test_a_stack_without_lifecycle_events_says_why_not(ticking: Client) -> None:
    status, _, problem = ticking.call("POST", "/series", a_series(ticking, "/never", now()))
    assert (status, problem["type"]) == (409, "urn:delayer:problem:no-lifecycle")
