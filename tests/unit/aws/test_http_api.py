"""Requests and answers of the HTTP API, held to openapi.yaml."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from delayer.aws.http_api import ANONYMOUS, answers_problems, body_of, created, owner_of
from delayer.core.admission import FieldError, Invalid, NotJson, TooLarge
from delayer.fakes import MemoryObserver
from delayer.ports import Unavailable
from tests.samples import NOW, OWNER, a_schedule, an_id

OPENAPI = yaml.safe_load((Path(__file__).parents[3] / "openapi.yaml").read_text())
RESPONSES = OPENAPI["paths"]["/schedules"]["post"]["responses"]
SCHEMAS = OPENAPI["components"]["schemas"]
PROBLEM = Draft202012Validator(SCHEMAS["Problem"])


def raising(error: Exception) -> tuple[dict[str, Any], MemoryObserver]:
    """The answer when a use case raises."""
    observer = MemoryObserver()

    @answers_problems(observer)
    def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
        raise error

    return handler({}, None), observer


def check_problem(answer: dict[str, Any], status: int) -> dict[str, Any]:
    assert answer["statusCode"] == status
    assert answer["headers"]["Content-Type"] == "application/problem+json"
    body: dict[str, Any] = json.loads(answer["body"])
    PROBLEM.validate(body)
    assert body["status"] == status
    assert body["type"].startswith("urn:delayer:problem:")
    assert str(status) in RESPONSES, "each status stands in openapi.yaml"
    return body


def test_created() -> None:
    answer = created(a_schedule(NOW + 250))
    assert answer["statusCode"] == 201
    assert answer["headers"]["Location"] == f"/schedules/{an_id(NOW + 250)}"
    body = json.loads(answer["body"])
    Draft202012Validator(SCHEMAS["Schedule"]).validate(body)
    assert body["pointInTime"] == "2026-11-21T09:00:00.250Z"


def test_a_good_answer_passes() -> None:
    observer = MemoryObserver()
    answer = answers_problems(observer)(lambda event, context: created(a_schedule()))({}, None)
    assert answer["statusCode"] == 201
    assert observer.lines == []


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (NotJson("The body must be a JSON object in UTF-8: it is empty"), 400),
        (TooLarge("The body has 300,000 bytes; at most 262,144 are allowed."), 413),
        (Invalid([FieldError(field="action.url", problem="missing", allowed="required")]), 422),
    ],
)
def test_what_is_wrong_is_told_and_counted(error: Exception, status: int) -> None:
    answer, observer = raising(error)
    body = check_problem(answer, status)
    assert body["detail"]
    assert observer.counts["Refused"] == 1
    assert observer.warnings == [], "a client's mistake wakes nobody"


def test_all_wrong_fields_are_listed_with_what_is_allowed() -> None:
    errors = [FieldError(field=f"f{at}", problem=f"p{at}", allowed="a" if at else "") for at in range(5)]
    body = check_problem(raising(Invalid([*errors, FieldError(field="", problem="p")]))[0], 422)
    assert body["errors"][:2] == [{"field": "f0", "problem": "p0"}, {"field": "f1", "problem": "p1", "allowed": "a"}]
    assert len(body["errors"]) == 6
    assert body["detail"] == "f0: p0; f1: p1; f2: p2; and 3 more"


def test_an_error_of_the_body_as_a_whole_has_a_name() -> None:
    body = check_problem(raising(Invalid([FieldError(field="", problem="too many fields")]))[0], 422)
    assert body["detail"] == "the body: too many fields"


def test_an_outage_is_no_promise() -> None:
    answer, observer = raising(Unavailable("put schedule: timeout"))
    body = check_problem(answer, 503)
    assert answer["headers"]["Retry-After"] == "1"
    assert "not known" in body["detail"]
    assert "timeout" not in body["detail"], "what failed inside is for the log"
    assert observer.warnings == ["not accepted"]


def test_what_nobody_expected_is_not_hidden() -> None:
    """Lambda makes it a 500 and counts an error."""
    with pytest.raises(ZeroDivisionError):
        raising(ZeroDivisionError())


def test_text_that_is_no_unicode_is_answered_all_the_same() -> None:
    answer, _ = raising(Invalid([FieldError(field="\ud800", problem="unknown field")]))
    answer["body"].encode()


@pytest.mark.parametrize("body", ["", "{}", '{"\u00e4": "\U0001f600"}'])
def test_bodies(body: str) -> None:
    encoded = base64.b64encode(body.encode()).decode()
    assert body_of({"body": body, "isBase64Encoded": False}) == body.encode()
    assert body_of({"body": body}) == body.encode()
    assert body_of({"body": encoded, "isBase64Encoded": True}) == body.encode()


def test_bytes_that_are_no_text_come_in_base64() -> None:
    assert body_of({"body": base64.b64encode(b"\xff\x00").decode(), "isBase64Encoded": True}) == b"\xff\x00"


@pytest.mark.parametrize("event", [{}, {"body": None}, {"body": None, "isBase64Encoded": True}])
def test_no_body_is_an_empty_one(event: dict[str, Any]) -> None:
    assert body_of(event) == b""


@pytest.mark.parametrize(
    ("context", "owner"),
    [
        ({}, ANONYMOUS),
        ({"authorizer": None}, ANONYMOUS),
        ({"authorizer": {}}, ANONYMOUS),
        ({"authorizer": {"iam": None}}, ANONYMOUS),
        ({"authorizer": {"iam": {"userArn": OWNER}}}, OWNER),
    ],
)
def test_the_owner_is_the_authenticated_caller(context: dict[str, Any], owner: str) -> None:
    assert owner_of({"requestContext": context}) == owner


def test_no_request_context_is_nobody() -> None:
    """And no header of a client's choice names an owner."""
    assert owner_of({"headers": {"x-owner": "me", "authorization": "me"}}) == ANONYMOUS
