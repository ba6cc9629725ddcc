"""The relaxed lane on the embedded AWS: what plays DynamoDB's TTL here looks every few seconds (ADR 0097)."""

from typing import Any

from delayer.schedule.instants import HOUR, SECOND, format_instant
from delayer_client import Schedule
from tests.e2e.client import StackClient, now

SOON = 2 * SECOND


def relaxed(client: StackClient, path: str, due: int, **more: Any) -> Schedule:
    posted = client.schedule(path, due, precision="relaxed", **more)
    assert (posted.precision, posted.state) == ("relaxed", "scheduled")
    return posted


def records(client: StackClient) -> list[dict[str, Any]]:
    table = client.stack.outputs["RelaxedTable"]
    found: list[dict[str, Any]] = client.stack.client("dynamodb").scan(TableName=table)["Items"]
    return found


def test_the_ttl_fires_it_and_all_that_is_said_of_it_is_true(on_aws: StackClient) -> None:
    """Beside one that was cancelled, one whose name now belongs to the other lane, and one that was changed.

    It takes seconds: what plays the TTL looks every few of them.
    """
    due, delayer = now() + SOON, on_aws.delayer
    fired = relaxed(on_aws, "/relaxed", due)
    cancelled = relaxed(on_aws, "/relaxed-cancelled", due)
    named = relaxed(on_aws, "/relaxed-named", due, name="from-lane-to-lane")
    changed = relaxed(on_aws, "/relaxed-changed", now() + HOUR, payload={"a": 1}, group="relaxed")
    found = delayer.get(changed.id)
    assert (found.state, found.precision, found.payload) == ("scheduled", "relaxed", {"a": 1})
    assert [(one.id, one.precision) for one in delayer.list(group="relaxed")] == [(changed.id, "relaxed")]
    assert delayer.cancel(cancelled.id)
    put = delayer.replace("from-lane-to-lane", on_aws.target("/relaxed-named"), delay=3600)
    assert (put.replaces, put.precision) == (named.id, None)
    patched = delayer.change(changed.id, at=format_instant(due), payload="new")
    assert patched.precision == "relaxed"
    ids = {item["due"]["S"].partition("#")[2] for item in records(on_aws)}
    assert not ids & {cancelled.id, named.id, changed.id}

    for path, schedule_id in (("/relaxed", fired.id), ("/relaxed-changed", patched.id)):
        [request] = on_aws.arrivals(path)
        assert (request.at_ms >= due, request.headers["delayer-schedule-id"]) == (True, schedule_id)
    history = on_aws.history(fired.id, "executed")
    assert [one.event for one in history] == ["scheduled", "enqueued", "claimed", "executed"]
    assert [one.event for one in on_aws.history(cancelled.id, "cancelled")] == ["scheduled", "cancelled"]
    shown = delayer.get(fired.id)
    assert (shown.state, shown.precision) == ("executed", "relaxed")
    assert shown.lateness_ms is not None
    assert shown.lateness_ms >= 0
    assert delayer.cancel(fired.id).reason == "ended"
    assert delayer.cancel(put.id)
    for path in ("/relaxed", "/relaxed-cancelled", "/relaxed-named"):
        assert len(on_aws.arrivals(path, seconds=0, count=0)) == (path == "/relaxed")


def test_what_was_removed_by_hand_is_a_dead_letter_and_a_redrive_fires_it(on_aws: StackClient) -> None:
    """It takes a second or two."""
    posted = relaxed(on_aws, "/relaxed-by-hand", now() + HOUR)
    [item] = [one for one in records(on_aws) if one["due"]["S"].endswith(posted.id)]
    key = {name: item[name] for name in ("bucket", "due")}
    on_aws.stack.client("dynamodb").delete_item(TableName=on_aws.stack.outputs["RelaxedTable"], Key=key)
    row = on_aws.ledger_state(posted.id, "dead-lettered")
    assert "by hand" in row["detail"]["S"]
    [letter] = on_aws.dead_letters(f"dead-lettered/{posted.id}/")
    on_aws.operate("redrive", key=letter["key"])
    assert on_aws.delayer.get(posted.id).state == "scheduled"
    assert any(one["due"]["S"].endswith(posted.id) for one in records(on_aws))
    assert on_aws.delayer.cancel(posted.id)
