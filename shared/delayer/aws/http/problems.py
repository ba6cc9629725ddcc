"""Responses that are not 2xx: RFC 9457 problems, each with what to do (ADR 0028)."""

import json
import traceback
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any

from delayer.aws.http.authorization import MissingScope, scope_check
from delayer.aws.http.loopback import NotLoopback, source_check
from delayer.aws.http.requests import Unknown
from delayer.aws.http.responses import Response, response, shown_row
from delayer.core.api.cancellation import Expired, Masked, MayBeRunning, NotFound, OnItsWay, TooLate
from delayer.core.api.quota import OverQuota
from delayer.core.api.request import FieldError, Invalid, KeyReused, NotJson, TooLarge
from delayer.core.ledger.lifecycle import State
from delayer.core.ledger.row import LedgerRow
from delayer.core.owners.deciding import Forbidden, NotAllowed
from delayer.core.schedule.instants import SECOND, Millis, format_instant
from delayer.core.series.series import Refused
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
    except OverQuota as error:
        made = over_quota(error)
    except MissingScope as error:
        made = problem(403, "missing-scope", "The token may not do this", str(error), scope=error.scope)
    except NotAllowed as error:
        made = forbidden(error.forbidden)
    except (NotJson, TooLarge, Invalid, Unknown) as error:
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


def refused(error: NotJson | TooLarge | Invalid | Unknown) -> Response:
    """The client's mistake."""
    match error:
        case NotJson():
            return problem(400, "not-json", "The body is not a JSON object", str(error))
        case TooLarge():
            return problem(413, "body-too-large", "The body is too large", str(error))
        case NotLoopback():
            return problem(403, "not-from-loopback", "The API is open to its own machine only", str(error))
        case Unknown():
            return problem(403, "unknown-caller", "The caller is not known", str(error))
    detail = "; ".join(f"{one.field or 'the body'}: {one.problem}" for one in error.errors[:3])
    more = len(error.errors) - 3
    detail += f"; and {more} more" if more > 0 else ""
    errors = [_shown(one) for one in error.errors]
    return problem(422, "invalid-fields", "One or more fields are wrong", detail, errors=errors)


def unexpected() -> Response:
    """500."""
    detail = "This is a defect of Delayer; its operators have an alarm. The request may or may not have been applied."
    return problem(500, "unexpected", "Something unexpected happened", detail)


def unavailable() -> Response:
    """503."""
    detail = "The request may or may not have been applied; retry it."
    return problem(503, "unavailable", "The store did not answer", detail, {"Retry-After": "1"})


