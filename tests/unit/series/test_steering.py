"""The calls that steer a series answer as openapi.yaml says, each with what its client has to know."""

import json
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from delayer.ledger.model import State
from delayer.schedule.instants import MINUTE, SECOND, format_instant
from delayer.series.rules.series import MAX_BESIDE, Cursor
from tests.looking import put_name, put_row
from tests.samples import ACTION, OWNER, a_claim
from tests.unit.handlers import handler_of, world_of_handlers
from tests.unit.series.calls import documented
from tests.unit.series.steering.stage import ID, Stage
from tests.world import START

ROUTES = {
    "PATCH /series/{seriesId}": "api-series-patch",
    "POST /series/{seriesId}/pause": "api-series-pause",
    "POST /series/{seriesId}/resume": "api-series-resume",
    "DELETE /series/{seriesId}": "api-series-delete",
    "DELETE /series/by-name/{name}": "api-series-delete",
    "POST /series/{seriesId}/run-now": "api-series-run",
    "POST /series/{seriesId}/backfill": "api-series-run",
}
PAUSE, RESUME, PATCH = "POST /series/{seriesId}/pause", "POST /series/{seriesId}/resume", "PATCH /series/{seriesId}"
DELETE, RUN_NOW = "DELETE /series/{seriesId}", "POST /series/{seriesId}/run-now"
BACKFILL = "POST /series/{seriesId}/backfill"
HALF_AN_HOUR = {"from": format_instant(START - 30 * MINUTE), "until": format_instant(START)}


class Calls:
    """The functions, on the world of one series."""

    def __init__(self) -> None:
        self.stage = Stage(world=world_of_handlers())
        self.handlers = {name: handler_of(self.stage.world, name) for name in set(ROUTES.values())}

    def __call__(self, route: str, body: Any = None, key: str = "", **parameters: str) -> tuple[int, dict[str, Any]]:
        """The status and the body, which are those of the contract."""
        return self.raw(route, None if body is None else json.dumps(body), key, **parameters)

    def raw(self, route: str, body: str | None, key: str = "", **parameters: str) -> tuple[int, dict[str, Any]]:
        """As it is sent."""
        event = {
            "routeKey": route,
            "headers": {"delayer-owner": OWNER, **({"idempotency-key": key} if key else {})},
            "pathParameters": parameters or {"seriesId": ID},
            "body": body,
        }
        made = self.handlers[ROUTES[route]](event, None)
        found = json.loads(made["body"])
        assert [error.message for error in documented(route, made["statusCode"]).iter_errors(found)] == []
        return made["statusCode"], found

    @property
    def cursor(self) -> Cursor:
        return self.stage.cursor


@pytest.fixture
def calls() -> Calls:
    return Calls()


def test_a_pause_names_what_was_claimed_and_offers_its_stop(calls: Calls) -> None:
    calls.stage.world.run_until(START + MINUTE + SECOND)
    put_row(calls.stage.world.ledger, a_claim(schedule_id=calls.stage.first))
    status, body = calls(PAUSE)
    assert (status, body["state"], body["claimedUpTo"], body["cancelled"]) == (200, "paused", 1, [])
    [claimed] = body["claimed"]
    assert (claimed["scheduleId"], claimed["state"]) == (calls.stage.first, "claimed")
    assert claimed["stop"] == f"/schedules/{calls.stage.first}/stop"


def test_what_has_ended_is_named_without_a_stop(calls: Calls) -> None:
    calls.stage.world.run_until(START + MINUTE + 10 * SECOND)
    _, body = calls(DELETE)
    [ended] = body["claimed"]
    assert ended["state"] == "executed"
    assert "stop" not in ended


def test_a_delete_by_name(calls: Calls) -> None:
    assert calls("DELETE /series/by-name/{name}", name="nightly")[0] == 404
    put_name(calls.stage.world.series, calls.stage.cursor, "nightly")
    status, body = calls("DELETE /series/by-name/{name}", name="nightly")
    assert (status, body["state"], body["cancelled"]) == (200, "cancelled", [calls.stage.first])
    assert calls(DELETE) == (status, body), "again"


