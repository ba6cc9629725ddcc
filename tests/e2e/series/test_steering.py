"""A series is steered over HTTP, under the roles of the template."""

import json
from typing import Any

from delayer.core.schedule.instants import HOUR, MINUTE, SECOND, Millis, format_instant
from tests.e2e.client import Client, now
from tests.e2e.series.each_minute import EachMinute

DAY_AHEAD: Millis = 24 * HOUR  # nothing of these series is due while they are tested, but what is asked for


def a_series(client: Client, path: str, **more: object) -> str:
    """The path of a daily one that began three days ago."""
    began = now() // MINUTE * MINUTE - 3 * DAY_AHEAD - HOUR
    body = {
        "repeat": {"every": "PT24H", "anchor": format_instant(began), "from": format_instant(began)},
        "action": {"type": "http-request", "url": client.receiver.url + path},
        "payload": {"time": "<delayer.occurrence.time>"},
        **more,
    }
    status, headers, made = client.call("POST", "/series", body)
    assert status == 201, made
    return headers["location"]


def ok(client: Client, method: str, path: str, body: object = None, key: str = "") -> dict[str, Any]:
    status, _, found = client.call(method, path, body, {"Idempotency-Key": key} if key else {})
    assert status in (200, 201, 202), found
    return found


def test_it_is_changed_paused_resumed_and_cancelled(client: Client) -> None:
    path = a_series(client, "/steered", name="steered")
    first = ok(client, "GET", path)["occurrence"]
    changed = ok(client, "PATCH", path, {"payload": "another", "tags": {"team": "billing"}}, key="changed")
    assert ok(client, "PATCH", path, {"payload": "another", "tags": {"team": "billing"}}, key="changed") == changed
    assert (changed["takesEffectAt"]["number"], changed["replaces"]) == (1, first["scheduleId"])
    assert ok(client, "GET", f"/schedules/{first['scheduleId']}")["state"] == "replaced"
    current = changed["takesEffectAt"]["scheduleId"]
    paused = ok(client, "POST", f"{path}/pause")
    assert (paused["state"], paused["cancelled"], paused["claimed"], paused["claimedUpTo"]) == (
        "paused",
        [current],
        [],
        0,
    )
    assert client.call("POST", f"{path}/run-now")[0] == 409
    resumed = ok(client, "POST", f"{path}/resume")
    assert (resumed["state"], resumed["missed"], resumed["occurrence"]["number"]) == ("active", 0, 2)
    assert resumed["occurrence"]["time"] == first["time"]
    ruled = ok(client, "PATCH", path, {"repeat": {"cron": "30 9 * * *", "timeZone": "Europe/Lisbon"}})
    assert (ruled["takesEffectAt"]["number"], ruled["replaces"]) == (2, resumed["occurrence"]["scheduleId"])
    cancelled = ok(client, "DELETE", "/series/by-name/steered")
    assert (cancelled["state"], cancelled["cancelled"]) == ("cancelled", [ruled["takesEffectAt"]["scheduleId"]])
    assert ok(client, "DELETE", path) == cancelled
    assert client.receiver.of("/steered") == []


def test_one_runs_now_and_times_of_the_past_are_made_up_one_after_the_other(client: Client) -> None:
    path = a_series(client, "/filled")
    run = ok(client, "POST", f"{path}/run-now", key="now")
    assert ok(client, "POST", f"{path}/run-now", key="now") == run
    client.receiver.wait_for(1, "/filled", 20)
    asked = {"from": format_instant(now() - 4 * DAY_AHEAD), "until": format_instant(now() - SECOND)}
    begun = ok(client, "POST", f"{path}/backfill", asked, key="fill")
    assert ok(client, "POST", f"{path}/backfill", asked, key="fill") == begun
    arrived = client.receiver.wait_for(5, "/filled", 60)
    times = [json.loads(request.body)["time"] for request in arrived]
    assert times[0] == run["time"]
    assert times[1:] == sorted(set(times[1:])), "each once, the earliest first"
    assert times[1] == begun["time"]
    ok(client, "DELETE", path)
    assert len(client.receiver.of("/filled")) == 5


def test_a_series_of_one_minute_fires_each_minute_until_it_is_cancelled(
    client: Client, each_minute: EachMinute
) -> None:
    requests = client.arrivals(each_minute.path, seconds=90, count=2)
    answer = ok(client, "DELETE", each_minute.location)
    assert answer["claimedUpTo"] >= 2
    for number, request in enumerate(requests):
        due = each_minute.first + number * MINUTE
        assert json.loads(request.body) == str(number + 1)
        assert due <= request.at_ms < due + 10 * SECOND
    assert len({one.headers["delayer-schedule-id"] for one in requests}) == len(requests)
