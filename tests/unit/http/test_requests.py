"""What a client sent, and whose call it is."""

import json
from collections.abc import Callable
from importlib.resources import files
from typing import Any

import pytest

from delayer.http.problem import Invalid
from delayer.http.requests import ANONYMOUS, NAME, ApiRequest, Authorization, Unknown, authorization
from delayer.lambdas.api import request_of
from delayer.schedule.schedule import SYSTEM_OWNER
from tests.samples import OWNER

ROLE = "arn:aws:sts::123456789012:assumed-role/billing"
JWT = {"iss": "https://issuer.example/", "sub": "client-17"}


def owner_of(event: dict[str, Any], kind: str) -> str:
    """Of a call, as API Gateway passes it on."""
    return Authorization(kind=kind).owner_of(request_of(event))


def asked_with(**headers: str) -> ApiRequest:
    """A request with these headers, of which `_` is a hyphen."""
    return ApiRequest(headers={name.replace("_", "-"): value for name, value in headers.items()})


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
    assert authorization().owner_of(request_of(called_by(None))) == "me"
    monkeypatch.setenv("API_AUTHORIZATION", "AWS_IAM")
    with pytest.raises(Unknown):
        authorization().owner_of(request_of(called_by(None)))


def test_no_client_is_the_owner_of_delayers_own_schedules() -> None:
    """An open stack believes a header; any other owner has `arn:` or a space in it."""
    with pytest.raises(Invalid):
        owner_of({"headers": {"delayer-owner": SYSTEM_OWNER}}, "NONE")
    assert not SYSTEM_OWNER.startswith("arn:")
    assert " " not in SYSTEM_OWNER


@pytest.mark.parametrize(
    ("read", "header"),
    [(ApiRequest.key, "idempotency-key"), (Authorization(kind="NONE").owner_of, "delayer-owner")],
    ids=["key", "owner"],
)
def test_a_header_that_is_too_long_is_named(read: Callable[[ApiRequest], str], header: str) -> None:
    with pytest.raises(Invalid) as caught:
        read(ApiRequest(headers={header: "x" * 257}))
    [error] = caught.value.errors
    assert (error.field.lower(), error.problem) == (header, "too long")


def test_a_key_may_be_any_text() -> None:
    assert asked_with(idempotency_key=" a#b \u00e4 ").key() == "a#b \u00e4"
    assert ApiRequest().key() == ""
    for empty in ("", " "):
        with pytest.raises(Invalid):  # a variable that was not set, and a client that believes to be safe
            asked_with(idempotency_key=empty).key()


def test_conditions() -> None:
    assert asked_with(if_none_match="*").creates_only() is True
    assert ApiRequest().creates_only() is False
    with pytest.raises(Invalid):
        asked_with(if_none_match='"etag"').creates_only()
    with pytest.raises(Invalid):
        asked_with(if_none_match="").creates_only()


@pytest.mark.parametrize("name", ["a", "invoice-17.reminder:x@y_z", "...", ".a", "x" * 128])
def test_a_name_in_the_path(name: str) -> None:
    assert ApiRequest(parameters={"name": name}).name() == name


@pytest.mark.parametrize("name", [".", "..", "a#b", "a b", "\u00e4", "x" * 129, "a\n"])
def test_what_cannot_be_a_name_is_no_key_of_anything(name: str) -> None:
    """It might lead to what belongs to somebody else, or be longer than a key may be."""
    with pytest.raises(Invalid):
        ApiRequest(parameters={"name": name}).name()


def test_names_are_as_the_contract_has_them() -> None:
    contract = json.loads(files("delayer.http").joinpath("contract.json").read_text())
    assert contract["request"]["properties"]["name"]["pattern"] == f"^{NAME.pattern}$"


def test_parameters() -> None:
    assert (ApiRequest(parameters={"id": "x"}).parameter("id"), ApiRequest().parameter("id")) == ("x", "")