def test_a_resume_shows_the_occurrence_and_what_was_missed(calls: Calls) -> None:
    calls(PAUSE)
    calls.stage.world.clock.sleep_until(START + 3 * MINUTE + SECOND)
    status, body = calls(RESUME)
    assert (status, body["state"], body["missed"]) == (200, "active", 3)
    assert (body["occurrence"]["number"], body["occurrence"]["time"]) == (2, format_instant(START + 4 * MINUTE))


def test_a_patch_shows_at_which_occurrence_it_takes_effect(calls: Calls) -> None:
    status, body = calls(PATCH, {"payload": "new", "tags": {"team": "billing"}})
    assert (status, body["takesEffectAt"]["number"], body["replaces"]) == (200, 1, calls.stage.first)
    assert body["takesEffectAt"]["scheduleId"] == calls.cursor.current
    calls(PAUSE)
    status, body = calls(PATCH, {"overlap": "skip"})
    assert (status, body["takesEffectAt"]) == (200, {"number": 2})


@pytest.mark.parametrize(
    ("repeat", "expected"),
    [
        ({"every": "PT5M", "anchor": "2026-11-21T09:00:00Z"}, ("PT5M", "skip", None)),
        ({"until": "2027-01-01T00:00:00Z"}, ("PT1M", "skip", "2027-01-01T00:00:00.000Z")),
        ({"onMissed": "all"}, ("PT1M", "all", None)),
    ],
    ids=["as a whole", "another end", "what is missed"],
)
def test_a_rule_is_replaced_or_gets_other_fields(calls: Calls, repeat: Any, expected: Any) -> None:
    assert calls(PATCH, {"repeat": repeat})[0] == 200
    definition = calls.stage.definition
    stored = json.loads(definition.repeat)
    assert (stored["every"], stored["onMissed"], stored.get("until")) == expected
    assert definition.on_missed == stored["onMissed"]


def test_what_is_not_given_keeps_its_bytes_and_an_empty_one_is_removed(calls: Calls) -> None:
    before = calls.stage.definition.definition
    calls(PATCH, {"onLate": {"after": "PT1H", "do": "drop"}, "retry": {"maxAttempts": 3}, "tags": {"a": "b"}})
    changed = calls.stage.definition.definition
    assert (changed.action, changed.payload) == (before.action, before.payload)
    assert (changed.on_late, changed.retry, changed.tags) == (
        '{"after":"PT1H","do":"drop"}',
        '{"maxAttempts":3}',
        '{"a":"b"}',
    )
    calls(PATCH, {"onLate": None, "retry": {}, "tags": {}})
    assert calls.stage.definition.definition == before


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, ""),
        ({"name": "another"}, "name"),
        ({"overlap": "never"}, "overlap"),
        ({"repeat": {"cron": "0 9 30 2 *"}}, "repeat.cron"),
        ({"repeat": {"until": "2020-01-01"}}, "repeat.until"),
        ({"repeat": {"timeZone": "Europe/Nowhere"}}, "repeat.timeZone"),
        ({"repeat": [1]}, "repeat"),
        ({"action": {"type": "carrier-pigeon"}}, "action.type"),
        ({"action": {**ACTION, "headers": {"Authorization": "***"}}}, "action.headers.Authorization"),
        ({"onLate": {"after": "an hour", "do": "drop"}}, "onLate.after"),
    ],
    ids=lambda value: json.dumps(value) if isinstance(value, dict) else "",
)
def test_what_is_wrong_with_a_change_is_named(calls: Calls, body: Any, field: str) -> None:
    before = calls.stage.definition
    status, found = calls(PATCH, body)
    assert (status, found["errors"][0]["field"]) == (422, field)
    assert calls.stage.definition == before


def test_a_payload_must_suit_the_action_that_stays_and_an_action_the_payload(calls: Calls) -> None:
    bus = "arn:aws:events:eu-west-1:123456789012:event-bus/delayer-target-orders"
    event = {"type": "event-put", "eventBusArn": bus, "source": "orders", "detailType": "order"}
    status, found = calls(PATCH, {"action": event})
    assert (status, found["errors"][0]["field"]) == (422, "payload"), "the payload that stays is no object"
    assert calls(PATCH, {"action": event, "payload": {"order": 17}})[0] == 200
    status, found = calls(PATCH, {"payload": "x"})
    assert (status, found["errors"][0]["field"]) == (422, "payload")


