"""The relaxed lane on the embedded AWS: what plays DynamoDB's TTL here looks every few seconds (ADR 0097)."""

from typing import Any

from delayer.core.schedule.instants import HOUR, SECOND, format_instant
from tests.e2e.client import Client, now

SOON = 2 * SECOND


def relaxed(client: Client, path: str, due: int, **more: object) -> dict[str, Any]:
    status, _, posted = client.post(
        {
            "pointInTime": format_instant(due),
            "action": {"type": "http-request", "url": client.receiver.url + path},
            "precision": "relaxed",
            **more,
        }
    )
    assert (status, posted["precision"], posted["state"]) == (201, "relaxed", "scheduled")
    return posted


def records(client: Client) -> list[dict[str, Any]]:
    table = client.stack.outputs["RelaxedTable"]
    found: list[dict[str, Any]] = client.stack.client("dynamodb").scan(TableName=table)["Items"]
    return found


def test_the_ttl_fires_it_and_all_that_is_said_of_it_is_true(client: Client) -> None:
    """Beside one that was cancelled, one whose name now belongs to the other lane, and one that was changed."""
    due = now() + SOON
    fired = relaxed(client, "/relaxed", due, payload={"a": 1}, group="relaxed")
    cancelled = relaxed(client, "/relaxed-cancelled", due)
    named = relaxed(client, "/relaxed-named", due, name="from-lane-to-lane")
    changed = relaxed(client, "/relaxed-changed", now() + HOUR)
    assert client.call("DELETE", f"/schedules/{cancelled['scheduleId']}")[0] == 200
    precise = {"delaySeconds": 3600, "action": {"type": "http-request", "url": client.receiver.url + "/relaxed-named"}}
    status, _, put = client.call("PUT", "/schedules/by-name/from-lane-to-lane", precise)
    assert (status, put["replaces"], "precision" in put) == (200, named["scheduleId"], False)
    body = {"pointInTime": format_instant(due), "payload": "new"}
    status, _, patched = client.call("PATCH", f"/schedules/{changed['scheduleId']}", body)
    assert (status, patched["precision"]) == (200, "relaxed")
    ids = {item["due"]["S"].partition("#")[2] for item in records(client)}
    assert ids == {fired["scheduleId"], patched["scheduleId"]}

    found = client.call("GET", f"/schedules/{fired['scheduleId']}")[2]
    assert (found["state"], found["precision"], found["payload"]) == ("scheduled", "relaxed", {"a": 1})
    listed = client.call("GET", "/schedules?group=relaxed")[2]["schedules"]
    assert [(one["scheduleId"], one["precision"]) for one in listed] == [(fired["scheduleId"], "relaxed")]

    for path, schedule_id in (("/relaxed", fired["scheduleId"]), ("/relaxed-changed", patched["scheduleId"])):
        [request] = client.arrivals(path, seconds=30)
        assert (request.at_ms >= due, request.headers["delayer-schedule-id"]) == (True, schedule_id)
    history = client.history(fired["scheduleId"], "executed")
    assert [one["event"] for one in history] == ["scheduled", "enqueued", "claimed", "executed"]
    assert [one["event"] for one in client.history(cancelled["scheduleId"], "cancelled")] == ["scheduled", "cancelled"]
    shown = client.call("GET", f"/schedules/{fired['scheduleId']}")[2]
    assert (shown["state"], shown["precision"]) == ("executed", "relaxed")
    assert shown["latenessMs"] >= 0
    assert client.call("DELETE", f"/schedules/{fired['scheduleId']}")[0] == 409
    assert client.call("DELETE", f"/schedules/{put['scheduleId']}")[0] == 200
    for path in ("/relaxed", "/relaxed-cancelled", "/relaxed-named"):
        assert len(client.arrivals(path, seconds=0, count=0)) == (path == "/relaxed")


def test_what_was_removed_by_hand_is_a_dead_letter_and_a_redrive_fires_it(client: Client) -> None:
    posted = relaxed(client, "/relaxed-by-hand", now() + HOUR)
    [item] = [one for one in records(client) if one["due"]["S"].endswith(posted["scheduleId"])]
    key = {name: item[name] for name in ("bucket", "due")}
    client.stack.client("dynamodb").delete_item(TableName=client.stack.outputs["RelaxedTable"], Key=key)
    row = client.ledger_state(posted["scheduleId"], "dead-lettered")
    assert "by hand" in row["detail"]["S"]
    [letter] = client.dead_letters(f"dead-lettered/{posted['scheduleId']}/")
    client.operate("redrive", key=letter["key"])
    assert client.call("GET", f"/schedules/{posted['scheduleId']}")[2]["state"] == "scheduled"
    assert any(one["due"]["S"].endswith(posted["scheduleId"]) for one in records(client))
    assert client.call("DELETE", f"/schedules/{posted['scheduleId']}")[0] == 200
