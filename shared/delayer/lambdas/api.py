"""A function behind API Gateway's HTTP API: its event becomes a request, and the response what Lambda answers.

    @behind_the_api(ports.observer)
    def handler(request: ApiRequest, owner: str) -> Response:
        ...

is what Lambda calls with an event (payload format 2.0). `handler.answer` is the same for whoever has a request.
"""

import base64
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from delayer.http.answers import Response, of_anybody, of_owners, respond
from delayer.http.requests import ApiRequest, Caller

if TYPE_CHECKING:
    from delayer.engines.aws.telemetry import Telemetry


class ApiFunction:
    """Answers calls. An error that `answers` raises is answered as a problem."""

    def __init__(self, observer: "Telemetry", answers: Callable[[ApiRequest], Response]) -> None:
        self._observer = observer
        self._answers = answers

        def handler(event: dict[str, Any], _: object) -> dict[str, Any]:  # its name is on the trace of each call
            return shown(self._respond(lambda: request_of(event)))

        self._observed = observer.observed(handler)

    def __call__(self, event: dict[str, Any], context: object) -> dict[str, Any]:
        """One invocation."""
        made: dict[str, Any] = self._observed(event, context)
        return made

    def answer(self, request: ApiRequest) -> Response:
        """One call, whatever has received it."""
        return self._respond(lambda: request)

    def _respond(self, received: Callable[[], ApiRequest]) -> Response:
        return respond(self._observer, lambda: self._answers(received()))


def behind_the_api(observer: "Telemetry") -> Callable[[Callable[[ApiRequest, str], Response]], ApiFunction]:
    """For calls of an owner, who is the second argument."""
    return lambda answer: ApiFunction(observer, of_owners(answer))


def behind_the_api_for_anybody(observer: "Telemetry") -> Callable[[Callable[[ApiRequest], Response]], ApiFunction]:
    """For calls that belong to nobody."""
    return lambda answer: ApiFunction(observer, of_anybody(answer))


def request_of(event: Mapping[str, Any]) -> ApiRequest:
    """Returns the call that API Gateway has received. It has checked the signature or the token."""
    context = event.get("requestContext", {})
    authorizer = context.get("authorizer") or {}
    claims = (authorizer.get("jwt") or {}).get("claims") or {}
    return ApiRequest(
        route=str(event.get("routeKey") or ""),
        path=str(event.get("rawPath") or ""),
        parameters=event.get("pathParameters") or {},
        query=event.get("queryStringParameters") or {},
        headers=event.get("headers") or {},
        body=_body_of(event),
        caller=Caller(
            arn=str((authorizer.get("iam") or {}).get("userArn") or ""),
            claims=claims if isinstance(claims, Mapping) else {},
            address=str((context.get("http") or {}).get("sourceIp") or ""),
        ),
    )


def _body_of(event: Mapping[str, Any]) -> bytes:
    """As the client sent it. What is no text comes in base64; half a surrogate pair is no JSON either way."""
    body = str(event.get("body") or "")
    return base64.b64decode(body) if event.get("isBase64Encoded") else body.encode("utf-8", "surrogatepass")


def shown(made: Response) -> dict[str, Any]:
    """As API Gateway takes it."""
    return {"statusCode": made.status, "headers": dict(made.headers), "body": made.body}