def test_with_what_stays_it_may_be_too_large(calls: Calls) -> None:
    assert calls(PATCH, {"payload": "x" * 200_000})[0] == 200
    tags = {f"{at}{'k' * 100}": "v" * 256 for at in range(50)}
    long = {**ACTION, "headers": {f"X-{at}": "v" * 4_000 for at in range(12)}}
    status, _ = calls(PATCH, {"tags": tags, "action": long})
    assert status == 413


def test_run_now_and_its_key(calls: Calls) -> None:
    status, body = calls(RUN_NOW, key="k")
    assert (status, body["time"], calls.cursor.beside) == (201, format_instant(START), (body["scheduleId"],))
    assert calls(RUN_NOW, key="k") == (201, body)
    status, problem = calls(BACKFILL, HALF_AN_HOUR, key="k")
    assert (status, problem["type"]) == (422, "urn:delayer:problem:key-reused")
    assert problem["detail"].endswith("Use a new key for a new occurrence.")


def test_a_lookup_shows_how_far_the_backfill_has_come(calls: Calls) -> None:
    _, begun = calls(BACKFILL, HALF_AN_HOUR)
    read = handler_of(calls.stage.world, "api-series-get")
    event = {"headers": {"delayer-owner": OWNER}, "pathParameters": {"seriesId": ID}}
    made = read({**event, "routeKey": "GET /series/{seriesId}"}, None)
    shown = json.loads(made["body"])["backfill"]
    assert shown == {**HALF_AN_HOUR, "scheduleId": begun["scheduleId"], "time": HALF_AN_HOUR["from"]}
    documented("GET /series/{seriesId}", 200).validate(json.loads(made["body"]))


def test_a_backfill_and_its_key(calls: Calls) -> None:
    status, body = calls(BACKFILL, HALF_AN_HOUR, key="k")
    assert (status, body["time"], body["from"], body["until"]) == (202, HALF_AN_HOUR["from"], *HALF_AN_HOUR.values())
    assert calls(BACKFILL, HALF_AN_HOUR, key="k") == (202, body)
    assert calls(BACKFILL, {**HALF_AN_HOUR, "from": format_instant(START - MINUTE)}, key="k")[0] == 422
    status, problem = calls(BACKFILL, HALF_AN_HOUR)
    assert (status, problem["type"]) == (409, "urn:delayer:problem:not-possible")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"until": HALF_AN_HOUR["until"]}, "from"),
        ({**HALF_AN_HOUR, "from": "yesterday"}, "from"),
        ({**HALF_AN_HOUR, "until": format_instant(START + MINUTE)}, "until"),
        ({**HALF_AN_HOUR, "until": HALF_AN_HOUR["from"]}, "until"),
        ({**HALF_AN_HOUR, "from": "2026-11-19T09:00:00Z", "until": "2026-11-19T10:00:00Z"}, "from"),
        ({**HALF_AN_HOUR, "count": 3}, "count"),
        ({**HALF_AN_HOUR, "payload": 3}, "payload"),
    ],
    ids=["missing", "no instant", "to come", "empty", "no time", "unknown", "a payload"],
)
def test_what_is_wrong_with_a_range_is_named(calls: Calls, body: Any, field: str) -> None:
    status, found = calls(BACKFILL, body)
    assert (status, found["errors"][0]["field"]) == (422, field)
    assert calls.cursor.backfill is None


@pytest.mark.parametrize(
    ("route", "body"),
    [(PAUSE, None), (RESUME, None), (DELETE, None), (RUN_NOW, None), (PATCH, {"payload": 1}), (BACKFILL, HALF_AN_HOUR)],
)
def test_one_that_is_not_there_or_of_somebody_else(calls: Calls, route: str, body: Any) -> None:
    assert calls(route, body, seriesId="f" * 32)[0] == 404
    assert calls(route, body, seriesId=f"{OWNER}#{ID}")[0] == 404


