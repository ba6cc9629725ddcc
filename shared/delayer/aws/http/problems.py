"""Responses that are not 2xx: RFC 9457 problems, each with what to do (ADR 0028)."""

import json
import traceback
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any

from delayer.aws.http.authorization import scope_check
from delayer.aws.http.loopback import source_check
from delayer.aws.http.responses import Response, response
from delayer.core.api.problem import Problem
from delayer.ports.observer import Observer
from delayer.ports.unavailable import Unavailable

Handler = Callable[[dict[str, Any], Any], Response]


def responds_with_problems(observer: Observer) -> Callable[[Handler], Handler]:
    """The handler of a function, as `respond` answers. An open API answers its own machine only (ADR 0064)."""
    check_source, check_scope = source_check(), scope_check()

    def wrap(handler: Handler) -> Handler:
        def checked(event: dict[str, Any], context: Any) -> Response:
            check_source(event)
            check_scope(event)
            return handler(event, context)

        return wraps(handler)(lambda event, context: respond(observer, lambda: checked(event, context)))

    return wrap


def respond(observer: Observer, call: Callable[[], Response]) -> Response:
    """Turns what a use case raises into a problem that says what to do."""
    try:
        made = call()
    except Unavailable as error:
        observer.warn("AWS did not answer", error=str(error))
        return unavailable()
    except Problem as error:
        made = refused(error)
    except Exception as error:  # noqa: BLE001 - the gateway's own 500 would be no problem+json
        observer.count("Unexpected")  # has an alarm
        where = traceback.format_tb(error.__traceback__)  # its text may hold what a client sent
        observer.warn("unexpected", error=type(error).__name__, where=where)
        return unexpected()
    if made["statusCode"] >= 400:
        observer.count("Refused")
        observer.note("refused", status=made["statusCode"], fields=_fields(made))
    return made


def refused(error: Problem) -> Response:
    """What the error says of itself."""
    seconds = error.retry_after_seconds
    headers = {} if seconds is None else {"Retry-After": str(seconds)}
    return problem(error.status, error.kind, error.title, str(error), headers, **error.members)


def unexpected() -> Response:
    """500."""
    detail = "This is a defect of Delayer; its operators have an alarm. The request may or may not have been applied."
    return problem(500, "unexpected", "Something unexpected happened", detail)


def unavailable() -> Response:
    """503."""
    detail = "The request may or may not have been applied; retry it."
    return problem(503, "unavailable", "The store did not answer", detail, {"Retry-After": "1"})


def no_such_path() -> Response:
    """404."""
    return problem(404, "no-such-path", "No such path", "The API has no such path. Schedules are at /schedules.")


def no_such_method(methods: Sequence[str]) -> Response:
    """405."""
    allowed = ", ".join(methods)
    detail = f"This path has the methods {allowed}."
    return problem(405, "no-such-method", "The path has no such method", detail, {"Allow": allowed})


def key_reused(field: str = "Idempotency-Key", *, creates: str = "schedule") -> Response:
    """422. `field` is the header, or the field of a schedule in a batch; `creates` is what the call would have made."""
    detail = f"This {field} came with another body, or with another call, before. Use a new key for a new {creates}."
    error = {"field": field, "problem": "used with another body or another call"}
    return problem(422, "key-reused", "The idempotency key was used before", detail, errors=[error])


def problem(
    status: int,
    kind: str,
    title: str,
    detail: str,
    headers: Mapping[str, str] | None = None,
    **more: object,
) -> Response:
    """Any of them."""
    body = {"type": f"urn:delayer:problem:{kind}", "title": title, "status": status, "detail": detail, **more}
    return response(status, body, headers, "application/problem+json")


def _fields(made: Response) -> list[str]:
    """The names of the wrong fields. Their values are the client's, and may be secrets."""
    return [error["field"] for error in json.loads(made["body"]).get("errors", [])]