def over_quota(error: OverQuota) -> Response:
    """429."""
    headers = {"Retry-After": str(-(-error.retry_after // SECOND))}
    return problem(429, "over-quota", "A quota is used up", str(error), headers)


def forbidden(found: Forbidden) -> Response:
    """403, with the rule of the owner policy that is against it."""
    detail = f"The operators of this stack do not allow it, by the rule {found.rule} of the owner policy: {found.text}."
    errors = [_shown(FieldError(field=found.field, problem=f"not allowed: {found.text}", allowed=found.allowed))]
    title = "The owner policy forbids it"
    return problem(403, "forbidden-by-policy", title, detail, rule=found.rule, errors=errors)


def not_found() -> Response:
    """404: never issued here, or issued to somebody else; the response does not say which."""
    return problem(
        404,
        "not-found",
        "No such schedule",
        "There is no schedule with the id after /schedules/, or the name after /schedules/by-name/.",
    )


def no_job() -> Response:
    """404."""
    return problem(404, "not-found", "No such job", "There is no job with this id, or it is more than 30 days old.")


def no_such_path() -> Response:
    """404."""
    return problem(404, "no-such-path", "No such path", "The API has no such path. Schedules are at /schedules.")


def no_such_method(methods: Sequence[str]) -> Response:
    """405."""
    allowed = ", ".join(methods)
    detail = f"This path has the methods {allowed}."
    return problem(405, "no-such-method", "The path has no such method", detail, {"Allow": allowed})


Refusal = TooLate | MayBeRunning | Expired | NotFound | OnItsWay | Masked | Refused | KeyReused


def not_replaced(refusal: Refusal) -> Response:
    """Why a schedule was not replaced by another."""
    match refusal:
        case TooLate(row):
            return too_late(row)
        case MayBeRunning(row=row, wait=wait):
            return may_be_running(row, wait)
        case Expired():
            return expired()
        case NotFound():
            return not_found()
        case KeyReused():
            return key_reused(creates="change")
    return _not_possible(refusal)


def _not_possible(refusal: OnItsWay | Masked | Refused) -> Response:
    match refusal:
        case OnItsWay(soon):
            return on_its_way(soon=soon)
        case Masked():
            return masked()
        case Refused(reason):
            return series_refuses(reason)


def expired() -> Response:
    """410."""
    detail = "It was due more than 29 days ago, so it can no longer be changed, and its outcome may not be known."
    return problem(410, "expired", "The schedule is too old", detail)


def too_late(row: LedgerRow) -> Response:
    """409: its claim is taken, or it has another end. The response says which, and since when."""
    known = {name: value for name, value in shown_row(row).items() if name != "detail"}
    if row.state is State.CLAIMED:
        detail = f"It was claimed at {format_instant(row.claimed_at)}, and has been or will be handed over."
        return problem(409, "handed-over", "The schedule is handed over", detail, None, **known)
    why = f": {row.detail}" if row.detail else ""
    detail = f"It has been {row.state} since {format_instant(row.at)}{why}."
    return problem(409, "ended", "The schedule has ended", detail, None, **known)


def may_be_running(row: LedgerRow, wait: Millis) -> Response:
    """409: an attempt from before its end, or before its redrive, may still succeed."""
    known = {name: value for name, value in shown_row(row).items() if name != "detail"}
    detail = "An attempt of it may still be under way, so nothing was changed. Repeat the call after Retry-After."
    headers = {"Retry-After": str(-(-wait // SECOND))}
    return problem(409, "may-be-running", "An attempt may be under way", detail, headers, **known)


def too_early() -> Response:
    """409."""
    detail = "There is no attempt to stop yet. Cancel it instead."
    return problem(409, "not-handed-over", "The schedule still waits", detail)


def series_refuses(reason: str) -> Response:
    """It is an occurrence, and its series takes no change of it now."""
    detail = f"It is an occurrence of a series, and nothing was changed: {reason}."
    return problem(409, "series-refuses", "The series takes no such change", detail)


def on_its_way(*, soon: bool) -> Response:
    """409. `soon`: in a second it may be another answer."""
    detail = "It has left the table and is on its way to its executor. Its definition cannot be read there."
    advice = " Try again in a second; or cancel it, and POST it again." if soon else " Cancel it, and POST it again."
    return problem(
        409, "on-its-way", "The schedule is on its way", detail + advice, {"Retry-After": "1"} if soon else None
    )


def masked() -> Response:
    """409."""
    detail = (
        "It has left the table and is on its way to its executor. The journal has its definition with the secrets "
        "masked, and a mask must not be sent to a target. Cancel it, and POST it again with its secrets."
    )
    return problem(409, "masked", "The definition is known only with its secrets masked", detail)


def name_taken(schedule_id: str) -> Response:
    """409."""
    detail = "A live schedule has this name. PUT replaces it."
    return problem(409, "name-taken", "The name is taken", detail, scheduleId=schedule_id)


def name_exists(schedule_id: str) -> Response:
    """412, for `If-None-Match: *`."""
    detail = "A live schedule has this name, and the call asked to create only."
    return problem(412, "name-taken", "The name is taken", detail, scheduleId=schedule_id)


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


def _shown(error: FieldError) -> dict[str, str]:
    shown = {"field": error.field, "problem": error.problem}
    return {**shown, "allowed": error.allowed} if error.allowed else shown
