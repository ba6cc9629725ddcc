"""Answers of the calls about schedules, and how a schedule is shown in all of them."""

from collections.abc import Sequence

import msgspec

from delayer.accept.rules.request import KeyReused
from delayer.accept.rules.status import (
    Expired,
    Masked,
    MayBeRunning,
    NotFound,
    OnItsWay,
    Outline,
    Status,
    TooEarly,
    TooLate,
)
from delayer.flow.rules.block import Waiting
from delayer.history.model import LifecycleEvent, SeriesRefuses
from delayer.http.answers import Response, Shown, key_reused, known, problem, response
from delayer.ledger.model import LedgerRow, State
from delayer.schedule.instants import SECOND, Millis, format_instant
from delayer.schedule.schedule import to_json
from delayer.schedule.schedule_id import is_relaxed, is_undecided, point_in_time_of

Refusal = TooEarly | TooLate | MayBeRunning | Expired | NotFound | OnItsWay | Masked | SeriesRefuses | KeyReused


def created(schedule_id: str, point_in_time: Millis) -> Response:
    """201."""
    return response(201, shown_new(schedule_id, point_in_time), {"Location": f"/schedules/{schedule_id}"})


def put(schedule_id: str, point_in_time: Millis, previous: str | None) -> Response:
    """201 if no live schedule had the name, 200 if it took the place of one."""
    return replaced(schedule_id, point_in_time, previous) if previous else created(schedule_id, point_in_time)


def replaced(schedule_id: str, point_in_time: Millis, previous: str) -> Response:
    """200, with the id that is live now."""
    body = {**shown_new(schedule_id, point_in_time), "replaces": previous}
    return response(200, body, {"Content-Location": f"/schedules/{schedule_id}"})


def shown_new(schedule_id: str, point_in_time: Millis) -> Shown:
    """A schedule that was stored just now."""
    if is_undecided(schedule_id):
        return {"scheduleId": schedule_id, "state": State.UNDECIDED}
    return {
        "scheduleId": schedule_id,
        "pointInTime": format_instant(point_in_time),
        "state": State.SCHEDULED,
        **_lane(schedule_id),
    }


def _lane(schedule_id: str) -> Shown:
    """Nothing for the precise one, in which most are."""
    return {"precision": "relaxed"} if is_relaxed(schedule_id) else {}


def shown(status: Status) -> Shown:
    """A schedule, with all that is known of it where it was found."""
    timed = status.decided_as or status.schedule_id
    body: Shown = {
        "scheduleId": status.schedule_id,
        **({"decidedAs": status.decided_as} if status.decided_as else {}),
        **({} if is_undecided(timed) else {"pointInTime": format_instant(point_in_time_of(timed))}),
        "state": status.state,
        **_lane(status.schedule_id),
    }
    if status.overdue:
        body["overdue"] = True
    if status.row:
        body |= {name: value for name, value in shown_row(status.row).items() if name != "state"}
    if status.next_attempt_at:
        body["nextAttemptAt"] = format_instant(status.next_attempt_at)
    if status.waiting:
        body["waiting"] = shown_waiting(status.waiting)
    if status.outline:
        body |= _shown_outline(status.outline)
    if status.original:
        original = status.original.shown()
        schedule = original.schedule
        body |= {} if is_undecided(schedule.id) else {"pointInTime": format_instant(schedule.point_in_time)}
        body |= {"createdAt": format_instant(schedule.created_at), **to_json(schedule.definition)}
        body |= {"masked": True} if original.is_masked else {}
        body |= {} if original.is_complete else {"payloadOmitted": True}
    if status.history:
        body["history"] = [shown_event(event) for event in status.history]
    return body


def _shown_outline(outline: Outline) -> Shown:
    """A list says this of a schedule wherever it is."""
    target = known({"type": outline.action_type, "name": outline.target})
    texts = {"tags": outline.tags, "series": outline.series}
    return {
        "target": target,
        "createdAt": format_instant(outline.created_at),
        **({"group": outline.group} if outline.group else {}),
        **{name: msgspec.Raw(text.encode()) for name, text in texts.items() if text},
    }


def shown_waiting(waiting: Waiting) -> Shown:
    """The reason why a schedule waits although it is due."""
    until = format_instant(waiting.until) if waiting.until else None
    since = format_instant(waiting.since)
    return known({"for": waiting.kind, "reason": waiting.reason, "since": since, "until": until})


def shown_event(event: LifecycleEvent) -> Shown:
    """One line of a history."""
    return known(
        {
            "event": event.type,
            "at": format_instant(event.at),
            "estimated": True if event.is_estimate else None,
            "state": event.state,
            "attempt": event.attempt or None,
            "probe": True if event.is_probe else None,
            "latenessMs": event.lateness,
            "attemptLatenessMs": event.attempt_lateness,
            "nextAttemptAt": format_instant(event.next_attempt_at) if event.next_attempt_at else None,
            "detail": event.detail,
            "answer": msgspec.Raw(event.answer.encode()) if event.answer else None,
            "replacedBy": event.replaced_by,
            "decidedAs": event.decided_as,
            "by": event.by,
        }
    )


def shown_row(row: LedgerRow) -> Shown:
    """The row of the ledger about it."""
    is_open = row.state in (State.SCHEDULED, State.UNDECIDED)  # if it was redriven, it is no longer claimed
    return known(
        {
            "state": row.state,
            "since": None if is_open else format_instant(row.at),
            "name": row.name,
            "claimedAt": format_instant(row.claimed_at) if row.claimed_at and not is_open else None,
            "attempt": row.attempt or None,
            "probes": row.probes or None,
            "latenessMs": row.lateness if row.was_attempted else None,
            "detail": row.detail,
            "replacedBy": row.replaced_by,
            "decidedAs": row.decided_as,
            "stoppedAt": format_instant(row.stopped_at) if row.stopped_at else None,
        }
    )


def ended(row: LedgerRow, asked: str = "") -> Response:
    """200, for a schedule that was cancelled. `asked` is the id of the call: it may have been followed (ADR 0096)."""
    if not asked or asked == row.schedule_id:
        return response(200, shown(Status(schedule_id=row.schedule_id, state=row.state, row=row)))
    followed = Status(schedule_id=asked, decided_as=row.schedule_id, state=row.state, row=row)
    return response(200, shown(followed))


def stopping(row: LedgerRow) -> Response:
    """202: an attempt that runs already may still succeed."""
    return response(202, shown(Status(schedule_id=row.schedule_id, state=row.state, row=row)))


def page(schedules: Sequence[Status], cursor: str) -> Response:
    """200, with the cursor of the next page if there is one."""
    body: Shown = {"schedules": [shown(status) for status in schedules]}
    return response(200, {**body, "nextCursor": cursor} if cursor else body)


def not_found() -> Response:
    """404: never issued here, or issued to somebody else; the response does not say which."""
    return problem(
        404,
        "not-found",
        "No such schedule",
        "There is no schedule with the id after /schedules/, or the name after /schedules/by-name/.",
    )


def refused(refusal: Refusal) -> Response:
    """Why a schedule is not shown, or was not changed."""
    match refusal:
        case TooEarly():
            return too_early()
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


def _not_possible(refusal: OnItsWay | Masked | SeriesRefuses) -> Response:
    match refusal:
        case OnItsWay(soon):
            return on_its_way(soon=soon)
        case Masked():
            return masked()
        case SeriesRefuses(reason):
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
    """The schedule is an occurrence, and its series takes no change of it now."""
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
