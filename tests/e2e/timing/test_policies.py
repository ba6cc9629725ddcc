"""A time that is decided afterwards, and a window: over HTTP, under the roles of the template, on the embedded AWS."""

import time
from typing import Any

from delayer.core.schedule.instants import HOUR, SECOND, format_instant, parse_instant
from tests.e2e.client import Client, now


def posted(client: Client, path: str, **more: Any) -> str:
    action = {"type": "http-request", "url": client.receiver.url + path}
    status, _, body = client.post({"action": action, **more})
    assert status == 201, body
    schedule_id: str = body["scheduleId"]
    return schedule_id


def decided(client: Client, schedule_id: str, seconds: float = 15) -> dict[str, Any]:
    """What a lookup by the accepted id says, once it has its time or was refused one."""
    deadline = time.monotonic() + seconds
    while True:
        status, _, found = client.call("GET", f"/schedules/{schedule_id}")
        assert (status, found["scheduleId"]) == (200, schedule_id), "it is never lost from sight"
        if found["state"] != "undecided":
            return found
        assert time.monotonic() < deadline, found
        time.sleep(0.05)


def test_a_policy_decides_and_it_fires_once_under_its_new_id(client: Client) -> None:
    accepted = posted(client, "/spread", when={"policy": "spread", "seconds": 1}, payload={"a": 1})
    found = decided(client, accepted)
    [request] = client.arrivals("/spread")
    assert request.headers["delayer-schedule-id"] == found["decidedAs"] != accepted
    assert now() >= parse_instant(found["pointInTime"])
    client.ledger_state(found["decidedAs"], "executed")
    history = client.history(accepted, "executed", seconds=30, beside=("decided", "claimed"))
    assert history[0]["event"] == "scheduled"


def test_the_accepted_id_is_changed_and_cancelled(client: Client) -> None:
    day = {"policy": "spread", "seconds": 86_400}
    changed, cancelled = (posted(client, f"/{name}", when=day) for name in ("moved-policy", "never"))
    for one in (changed, cancelled):
        assert decided(client, one)["state"] == "scheduled"
    status, _, body = client.call("PATCH", f"/schedules/{changed}", {"pointInTime": format_instant(now())})
    assert status == 200, body
    [request] = client.arrivals("/moved-policy")
    assert request.headers["delayer-schedule-id"] == body["scheduleId"]
    for _ in range(2):
        status, _, answer = client.call("DELETE", f"/schedules/{cancelled}")
        assert (status, answer["state"], answer["scheduleId"]) == (200, "cancelled", cancelled)


def test_a_refusal_has_its_reason(client: Client) -> None:
    opens = {"policy": "next-business-hour", "hours": {"MON": []}}
    found = decided(client, posted(client, "/never-open", when=opens))
    assert (found["state"], found["detail"]) == ("failed", "there is no business hour in the next 400 days")


def test_what_is_wrong_with_a_policy_is_said_at_once(client: Client) -> None:
    action = {"type": "http-request", "url": client.receiver.url}
    status, _, body = client.post({"action": action, "when": {"policy": "spread", "seconds": 0}})
    assert (status, body["errors"][0]["field"]) == (422, "when.seconds")
    nowhere = {"policy": "next-business-hour", "timeZone": "Europe/Atlantis"}
    status, _, body = client.post({"action": action, "when": nowhere})
    assert (status, body["errors"][0]["field"]) == (422, "when.timeZone")
    status, _, body = client.post({"action": action, "when": {"policy": "tomorrow"}})
    assert (status, body["errors"][0]["field"]) == (422, "when.policy")


def test_a_window_is_behind_its_time(client: Client) -> None:
    at = now() + HOUR
    schedule_id = posted(client, "/window", pointInTime=format_instant(at), window={"seconds": 900})
    found = client.call("GET", f"/schedules/{schedule_id}")[2]
    assert found["window"] == {"seconds": 900, "from": format_instant(at)}
    assert at <= parse_instant(found["pointInTime"]) < at + 900 * SECOND
