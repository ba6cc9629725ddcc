"""Requests and answers of an API Gateway HTTP API, payload format 2.0; errors are RFC 9457 problems (ADR 0028)."""

import base64
import json
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, Final

from delayer.core.admission import FieldError, Invalid, NotJson, TooLarge
from delayer.core.instants import format_instant
from delayer.core.lifecycle import State
from delayer.core.schedule import Schedule
from delayer.ports import Observer, Unavailable

Handler = Callable[[dict[str, Any], Any], dict[str, Any]]
Answer = dict[str, Any]

ANONYMOUS: Final = "anonymous"  # the owner where the API is open, on one machine


def body_of(event: Mapping[str, Any]) -> bytes:
    """The body as the client sent it."""
    body = event.get("body") or ""
    return base64.b64decode(body) if event.get("isBase64Encoded") else body.encode()


def owner_of(event: Mapping[str, Any]) -> str:
    """The authenticated user or role. A role's session is left out: the next one is the same owner."""
    authorizer = event.get("requestContext", {}).get("authorizer") or {}
    arn = str((authorizer.get("iam") or {}).get("userArn") or ANONYMOUS)
    return arn.rpartition("/")[0] if ":assumed-role/" in arn else arn


def created(schedule: Schedule) -> Answer:
    """201."""
    body = {
        "scheduleId": schedule.id,
        "pointInTime": format_instant(schedule.point_in_time),
        "state": State.SCHEDULED,
    }
    return _answer(201, "application/json", body, {"Location": f"/schedules/{schedule.id}"})


def answers_problems(observer: Observer) -> Callable[[Handler], Handler]:
    """Turns what a use case raises into a problem that says what to do."""

    def wrap(handler: Handler) -> Handler:
        @wraps(handler)
        def call(event: dict[str, Any], context: Any) -> Answer:
            try:
                return handler(event, context)
            except NotJson as error:
                answer = _problem(400, "not-json", "The body is not a JSON object", str(error))
            except TooLarge as error:
                answer = _problem(413, "body-too-large", "The body is too large", str(error))
            except Invalid as error:
                answer = _invalid(error)
            except Unavailable as error:
                observer.warn("not accepted", error=str(error))
                detail = "Whether the schedule was stored is not known. Try again."
                return _problem(503, "unavailable", "The store did not answer", detail, {"Retry-After": "1"})
            observer.count("Refused")
            observer.note("refused", status=answer["statusCode"], fields=_fields(answer))
            return answer

        return call

    return wrap


def _fields(answer: Answer) -> list[str]:
    """The names of the wrong fields. Their values are the client's, and may be secrets."""
    return [error["field"] for error in json.loads(answer["body"]).get("errors", [])]


def _invalid(error: Invalid) -> Answer:
    detail = "; ".join(f"{one.field or 'the body'}: {one.problem}" for one in error.errors[:3])
    more = len(error.errors) - 3
    detail += f"; and {more} more" if more > 0 else ""
    errors = [_shown(one) for one in error.errors]
    return _problem(422, "invalid-fields", "One or more fields are wrong", detail, errors=errors)


def _shown(error: FieldError) -> dict[str, str]:
    shown = {"field": error.field, "problem": error.problem}
    return {**shown, "allowed": error.allowed} if error.allowed else shown


def _problem(
    status: int,
    kind: str,
    title: str,
    detail: str,
    headers: Mapping[str, str] | None = None,
    **more: object,
) -> Answer:
    body = {"type": f"urn:delayer:problem:{kind}", "title": title, "status": status, "detail": detail, **more}
    return _answer(status, "application/problem+json", body, headers or {})


def _answer(status: int, content_type: str, body: Mapping[str, object], headers: Mapping[str, str]) -> Answer:
    return {
        "statusCode": status,
        "headers": {"Content-Type": content_type, **headers},
        "body": json.dumps(body),
    }
