"""Every answer that is not 2xx: a problem that says what to do, as openapi.yaml has it."""

import json
from typing import Any

import pytest
from attrs import evolve, fields
from jsonschema import Draft202012Validator

from delayer.accept import routes as schedules
from delayer.accept.routes import created, shown_row
from delayer.engines.memory import MemoryObserver
from delayer.engines.ports import Unavailable
from delayer.http import answers
from delayer.http.answers import Response, respond
from delayer.http.problem import FieldError, Invalid, NotJson, TooLarge
from delayer.http.requests import Unknown
from delayer.ledger.model import LedgerRow, State
from tests.openapi import openapi
from tests.samples import NOW, a_claim, an_id

OPENAPI = openapi()
PROBLEM = Draft202012Validator(OPENAPI["components"]["schemas"]["Problem"])
SCHEDULE = Draft202012Validator({"$ref": "#/components/schemas/Schedule", "components": OPENAPI["components"]})
DOCUMENTED = {
    status
    for path in OPENAPI["paths"].values()
    for method, operation in path.items()
    if method != "parameters"
    for status in operation["responses"]
}


def answering(outcome: Response | Exception) -> tuple[Response, MemoryObserver]:
    """The answer when a handler raises, or returns."""
    observer = MemoryObserver()

    def handler() -> Response:
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    return respond(observer, handler), observer


def check(answer: Response, status: int) -> dict[str, Any]:
    assert answer.status == status
    assert answer.headers["Content-Type"] == "application/problem+json"
    body: dict[str, Any] = json.loads(answer.body)
    PROBLEM.validate(body)
    assert body["status"] == status
    assert body["type"].startswith("urn:delayer:problem:")
    assert str(status) in DOCUMENTED, "each status stands in openapi.yaml"
    return body


def test_a_good_answer_passes() -> None:
    answer, observer = answering(created(an_id(), NOW))
    assert answer.status == 201
    assert observer.lines == []


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (NotJson("The body must be a JSON object in UTF-8: it is empty"), 400),
        (Unknown("no caller in the request"), 403),
        (TooLarge("The body has 300,000 bytes; at most 262,144 are allowed."), 413),
        (Invalid([FieldError(field="action.url", problem="missing", allowed="required")]), 422),
        (schedules.not_found(), 404),
        (schedules.expired(), 410),
        (schedules.too_late(a_claim()), 409),
        (schedules.too_late(a_claim(state=State.REPLACED, replaced_by=an_id())), 409),
        (schedules.may_be_running(a_claim(state=State.FAILED), 1), 409),
        (schedules.too_early(), 409),
        (schedules.on_its_way(soon=True), 409),
        (schedules.masked(), 409),
        (schedules.name_taken(an_id()), 409),
        (schedules.name_exists(an_id()), 412),
        (answers.key_reused(), 422),
    ],
    ids=str,
)
def test_what_is_wrong_is_answered_and_counted(error: Any, status: int) -> None:
    answer, observer = answering(error)
    assert check(answer, status)["detail"]
    assert observer.counts["Refused"] == 1
    assert observer.warnings == [], "a client's mistake wakes nobody"


def test_a_claim_is_answered_with_its_time() -> None:
    body = check(schedules.too_late(a_claim()), 409)
    assert body["type"] == "urn:delayer:problem:handed-over"
    assert (body["state"], body["claimedAt"]) == ("claimed", "2026-11-21T09:00:00.000Z")


def test_all_that_may_be_said_of_a_schedule_has_its_place() -> None:
    """A row that has every field, also one that is added later: openapi.yaml knows all that is said of it."""
    ended = a_claim(state=State.REPLACED)
    has = {one.name: getattr(ended, one.name) for one in fields(LedgerRow)}
    filled: dict[str, Any] = {name: {"": "x", 0: 7}[value] for name, value in has.items() if value in ("", 0)}
    row = evolve(ended, **filled)
    said = check(schedules.too_late(row), 409)
    assert said["probes"] == 7
    SCHEDULE.validate({"scheduleId": an_id(), **shown_row(row)})


def test_who_is_to_ask_again_learns_when() -> None:
    """In whole seconds, rounded up."""
    answer = schedules.may_be_running(a_claim(state=State.FAILED), 2_001)
    assert answer.headers["Retry-After"] == "3"
    body = check(answer, 409)
    assert (body["type"], body["state"]) == ("urn:delayer:problem:may-be-running", "failed")


def test_all_wrong_fields_are_listed_with_what_is_allowed() -> None:
    errors = [FieldError(field=f"f{at}", problem=f"p{at}", allowed="a" if at else "") for at in range(5)]
    body = check(answering(Invalid([*errors, FieldError(field="", problem="p")]))[0], 422)
    assert body["errors"][:2] == [{"field": "f0", "problem": "p0"}, {"field": "f1", "problem": "p1", "allowed": "a"}]
    assert len(body["errors"]) == 6
    assert body["detail"] == "f0: p0; f1: p1; f2: p2; and 3 more"


def test_an_error_of_the_body_as_a_whole_has_a_name() -> None:
    body = check(answering(Invalid([FieldError(field="", problem="too many fields")]))[0], 422)
    assert body["detail"] == "the body: too many fields"


def test_an_outage_is_no_promise() -> None:
    answer, observer = answering(Unavailable("put schedule: timeout"))
    body = check(answer, 503)
    assert answer.headers["Retry-After"] == "1"
    assert "may or may not have been applied" in body["detail"]
    assert "timeout" not in body["detail"], "what failed inside is for the log"
    assert observer.warnings == ["AWS did not answer"]


def test_what_nobody_expected_is_a_problem_and_not_hidden() -> None:
    """An alarm tells somebody, the log says where; what the client sent is in neither, nor in the answer."""
    answer, observer = answering(ZeroDivisionError("a client's secret"))
    check(answer, 500)
    assert observer.counts["Unexpected"] == 1
    assert observer.warnings == ["unexpected"]
    assert "ZeroDivisionError" in str(observer.lines)
    assert "test_problems.py" in str(observer.lines)
    assert "secret" not in f"{answer}{observer.lines}"


def test_text_that_is_no_unicode_is_answered_all_the_same() -> None:
    answer, _ = answering(Invalid([FieldError(field="\ud800", problem="unknown field")]))
    answer.body.encode()
