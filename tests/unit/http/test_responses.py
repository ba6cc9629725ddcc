"""How a schedule is shown, held to openapi.yaml."""

import json
from typing import Any

import pytest
from attrs import evolve
from jsonschema import Draft202012Validator

from delayer.accept import routes as schedules
from delayer.accept.rules.status import Status
from delayer.history.model import Original
from delayer.http import answers
from delayer.http.answers import Response
from delayer.ledger.model import LedgerRow, State, named
from delayer.ledger.rules import ended, retried, stopped
from tests.openapi import openapi
from tests.samples import NOW, OWNER, a_claim, a_relaxed_schedule, a_schedule, an_id

OPENAPI = openapi()
SCHEDULE = Draft202012Validator({"$ref": "#/components/schemas/Schedule", "components": OPENAPI["components"]})


def check(answer: Response, status: int) -> dict[str, Any]:
    assert answer.status == status
    assert answer.headers["Content-Type"] == "application/json"
    body: dict[str, Any] = json.loads(answer.body)
    SCHEDULE.validate(body)
    return body


def test_created() -> None:
    answer = schedules.created(an_id(NOW + 250), NOW + 250)
    body = check(answer, 201)
    assert answer.headers["Location"] == f"/schedules/{an_id(NOW + 250)}"
    assert body == {"scheduleId": an_id(NOW + 250), "pointInTime": "2026-11-21T09:00:00.250Z", "state": "scheduled"}


def test_the_relaxed_lane_is_shown_wherever_a_schedule_is() -> None:
    schedule = a_relaxed_schedule()
    found = Status(schedule_id=schedule.id, state=State.ENQUEUED)
    shown = [
        check(schedules.created(schedule.id, NOW), 201),
        check(schedules.replaced(schedule.id, schedule.point_in_time, an_id()), 200),
        check(answers.response(200, schedules.shown(found)), 200),
        check(schedules.ended(a_claim(schedule_id=schedule.id, state=State.CANCELLED)), 200),
    ]
    assert [body["precision"] for body in shown] == ["relaxed"] * 4


def test_replaced() -> None:
    """The id that is live now, and the one whose place it took."""
    body = check(schedules.replaced(an_id(), NOW, an_id(NOW + 1)), 200)
    assert (body["scheduleId"], body["replaces"]) == (an_id(), an_id(NOW + 1))


@pytest.mark.parametrize("payload", ["", '{"a": 1.0,  "big": 123456789012345678901234567890}', '"\u00e4"', "null"])
def test_a_definition_is_shown_as_it_was_sent(payload: str) -> None:
    """The payload byte for byte."""
    schedule = a_schedule(payload=payload, group="g", on_late='{"after":"PT1H","do":"drop"}', tags='{"team":"a"}')
    found = Status(schedule_id=schedule.id, state=State.SCHEDULED, original=Original(schedule=schedule))
    answer = answers.response(200, schedules.shown(found))
    body = check(answer, 200)
    assert (body["group"], body["onLate"], body["tags"]) == ("g", {"after": "PT1H", "do": "drop"}, {"team": "a"})
    assert (f'"payload":{payload}' in answer.body) if payload else ("payload" not in body)


CLAIM = a_claim(name="n")


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (CLAIM, {"state": "claimed", "claimedAt": "2026-11-21T09:00:00.000Z", "attempt": 1, "name": "n"}),
        (
            retried(evolve(CLAIM, lateness=12), "d2", NOW, "HTTP 500"),
            {"attempt": 2, "latenessMs": 12, "detail": "HTTP 500"},
        ),
        (
            ended(CLAIM, State.EXECUTED, NOW + 5, "HTTP 200"),
            {"state": "executed", "latenessMs": 0, "detail": "HTTP 200"},
        ),
        (evolve(CLAIM, state=State.REPLACED, replaced_by=an_id()), {"state": "replaced", "replacedBy": an_id()}),
        (evolve(CLAIM, state=State.CANCELLED, claimed_at=0), {"state": "cancelled", "claimedAt": None}),
        (stopped(CLAIM, NOW + 7), {"state": "claimed", "stoppedAt": "2026-11-21T09:00:00.007Z"}),
    ],
    ids=lambda value: str(value.get("state")) if isinstance(value, dict) else "",
)
def test_what_the_ledger_knows_is_shown(row: LedgerRow, expected: dict[str, object]) -> None:
    status = Status(schedule_id=row.schedule_id, state=row.state, row=row)
    body = check(answers.response(200, schedules.shown(status)), 200)
    assert {name: body.get(name) for name in expected} == expected


def test_a_named_schedule_that_waits_shows_its_name_and_no_claim() -> None:
    row = named(an_id(), OWNER, "n", NOW)
    found = Status(schedule_id=an_id(), state=State.ENQUEUED, row=row, overdue=True)
    body = check(answers.response(200, schedules.shown(found)), 200)
    assert body == {
        "scheduleId": an_id(),
        "pointInTime": "2026-11-21T09:00:00.000Z",
        "state": "enqueued",
        "name": "n",
        "overdue": True,
    }


def test_cancelled_and_stopping() -> None:
    assert check(schedules.ended(a_claim(state=State.CANCELLED)), 200)["state"] == "cancelled"
    assert check(schedules.stopping(stopped(CLAIM, NOW)), 202)["stoppedAt"]
