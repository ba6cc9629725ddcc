"""The action http-request."""

from functools import cache
from typing import Annotated, Any, Literal

from delayer.extension.executor import Action, Message, Meta, Result, executor, setting
from delayer.targets.http_fields import HEADERS, KEEP, KEEP_HEADERS, TIME, ConnectionName, KeptHeader, Name, Url, Value
from delayer.targets.http_request import HttpTarget, Request, has_stray_percent, to_keep


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
    from delayer.targets.connected import ConnectedTarget, TokenEndpoint
    from delayer.wiring.use_cases import credentials

    return ConnectedTarget(target=target(), credentials=credentials(handler.ports, TokenEndpoint(target=target())))


@executor("http-request", fair_by="host:url", reaches="host:url", signs=True)
def handler(message: Message[HttpRequest]) -> Result:
    """One request, with the payload as its body."""
    action = message.action
    if has_stray_percent(action.url):
        handler.ports.observer.count("StrayPercents")
        handler.ports.observer.warn("a stray % in its URL, which is sent as %25", message.schedule_id)
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
