"""A series over HTTP, under the roles of the template: created, fired, stepped, looked up, replaced."""

import json

import pytest

from delayer.schedule.instants import MINUTE, SECOND, Millis, format_instant
from delayer_client import Conflict, NotFound, Repeat, Retrying
from tests.e2e.client import PATIENCE, Client, millis, now, until

SOON: Millis = 3 * SECOND


def each_minute(due: Millis) -> Repeat:
    """For the first time at `due`."""
    return Repeat(every="PT1M", anchor=format_instant(due))


def test_a_series_fires_and_goes_on(client: Client) -> None:
    """It takes some seconds: its first time is in three."""
    due = now() + SOON
    body = {
        "repeat": each_minute(due).as_json(),
        "action": client.target("/each-minute").as_json(),
        "payload": "<delayer.occurrence.number>",
        "group": "e2e",
    }
    status, headers, made = client.call("POST", "/series", body)
    assert status == 201, made
    made_id = made["seriesId"]
    assert headers["location"] == f"/series/{made_id}"
    assert made["next"] == format_instant(due)
    [request] = client.arrivals("/each-minute")
    assert json.loads(request.body) == "1"
    assert request.headers["delayer-schedule-id"] == made["occurrence"]["scheduleId"]
    patient = client.of(None, Retrying())
    second = until(
        lambda: patient.series.get(made_id).occurrence, lambda one: one is not None and one.number == 2, PATIENCE
    )
    assert second
    assert millis(second.point_in_time) == due + MINUTE
    # It is on its way: the journal knows it in a second.
    series = until(lambda: patient.get(second.schedule_id).series, seconds=PATIENCE)
    assert series
    assert (series.series_id, series.number, millis(series.time)) == (made_id, 2, due + MINUTE)
    listed = until(
        lambda: list(patient.series.occurrences(made_id)),
        lambda found: [one.state for one in found][1:] == ["executed"],
        PATIENCE,
    )
    assert [one.series.number for one in listed if one.series] == [2, 1]
    assert listed[1].attempt == 1
    assert listed[1].lateness_ms is not None
    assert listed[1].lateness_ms >= 0
    assert [one.id for one in client.delayer.series.list(group="e2e", state="active")] == [made_id]
    with pytest.raises(NotFound):
        client.delayer_of("somebody").series.get(made_id)
    assert client.delayer.series.cancel(made_id).state == "cancelled"


def test_a_key_a_name_and_a_put(client: Client) -> None:
    """It takes a second or two: there are a dozen calls."""
    calls, target, rule = client.delayer.series, client.target("/named-series"), each_minute(now() + 10 * MINUTE)
    first = calls.create(rule, target, name="nightly", idempotency_key="series-1")
    assert calls.create(rule, target, name="nightly", idempotency_key="series-1") == first
    with pytest.raises(Conflict) as refused:
        calls.create(rule, target, name="nightly")
    assert refused.value.status == 409
    changed = calls.replace("nightly", rule, target, payload="new").changed
    assert changed
    assert (changed.series_id, changed.takes_effect_at.number) == (first.id, 1)
    shown = calls.get_named("nightly")
    assert shown.occurrence
    assert (shown.payload, shown.occurrence.time) == ("new", first.next)
    assert first.occurrence
    old = client.delayer.get(first.occurrence.schedule_id)
    assert (old.state, old.replaced_by) == ("replaced", shown.occurrence.schedule_id)
    assert calls.cancel_named("nightly").state == "cancelled"
    second = calls.replace("nightly", rule, target).created
    assert second
    assert second.id != first.id
    assert calls.cancel_named("nightly").state == "cancelled"


def test_a_preview_and_what_comes_next(client: Client) -> None:
    calls, rule = client.delayer.series, Repeat(cron="0 9 * * MON-FRI", time_zone="Europe/Lisbon")
    preview = calls.preview(rule, 4)
    assert preview.description == "every weekday at 09:00, Europe/Lisbon"
    assert preview.times == sorted(set(preview.times))
    made = calls.create(rule, client.target("/weekdays"))
    assert calls.next(made.id, 4) == preview
    assert calls.cancel(made.id).state == "cancelled"
