"""Responses that are 2xx, and how a schedule is shown in all of them."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from delayer.core.actions.registration import Registration, name_of
from delayer.core.api.status import Outline, Status
from delayer.core.flow.waiting import Waiting
from delayer.core.history.events import Event
from delayer.core.jobs.job import JobRow
from delayer.core.ledger.lifecycle import State
from delayer.core.ledger.row import LedgerRow
from delayer.core.schedule import definition
from delayer.core.schedule.instants import Millis, format_instant
from delayer.core.schedule.schedule_id import is_relaxed, is_undecided, point_in_time_of

Response = dict[str, Any]
Shown = dict[str, object]


def response(
    status: int, body: object, headers: Mapping[str, str] | None = None, content_type: str = "application/json"
) -> Response:
    """As API Gateway takes it."""
    return {
        "statusCode": status,
        "headers": {"Content-Type": content_type, **(headers or {})},
        "body": _encoded(body),
    }


def _encoded(body: object) -> str:
    """A payload keeps its bytes. Text that is not valid Unicode, which a client may have sent, is escaped."""
    try:
        return msgspec.json.encode(body).decode()
    except UnicodeEncodeError:
        return json.dumps(body)


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


def actions(registrations: Sequence[Registration]) -> Response:
    """200, with the action types. Their schemas go out as they were registered."""
    return response(200, {"actions": [_shown_action(one) for one in registrations]})


def _shown_action(registration: Registration) -> Shown:
    action = registration.action
    body: Shown = {
        "type": action.type,
        "stack": name_of(registration.stack),
        "schema": msgspec.Raw(action.schema.encode()),
        "largestPayload": action.largest_payload,
    }
    return body | ({"payload": msgspec.Raw(action.payload.encode())} if action.payload else {})


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
        body |= {"createdAt": format_instant(schedule.created_at), **definition.to_json(schedule.definition)}
        body |= {"masked": True} if original.is_masked else {}
        body |= {} if original.is_complete else {"payloadOmitted": True}
    if status.history:
        body["history"] = [shown_event(event) for event in status.history]
    return body


def _shown_outline(outline: Outline) -> Shown:
    """What a list says of a schedule wherever it is."""
    target = _known({"type": outline.action_type, "name": outline.target})
    texts = {"tags": outline.tags, "series": outline.series}
    return {
        "target": target,
        "createdAt": format_instant(outline.created_at),
        **({"group": outline.group} if outline.group else {}),
        **{name: msgspec.Raw(text.encode()) for name, text in texts.items() if text},
    }


def shown_waiting(waiting: Waiting) -> Shown:
    """What keeps a schedule back although it is due."""
    until = format_instant(waiting.until) if waiting.until else None
    since = format_instant(waiting.since)
    return _known({"for": waiting.kind, "reason": waiting.reason, "since": since, "until": until})


def shown_event(event: Event) -> Shown:
    """One line of a history."""
    return _known(
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
    """What the ledger says about it."""
    is_open = row.state in (State.SCHEDULED, State.UNDECIDED)  # if it was redriven, it is no longer claimed
    return _known(
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


def _known(values: Shown) -> Shown:
    return {name: value for name, value in values.items() if value not in (None, "")}


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


def results(responses: Sequence[Response]) -> Response:
    """200, with what a POST of each would have been answered."""
    return response(200, {"results": [_result(one) for one in responses]})


def _result(one: Response) -> Shown:
    kind = "schedule" if one["statusCode"] == 201 else "problem"
    return {"status": one["statusCode"], kind: msgspec.Raw(one["body"].encode())}


def job_started(job: JobRow) -> Response:
    """202, with the job that cancels in the background."""
    return response(202, shown_job(job), {"Location": f"/jobs/{job.job_id}"})


def shown_job(job: JobRow) -> Shown:
    """A job with its counts so far."""
    body: Shown = {
        "jobId": job.job_id,
        "group": job.group,
        "state": "done" if job.finished_at else "running",
        "found": job.found,
        "cancelled": job.cancelled,
        "handedOver": job.handed_over,
        "ended": job.ended,
        "createdAt": format_instant(job.created_at),
    }
    return {**body, "finishedAt": format_instant(job.finished_at)} if job.finished_at else body
