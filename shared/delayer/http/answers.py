"""Answers: what is 2xx, and RFC 9457 problems, each with what to do (ADR 0028)."""

import json
import traceback
from collections.abc import Callable, Mapping, Sequence

import msgspec
from attrs import field, frozen

from delayer.engines.ports import Observer, Unavailable
from delayer.http.problem import Problem
from delayer.http.requests import ApiRequest, authorization

Shown = dict[str, object]


@frozen(kw_only=True)
class Response:
    """The answers to calls, whatever carries them to the client."""

    status: int
    headers: Mapping[str, str] = field(factory=dict)
    body: str = ""  # JSON, sent in UTF-8


def response(
    status: int, body: object, headers: Mapping[str, str] | None = None, content_type: str = "application/json"
) -> Response:
    """With a body."""
    return Response(status=status, headers={"Content-Type": content_type, **(headers or {})}, body=_encoded(body))


def _encoded(body: object) -> str:
    """A payload keeps its bytes. Text that is not valid Unicode, which a client may have sent, is escaped."""
    try:
        return msgspec.json.encode(body).decode()
    except UnicodeEncodeError:
        return json.dumps(body)


def known(values: Shown) -> Shown:
    """Without what is not known of it."""
    return {name: value for name, value in values.items() if value not in (None, "")}


def results(responses: Sequence[Response]) -> Response:
    """200, with what a POST of each would have been answered."""
    return response(200, {"results": [_result(one) for one in responses]})


def _result(one: Response) -> Shown:
    return {"status": one.status, "schedule" if one.status == 201 else "problem": msgspec.Raw(one.body.encode())}


def of_anybody(answer: Callable[[ApiRequest], Response]) -> Callable[[ApiRequest], Response]:
    """The same, once it is known that the caller may call: an open API answers its own machine only (ADR 0064)."""
    known = authorization()

    def checked(request: ApiRequest) -> Response:
        known.check(request)
        return answer(request)

    return checked


def of_owners(answer: Callable[[ApiRequest, str], Response]) -> Callable[[ApiRequest], Response]:
    """The same for callers that are known, too. `answer` is given the request, and its owner."""
    known = authorization()
    return of_anybody(lambda request: answer(request, known.owner_of(request)))


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
    if made.status >= 400:
        observer.count("Refused")
        observer.note("refused", status=made.status, fields=_fields(made))
    return made


def refused(error: Problem) -> Response:
    """Answers with the text of the error."""
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
    return [error["field"] for error in json.loads(made.body).get("errors", [])]
