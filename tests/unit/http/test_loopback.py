"""An API that asks for no credentials answers its own machine only, whatever function is called and however."""

import importlib.util
import json
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

from delayer.engines.aws import clients
from delayer.http.requests import Authorization, NotLoopback
from delayer.lambdas.api import request_of
from tests.cfn import ROOT, functions, shared_variables, variables
from tests.functions.cold_start import value_of

API_FUNCTIONS = sorted(name for name in functions() if name.startswith("api-"))


def call_from(source: object, **headers: str) -> dict[str, Any]:
    """An event of an HTTP API, with what the gateway writes of its caller."""
    http = {"method": "GET", "path": "/schedules", "sourceIp": source}
    return {"rawPath": "/schedules", "headers": headers, "requestContext": {"http": http}}


def check(event: dict[str, Any], kind: str = "NONE") -> None:
    """Raises what refuses a call, with this value of ApiAuthorization."""
    Authorization(kind=kind).check(request_of(event))


@pytest.mark.parametrize("source", ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"])
def test_its_own_machine_is_answered(source: str) -> None:
    check(call_from(source))


@pytest.mark.parametrize(
    "source",
    ["203.0.113.7", "10.0.0.1", "169.254.169.254", "::ffff:10.0.0.1", "fe80::1", "0.0.0.0", "127.0.0.1.evil", "", None],
)
def test_any_other_is_refused(source: object) -> None:
    """In AWS, API Gateway sees no loopback address."""
    with pytest.raises(NotLoopback):
        check(call_from(source))
    with pytest.raises(NotLoopback):
        check(call_from(source, **{"x-forwarded-for": "127.0.0.1", "host": "localhost"}))


@pytest.mark.parametrize("event", [{}, {"requestContext": {}}, {"requestContext": {"http": None}}], ids=str)
def test_who_is_not_known_is_refused(event: dict[str, Any]) -> None:
    with pytest.raises(NotLoopback, match="an unknown address"):
        check(event)


@pytest.mark.parametrize("authorization", ["AWS_IAM", "JWT"])
def test_with_credentials_every_machine_may_call(authorization: str) -> None:
    check(call_from("203.0.113.7"), authorization)


@pytest.fixture
def as_it_was(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What a function's start leaves in the process: clients that are kept, and the logger of the adapters."""
    for name in ("handlers", "propagate"):
        monkeypatch.setattr(clients.log, name, getattr(clients.log, name))
    yield
    clients.kept_client.cache_clear()


def started(function: str, monkeypatch: pytest.MonkeyPatch, authorization: str) -> ModuleType:
    """The module of a function, with the environment of the template."""
    for name, value in {**shared_variables(), **variables(function)}.items():
        monkeypatch.setenv(name, value_of(value))
    monkeypatch.setenv("API_AUTHORIZATION", authorization)
    spec = importlib.util.spec_from_file_location(function.replace("-", "_"), ROOT / f"functions/{function}/app.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.usefixtures("as_it_was")
@pytest.mark.parametrize("function", API_FUNCTIONS)
def test_a_stack_in_aws_that_was_opened_by_mistake_answers_nobody(
    function: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each function of the API, before it reads anything."""
    answer = started(function, monkeypatch, "NONE").handler(call_from("203.0.113.7"), None)
    assert (answer["statusCode"], answer["headers"]["Content-Type"]) == (403, "application/problem+json")
    problem = json.loads(answer["body"])
    assert problem["type"] == "urn:delayer:problem:not-from-loopback"
    assert "203.0.113.7" in problem["detail"]
    assert "ApiAuthorization=AWS_IAM" in problem["detail"]
