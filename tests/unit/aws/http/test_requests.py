"""What a client sent, as API Gateway passes it on."""

import base64
import json
from collections.abc import Callable
from importlib.resources import files
from typing import Any

import pytest

from delayer.aws.http.requests import (
    ANONYMOUS,
    NAME,
    Unknown,
    body_of,
    creates_only,
    key_of,
    name_of,
    owner_of,
    owner_reader,
    parameter,
    query,
)
from delayer.core.api.problem import Invalid
from delayer.core.schedule.schedule import SYSTEM_OWNER
from tests.samples import OWNER

ROLE = "arn:aws:sts::123456789012:assumed-role/billing"
JWT = {"iss": "https://issuer.example/", "sub": "client-17"}


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


def called_by(authorizer: object) -> dict[str, Any]:
    return {"requestContext": {"authorizer": authorizer}, "headers": {"delayer-owner": "me"}}


@pytest.mark.parametrize(
    ("authorization", "authorizer", "owner"),
    [
        ("AWS_IAM", {"iam": {"userArn": OWNER}}, OWNER),
        ("AWS_IAM", {"iam": {"userArn": f"{ROLE}/session-1"}}, ROLE),
        ("AWS_IAM", {"iam": {"userArn": f"{ROLE}/session-2"}}, ROLE),
        ("JWT", {"jwt": {"claims": JWT}}, "https://issuer.example/ client-17"),
    ],
)
def test_the_owner_is_the_authenticated_caller(authorization: str, authorizer: object, owner: str) -> None:
    assert owner_of(called_by(authorizer), authorization) == owner


@pytest.mark.parametrize("authorization", ["AWS_IAM", "JWT", "something else"])
@pytest.mark.parametrize(
    "authorizer",
    [
        None,
        {},
        {"iam": None},
        {"iam": {}},
        {"jwt": None},
        {"jwt": {"claims": {"sub": "x"}}},
        {"jwt": {"claims": {"iss": "x"}}},
    ],
    ids=str,
)
def test_without_a_caller_nothing_is_done(authorization: str, authorizer: object) -> None:
    """And no header of a client's choice names an owner."""
    with pytest.raises(Unknown):
        owner_of(called_by(authorizer), authorization)
    with pytest.raises(Unknown):
        owner_of({"headers": {"delayer-owner": "me"}}, authorization)


def test_the_header_is_heard_only_where_the_api_is_open() -> None:
    assert owner_of(called_by(None), "NONE") == "me"
    assert owner_of({}, "NONE") == ANONYMOUS
    assert owner_of({"headers": {"delayer-owner": "  "}}, "NONE") == ANONYMOUS
    assert owner_of(called_by({"iam": {"userArn": OWNER}}), "AWS_IAM") == OWNER


def test_which_authorization_there_is_stands_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("API_AUTHORIZATION", "NONE")
    assert owner_reader()(called_by(None)) == "me"
    monkeypatch.setenv("API_AUTHORIZATION", "AWS_IAM")
    with pytest.raises(Unknown):
        owner_reader()(called_by(None))


def test_no_client_is_the_owner_of_delayers_own_schedules() -> None:
    """An open stack believes a header; any other owner has `arn:` or a space in it."""
    with pytest.raises(Invalid):
        owner_of({"headers": {"delayer-owner": SYSTEM_OWNER}}, "NONE")
    assert not SYSTEM_OWNER.startswith("arn:")
    assert " " not in SYSTEM_OWNER


def owner_in_header(event: dict[str, Any]) -> str:
    return owner_of(event, "NONE")


@pytest.mark.parametrize(("read", "header"), [(key_of, "idempotency-key"), (owner_in_header, "delayer-owner")])
def test_a_header_that_is_too_long_is_named(read: Callable[[Any], str], header: str) -> None:
    with pytest.raises(Invalid) as caught:
        read({"headers": {header: "x" * 257}})
    [error] = caught.value.errors
    assert (error.field.lower(), error.problem) == (header, "too long")


def test_a_key_may_be_any_text() -> None:
    assert key_of({"headers": {"idempotency-key": " a#b \u00e4 "}}) == "a#b \u00e4"
    assert key_of({}) == ""
    for empty in ("", " "):
        with pytest.raises(Invalid):  # a variable that was not set, and a client that believes to be safe
            key_of({"headers": {"idempotency-key": empty}})


def test_conditions() -> None:
    assert creates_only({"headers": {"if-none-match": "*"}}) is True
    assert creates_only({}) is False
    with pytest.raises(Invalid):
        creates_only({"headers": {"if-none-match": '"etag"'}})
    with pytest.raises(Invalid):
        creates_only({"headers": {"if-none-match": ""}})


@pytest.mark.parametrize("name", ["a", "invoice-17.reminder:x@y_z", "...", ".a", "x" * 128])
def test_a_name_in_the_path(name: str) -> None:
    assert name_of({"pathParameters": {"name": name}}) == name


@pytest.mark.parametrize("name", [".", "..", "a#b", "a b", "\u00e4", "x" * 129, "a\n"])
def test_what_cannot_be_a_name_is_no_key_of_anything(name: str) -> None:
    """It might lead to what belongs to somebody else, or be longer than a key may be."""
    with pytest.raises(Invalid):
        name_of({"pathParameters": {"name": name}})


def test_names_are_as_the_contract_has_them() -> None:
    contract = json.loads(files("delayer.core.api").joinpath("contract.json").read_text())
    assert contract["request"]["properties"]["name"]["pattern"] == f"^{NAME.pattern}$"


def test_parameters() -> None:
    event = {"pathParameters": {"id": "x"}, "queryStringParameters": {"group": "g"}}
    assert (parameter(event, "id"), parameter(event, "name"), query(event)) == ("x", "", {"group": "g"})
    assert (parameter({}, "id"), query({})) == ("", {})
