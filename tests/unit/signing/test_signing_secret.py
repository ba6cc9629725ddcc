"""GET /signing-secret and POST /signing-secret/rotate, as the gateway calls them."""

import json
import re
from typing import Any

import pytest
from attrs import define, field
from jsonschema import Draft202012Validator

from delayer.schedule.instants import MINUTE
from delayer.signing.repository import KEYS
from tests.looking import all_rows, take_row
from tests.openapi import openapi
from tests.unit.handlers import handler_of, world_of_handlers
from tests.world import World

GET = "GET /signing-secret"
ROTATE = "POST /signing-secret/rotate"
SECRET = re.compile(r"whsec_[A-Za-z0-9+/]{43}=")


@define
class Api:
    """The function on one world."""

    world: World = field(factory=world_of_handlers)
    authorization: str = "NONE"

    def __call__(self, route: str, body: object = None, owner: str = "one", **event: Any) -> tuple[int, Any, Any]:
        """Status, body and headers. The answer is one that `openapi.yaml` has."""
        text = body if isinstance(body, str) else "" if body is None else json.dumps(body)
        call = {"routeKey": route, "headers": {"delayer-owner": owner}, "body": text, **event}
        made = handler_of(self.world, "api-signing-secret", self.authorization)(call, None)
        answer = json.loads(made["body"])
        method, path = route.split()
        documented = openapi()["paths"][path][method.lower()]["responses"][str(made["statusCode"])]
        if "$ref" in documented:
            documented = openapi()["components"]["responses"][documented["$ref"].rsplit("/", 1)[1]]
        [content] = documented["content"].values()
        schema = {**content["schema"], "components": openapi()["components"]}
        assert [error.message for error in Draft202012Validator(schema).iter_errors(answer)] == []
        return made["statusCode"], answer, made["headers"]


def test_the_secret_of_an_owner_who_never_rotated() -> None:
    """Nothing is written for it."""
    api = Api()
    status, answer, headers = api(GET)
    assert (status, headers["Cache-Control"]) == (200, "no-store")
    assert SECRET.fullmatch(answer.pop("current"))
    assert answer == {"previous": None}
    assert all_rows(api.world.signing_rows) == {}


def test_each_owner_has_its_own() -> None:
    api = Api()
    assert api(GET)[1]["current"] != api(GET, owner="two")[1]["current"]
    api(ROTATE, owner="two")
    assert "rotatedAt" not in api(GET)[1]


def test_a_rotation_shows_both() -> None:
    api = Api()
    before = api(GET)[1]["current"]
    status, answer, headers = api(ROTATE)
    assert (status, headers["Cache-Control"]) == (200, "no-store")
    assert answer["previous"] == before != answer["current"]
    assert answer["rotatedAt"] == "2026-11-21T09:00:00.000Z"
    assert answer["previousUntil"] == "2026-11-22T09:00:00.000Z"
    assert api(GET)[1] == answer


@pytest.mark.parametrize(
    ("seconds", "until"), [(600, "2026-11-21T09:10:00.000Z"), (2592000, "2026-12-21T09:00:00.000Z")]
)
def test_the_caller_chooses_the_overlap(seconds: int, until: str) -> None:
    assert Api()(ROTATE, {"overlapSeconds": seconds})[1]["previousUntil"] == until


@pytest.mark.parametrize("body", ["", " ", {}])
def test_without_a_body_it_is_a_day(body: object) -> None:
    assert Api()(ROTATE, body)[1]["previousUntil"] == "2026-11-22T09:00:00.000Z"


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        ({"overlapSeconds": 599}, 422, "at least 600"),
        ({"overlapSeconds": 2592001}, 422, "at most 2592000"),
        ({"overlapSeconds": 600.5}, 422, "integer"),
        ({"overlapSeconds": "600"}, 422, "integer"),
        ({"overlapSeconds": None}, 422, "integer"),
        ({"overlapSeconds": True}, 422, "integer"),
        ('{"overlapSeconds": 1e400}', 422, ""),
        ('{"overlapSeconds": NaN}', 400, ""),
        ({"overlap": 600}, 422, "overlapSeconds"),
        ([], 400, "JSON object"),
        ("600", 400, "JSON object"),
        ('{"overlapSeconds": 600', 400, "JSON object"),
        ({"x": "y" * 2000}, 413, "1,024"),
    ],
    ids=repr,
)
def test_a_wrong_body_changes_nothing_and_teaches(body: object, status: int, said: str) -> None:
    api = Api()
    found, answer, _ = api(ROTATE, body)
    assert found == status
    assert said in json.dumps(answer)
    assert all_rows(api.world.signing_rows) == {}


def test_a_repeat_is_refused_and_says_when() -> None:
    api = Api()
    made = api(ROTATE)[1]
    api.world.clock.move(MINUTE)
    status, answer, headers = api(ROTATE)
    assert (status, answer["type"], headers["Retry-After"]) == (409, "urn:delayer:problem:not-rotated", "540")
    assert "rotated at 2026-11-21T09:00:00.000Z" in answer["detail"]
    assert "2026-11-21T09:10:00.000Z" in answer["detail"]
    assert api(GET)[1] == made


def test_before_there_is_a_key_the_answer_is_503() -> None:
    api = Api()
    take_row(api.world.signing_rows, KEYS)
    assert api(GET)[0] == api(ROTATE)[0] == 503
    assert all_rows(api.world.signing_rows) == {}


def test_a_caller_that_is_not_known_sees_nothing() -> None:
    for authorization in ("AWS_IAM", "JWT", "OTHER"):
        api = Api(authorization=authorization)
        assert api(GET)[0] == api(ROTATE)[0] == 403


def test_no_log_holds_a_secret() -> None:
    api = Api()
    shown = [api(GET)[1], api(ROTATE)[1], api(ROTATE)[1], api(GET)[1]]
    logged = repr(api.world.observer.lines)
    assert "signing secret rotated" in logged
    assert "whsec_" not in logged
    for one in shown:
        for name in ("current", "previous"):
            assert str(one.get(name)).removeprefix("whsec_") not in logged or not one.get(name)
