"""What API Gateway passes on becomes a request; what is answered becomes what it takes."""

import base64
from typing import Any

import pytest
from attrs import fields

from delayer.engines.memory import MemoryObserver
from delayer.http.answers import Response
from delayer.http.requests import ApiRequest, Caller
from delayer.lambdas.api import behind_the_api, behind_the_api_for_anybody, request_of, shown
from tests.cfn import ROOT

ARN = "arn:aws:sts::123456789012:assumed-role/billing/session-1"
EVENT: dict[str, Any] = {  # payload format 2.0, as AWS documents it
    "version": "2.0",
    "routeKey": "PUT /schedules/by-name/{name}",
    "rawPath": "/schedules/by-name/a%2Fb",
    "rawQueryString": "x=1",
    "headers": {"content-type": "application/json", "if-none-match": "*"},
    "queryStringParameters": {"x": "1"},
    "requestContext": {
        "accountId": "123456789012",
        "authorizer": {"iam": {"userArn": ARN}},
        "http": {"method": "PUT", "path": "/schedules/by-name/a%2Fb", "sourceIp": "203.0.113.7"},
        "routeKey": "PUT /schedules/by-name/{name}",
    },
    "pathParameters": {"name": "a/b"},
    "body": "{}",
    "isBase64Encoded": False,
}


@pytest.fixture(autouse=True)
def _with_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("API_AUTHORIZATION", "AWS_IAM")


def test_a_request_is_all_that_the_event_says() -> None:
    request = request_of(EVENT)
    assert request == ApiRequest(
        route="PUT /schedules/by-name/{name}",
        path="/schedules/by-name/a%2Fb",
        parameters={"name": "a/b"},
        query={"x": "1"},
        headers={"content-type": "application/json", "if-none-match": "*"},
        body=b"{}",
        caller=Caller(arn=ARN, address="203.0.113.7"),
    )
    assert all(getattr(request, one.name) for one in fields(ApiRequest)), "each field has its place in an event"


def test_the_claims_are_those_of_the_token() -> None:
    event = {"requestContext": {"authorizer": {"jwt": {"claims": {"iss": "x", "sub": "y"}, "scopes": None}}}}
    assert request_of(event).caller == Caller(claims={"iss": "x", "sub": "y"})


@pytest.mark.parametrize("event", [{}, {"headers": None, "pathParameters": None, "queryStringParameters": None}])
def test_what_is_not_there_is_empty(event: dict[str, Any]) -> None:
    """API Gateway leaves it out, or says null."""
    assert request_of(event) == ApiRequest()


@pytest.mark.parametrize("body", ["", "{}", '{"\u00e4": "\U0001f600"}'])
def test_bodies(body: str) -> None:
    encoded = base64.b64encode(body.encode()).decode()
    assert request_of({"body": body, "isBase64Encoded": False}).body == body.encode()
    assert request_of({"body": body}).body == body.encode()
    assert request_of({"body": encoded, "isBase64Encoded": True}).body == body.encode()


def test_bytes_that_are_no_text_come_in_base64() -> None:
    assert request_of({"body": base64.b64encode(b"\xff\x00").decode(), "isBase64Encoded": True}).body == b"\xff\x00"


@pytest.mark.parametrize("event", [{}, {"body": None}, {"body": None, "isBase64Encoded": True}])
def test_no_body_is_an_empty_one(event: dict[str, Any]) -> None:
    assert request_of(event).body == b""


def test_a_response_is_what_api_gateway_takes() -> None:
    made = Response(status=201, headers={"Location": "/x"}, body="{}")
    assert shown(made) == {"statusCode": 201, "headers": {"Location": "/x"}, "body": "{}"}
    assert shown(Response(status=204)) == {"statusCode": 204, "headers": {}, "body": ""}


def test_lambda_and_whoever_has_a_request_are_answered_alike() -> None:
    observer = MemoryObserver()

    @behind_the_api(observer)  # type: ignore[arg-type] # it stands in for Telemetry
    def handler(request: ApiRequest, owner: str) -> Response:
        return Response(status=200, body=f"{owner} {request.name()}")

    fine = {**EVENT, "pathParameters": {"name": "a"}}
    assert handler(fine, None) == shown(handler.answer(request_of(fine)))
    assert handler(fine, None)["body"] == "arn:aws:sts::123456789012:assumed-role/billing a"
    for event, status in ((EVENT, 422), ({}, 403), ({**fine, "isBase64Encoded": True, "body": "x"}, 500)):
        assert handler(event, None)["statusCode"] == status
    assert observer.counts["Refused"] == 2


def test_what_belongs_to_nobody_is_answered_to_a_caller_without_a_name() -> None:
    @behind_the_api_for_anybody(MemoryObserver())  # type: ignore[arg-type] # as above
    def handler(request: ApiRequest) -> Response:
        return Response(status=200, body=request.path)

    assert handler({"rawPath": "/x"}, None) == {"statusCode": 200, "headers": {}, "body": "/x"}


def test_the_trace_of_a_call_has_a_name() -> None:
    """X-Ray takes it from the function that is observed, and no angle brackets."""
    observed: list[Any] = []

    class Observes(MemoryObserver):
        def observed(self, handler: Any) -> Any:
            observed.append(handler)
            return handler

    behind_the_api(Observes())(lambda request, owner: Response(status=204))  # type: ignore[arg-type] # as above
    assert [one.__name__ for one in observed] == ["handler"]


def test_only_calls_without_a_route_are_answered_for_anybody() -> None:
    """Any other function behind this frame would answer for whoever calls, without an owner."""
    name = behind_the_api_for_anybody.__name__
    paths = [path for folder in ("functions", "shared", "local", "client") for path in (ROOT / folder).rglob("*.py")]
    having = {str(path.relative_to(ROOT)) for path in paths if name in path.read_text()}
    assert having == {"functions/api-default/app.py", "shared/delayer/lambdas/api.py"}
