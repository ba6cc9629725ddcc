"""The action http-request."""

from functools import cache
from typing import Annotated, Any, Literal

from delayer.aws.runtime.environment import setting
from delayer.extension.executor import Action, Message, Meta, Result, executor
from delayer.targets.connections.field import ConnectionName
from delayer.targets.http_request import HEADER_NAME, URL, HttpTarget, Request

Url = Annotated[
    str,
    Meta(
        pattern=URL,
        max_length=2048,
        description="An absolute http or https URL in ASCII, without user name and password. "
        "Nobody but the target sees its query.",
        extra_json_schema={
            "x-allowed": "an absolute http or https URL in ASCII, without user name, password and white space; "
            "a port from 1 to 65535"
        },
    ),
]
RULE = """\
the name of a header, other than Host, Content-Length, Transfer-Encoding, Connection, Idempotency-Key and Delayer-…"""
Name = Annotated[str, Meta(pattern=HEADER_NAME, extra_json_schema={"x-allowed": RULE})]
PRINTABLE = {"x-allowed": "printable ASCII, up to 4096 characters"}
Value = Annotated[str, Meta(pattern=r"^[\t -~]*$", max_length=4096, extra_json_schema=PRINTABLE)]
HEADERS = """\
Headers of the request. Nobody but the target sees the value of one with a sensitive name, such as Authorization, \
Cookie or X-Api-Key. Host, Content-Length, Transfer-Encoding, Connection, Idempotency-Key and those that begin with \
Delayer- cannot be given, because Delayer sets them."""
TIME = "How long the target may take to answer one attempt."


class HttpRequest(Action):
    """An HTTP request. Every answer except 2xx is a failure; redirects are not followed."""

    url: Url
    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"] = "POST"
    headers: Annotated[dict[Name, Value], Meta(max_length=50, description=HEADERS)] = {}
    timeout_seconds: Annotated[int, Meta(ge=1, le=30, description=TIME)] = 10
    connection: ConnectionName = ""


@cache
def target() -> HttpTarget:
    """Made at the first attempt."""
    return HttpTarget(allow_private=setting("ALLOW_PRIVATE_TARGETS") == "true")


@cache
def connected() -> Any:
    """A ConnectedTarget, made at the first attempt that needs one."""
    from delayer.targets.connections.connected import ConnectedTarget
    from delayer.targets.connections.token_endpoint import TokenEndpoint
    from delayer.wiring.connections import credentials

    return ConnectedTarget(target=target(), credentials=credentials(handler.ports, TokenEndpoint(target=target())))


@executor("http-request", fair_by="host:url")
def handler(message: Message[HttpRequest]) -> Result:
    """One request, with the payload as its body."""
    action = message.action
    request = Request(url=action.url, method=action.method, headers=action.headers, timeout=action.timeout_seconds)
    if action.connection:
        result: Result = connected().send(request, message, action.connection)
        return result
    return target().send(request, message)