@pytest.mark.parametrize(
    ("route", "body"),
    [(PAUSE, None), (RESUME, None), (RUN_NOW, None), (PATCH, {"payload": 1}), (BACKFILL, HALF_AN_HOUR)],
)
def test_a_cancelled_one_takes_nothing(calls: Calls, route: str, body: Any) -> None:
    calls(DELETE)
    status, problem = calls(route, body)
    assert (status, problem["type"], problem["detail"]) == (
        409,
        "urn:delayer:problem:not-possible",
        "Nothing was changed: the series is cancelled.",
    )


def test_ten_beside_the_current_one_are_enough(calls: Calls) -> None:
    for _ in range(MAX_BESIDE):
        assert calls(RUN_NOW)[0] == 201
    status, problem = calls(RUN_NOW)
    assert (status, problem["type"]) == (409, "urn:delayer:problem:not-possible")


@pytest.mark.parametrize("route", [PAUSE, RESUME, RUN_NOW])
def test_a_call_without_a_body_refuses_one(calls: Calls, route: str) -> None:
    """What it would ignore is no payload for the occurrence, as its sender may think."""
    before = calls.cursor
    for body, fields in (
        ({"payload": 1, "x": 2}, ["payload", "x"]),
        ([], [""]),
        ("text", [""]),
        ({"y" * 300: 1}, ["y" * 80]),
    ):
        status, problem = calls(route, body)
        assert (status, problem["type"]) == (422, "urn:delayer:problem:invalid-fields")
        assert [(one["field"], one["allowed"]) for one in problem["errors"]] == [
            (field, "no body, or an empty object") for field in fields
        ]
    for text in ("[", "{", "\ufeff{}", " " * 300_000 + "{}"):
        assert calls.raw(route, text)[0] == 422
    assert calls.cursor == before
    for text in ("", " ", "{}", " {\n} "):
        assert calls.raw(route, text)[0] < 300


def test_no_body_and_an_empty_object_are_the_same_call(calls: Calls) -> None:
    answer = calls(RUN_NOW, key="k")
    assert (answer[0], calls(RUN_NOW, {}, key="k")) == (201, answer)
    assert calls(RUN_NOW, {"payload": 1}, key="k")[0] == 422
    assert len(calls.cursor.beside) == 1


STEERING = [(PAUSE, None, "paused"), (DELETE, None, "cancelled"), (PATCH, {"payload": 1}, "active")]


@pytest.mark.parametrize(("route", "body", "state"), STEERING)
def test_an_attempt_that_may_still_run_is_no_200(calls: Calls, route: str, body: Any, state: str) -> None:
    """It was redriven a moment ago, while the function that had tried it may still be at work."""
    waits = a_claim(schedule_id=calls.stage.first, state=State.SCHEDULED, claimed_at=0, lease_until=START + 40 * SECOND)
    put_row(calls.stage.world.ledger, waits)
    status, problem = calls(route, body)
    assert (status, problem["type"], problem["state"]) == (409, "urn:delayer:problem:may-be-running", state)
    assert problem["schedules"] == [calls.stage.first]
    assert calls.cursor.state == state


texts = st.text(st.characters(codec=None), max_size=6)
values = texts | st.none() | st.integers() | st.sampled_from([HALF_AN_HOUR["from"], "PT1M", "0 9 * * *", "skip", "***"])
inside = st.sampled_from(["cron", "every", "timeZone", "until", "count", "type", "dst", "after"])
names = st.sampled_from(["repeat", "action", "payload", "overlap", "onLate", "retry", "tags", "from", "until"]) | texts
documents = st.dictionaries(names, values | st.dictionaries(inside, values), max_size=4)


@cache
def hostile(route: str) -> Calls:
    """A series for each of them: that of a DELETE is soon over."""
    assert route in ROUTES
    return Calls()


@pytest.mark.parametrize("route", ROUTES)
@settings(max_examples=50)
@given(documents | values, texts)
def test_whatever_is_sent_is_no_defect(route: str, body: Any, key: str) -> None:
    status, _ = hostile(route)(route, body, key, seriesId=ID, name="x")
    assert status != 500
