"""The action http-request."""

from functools import cache
from typing import Annotated, Any, Literal

from delayer.aws.runtime.environment import setting
from delayer.extension.executor import Action, Message, Meta, Result, executor
from delayer.targets.connections.field import ConnectionName
from delayer.targets.http_request import HEADER_NAME, KEEP, KEEP_HEADERS, URL, HttpTarget, KeptHeader, Request, to_keep

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
the name of a header, other than Host, Content-Length, Transfer-Encoding, Connection, Idempotency-Key, Delayer-… and \
Webhook-…"""
# For the API alone: an earlier version accepted Webhook-…, and what it has stored must not become malformed.
Name = Annotated[str, Meta(extra_json_schema={"pattern": HEADER_NAME, "x-allowed": RULE})]
PRINTABLE = {"x-allowed": "printable ASCII, up to 4096 characters"}
Value = Annotated[str, Meta(pattern=r"^[\t -~]*$", max_length=4096, extra_json_schema=PRINTABLE)]
HEADERS = """\
Headers of the request. Nobody but the target sees the value of one with a sensitive name, such as Authorization, \
Cookie or X-Api-Key. Host, Content-Length, Transfer-Encoding, Connection, Idempotency-Key and those that begin with \
Delayer- or Webhook- cannot be given, because Delayer sets them."""
TIME = "How long the target may take to answer one attempt."


class HttpRequest(Action):
    """An HTTP request. Every answer except 2xx is a failure; redirects are not followed."""

    url: Url
    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"] = "POST"
    headers: Annotated[dict[Name, Value], Meta(max_length=50, description=HEADERS)] = {}
    timeout_seconds: Annotated[int, Meta(ge=1, le=30, description=TIME)] = 10
    keep_answer: Annotated[bool, Meta(description=KEEP)] = False
    keep_headers: Annotated[list[KeptHeader], Meta(max_length=10, description=KEEP_HEADERS)] = []
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


@executor("http-request", fair_by="host:url", reaches="host:url", signs=True)
def handler(message: Message[HttpRequest]) -> Result:
    """One request, with the payload as its body."""
    action = message.action
    request = Request(
        url=action.url,
        method=action.method,
        headers=action.headers,
        timeout=action.timeout_seconds,
        signature=handler.sign(message),
        keep=to_keep(action.keep_headers) if action.keep_answer else None,
    )
    if action.connection:
        result: Result = connected().send(request, message, action.connection)
        return result
    return target().send(request, message)
