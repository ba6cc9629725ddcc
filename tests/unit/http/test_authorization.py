"""Scopes of tokens, and the claim that names the owner."""

import json
from typing import Any

import pytest

from delayer.engines.memory import MemoryObserver
from delayer.http.answers import Response, of_anybody, respond
from delayer.http.requests import (
    ApiRequest,
    Authorization,
    Caller,
    MissingScope,
    Unknown,
    authorization_from,
    scopes_in,
)
from delayer.http.routing import access_of

ISSUER = "https://issuer.example/"
JWT = "JWT org d/read d/write"


def request(route: str, **claims: Any) -> ApiRequest:
    return ApiRequest(route=route, caller=Caller(claims={"iss": ISSUER, **claims}, address="127.0.0.1"))


def owner_of(given: ApiRequest, claim: str = "sub") -> str:
    return Authorization(kind="JWT", claim=claim).owner_of(given)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("AWS_IAM", Authorization(kind="AWS_IAM")),
        ("NONE sub - -", Authorization(kind="NONE")),
        ("JWT sub - -", Authorization(kind="JWT")),
        ("JWT https://a/b r w", Authorization(kind="JWT", claim="https://a/b", read_scope="r", write_scope="w")),
        ("JWT org - w", Authorization(kind="JWT", claim="org", write_scope="w")),
    ],
)
def test_the_setting(text: str, expected: Authorization) -> None:
    assert authorization_from(text) == expected


@pytest.mark.parametrize(
    ("claims", "expected"),
    [
        ({}, set()),
        ({"scope": "a b"}, {"a", "b"}),
        ({"scp": "a  b"}, {"a", "b"}),
        ({"scp": "[a b]"}, {"a", "b"}),
        ({"scp": ["a", "b", 5, None]}, {"a", "b"}),
        ({"scope": "a", "scp": "[b]"}, {"a", "b"}),
        ({"scope": None, "scp": 5}, set()),
        ({"scope": "[]"}, set()),
        ({"scope": "d/read-all xd/read d/READ d/read,d/write"}, {"d/read-all", "xd/read", "d/READ", "d/read,d/write"}),
        ({"Scope": "a", "scopes": "b"}, set()),
    ],
    ids=lambda one: str(one) if isinstance(one, dict) else "",
)
def test_scopes(claims: dict[str, Any], expected: set[str]) -> None:
    assert scopes_in(claims) == expected


@pytest.mark.parametrize(
    ("route", "scope"),
    [
        ("GET /schedules/{id}", "d/read"),
        ("GET /series/{seriesId}/next", "d/read"),
        ("POST /series/preview", "d/read"),
        ("POST /schedules", "d/write"),
        ("DELETE /schedules/{id}", "d/write"),
        ("GET /signing-secret", "d/write"),
        ("GET /no/such/route", "d/write"),
        ("$default", "d/write"),
        ("", "d/write"),
        ("get /schedules/{id}", "d/write"),
    ],
)
def test_each_route_asks_for_its_scope(route: str, scope: str) -> None:
    known = authorization_from(JWT)
    known.check(request(route, scope=f"openid {scope}"))
    for claims in ({}, {"scope": ""}, {"scope": "d/read" if scope == "d/write" else "d/write"}, {"scope": f"{scope}x"}):
        with pytest.raises(MissingScope) as caught:
            known.check(request(route, **claims))
        assert caught.value.scope == scope


def test_without_scopes_and_without_tokens_nothing_is_asked() -> None:
    for text in ("JWT sub - -", "AWS_IAM sub d/read d/write", "NONE sub d/read d/write"):
        authorization_from(text).check(request("POST /schedules"))
    authorization_from("JWT sub d/read -").check(request("POST /schedules"))
    assert access_of("POST /schedules") == "write"


def test_the_answer_names_the_scope(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("API_AUTHORIZATION", JWT)

    @of_anybody
    def handler(_request: ApiRequest) -> Response:
        raise AssertionError("it is not reached")

    asked = request("POST /schedules", org="x", scope="d/read")
    answer = respond(MemoryObserver(), lambda: handler(asked))
    problem = json.loads(answer.body)
    assert (answer.status, problem["type"], problem["scope"]) == (
        403,
        "urn:delayer:problem:missing-scope",
        "d/write",
    )
    assert answer.headers["Content-Type"] == "application/problem+json"


def test_the_claim_names_the_owner() -> None:
    given = request("", sub="user", org="team 17")
    assert owner_of(given, "org") == f"{ISSUER} team 17"
    assert owner_of(given) == f"{ISSUER} user"


@pytest.mark.parametrize(
    "claims",
    [
        *({}, {"org": ""}, {"org": None}, {"org": ["a"]}, {"org": "[a b]"}, {"org": "[]"}, {"org": 5}, {"org": True}),
        *({"org": {"a": 1}}, {"org": "x" * 1_100}, {"Org": "a"}),
    ],
    ids=lambda claims: str(claims)[:30],
)
def test_what_is_no_single_text_names_no_owner(claims: dict[str, Any]) -> None:
    with pytest.raises(Unknown):
        owner_of(request("", sub="user", **claims), "org")
