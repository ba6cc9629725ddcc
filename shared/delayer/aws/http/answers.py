"""Answers that are 2xx, and how a schedule is shown in all of them."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from delayer.core.events import Event
from delayer.core.instants import Millis, format_instant
from delayer.core.ledger import LedgerRow
from delayer.core.lifecycle import State
from delayer.core.schedule import Schedule
from delayer.core.schedule_id import address_of
from delayer.core.whereabouts import Found
from delayer.ports import JobRow

Answer = dict[str, Any]


def answer(
    status: int, body: object, headers: Mapping[str, str] | None = None, content_type: str = "application/json"
) -> Answer:
    """As API Gateway takes it."""
    return {
        "statusCode": status,
        "headers": {"Content-Type": content_type, **(headers or {})},
        "body": _encoded(body),
    }


def _encoded(body: object) -> str:
    """A payload stays the bytes it was. Text that is no Unicode, which a client may have sent, is escaped."""
    try:
        return msgspec.json.encode(body).decode()
    except UnicodeEncodeError:
        return json.dumps(body)


def created(schedule_id: str, point_in_time: Millis) -> Answer:
    """201."""
    headers = {"Location": f"/schedules/{schedule_id}"}
    return answer(201, shown_new(schedule_id, point_in_time), headers)


def put(schedule: Schedule, previous: str | None) -> Answer:
    """201 if it is the first of its name that is live, 200 if it took another's place."""
    return created(schedule.id, schedule.point_in_time) if previous is None else replaced(schedule, previous)


def replaced(schedule: Schedule, previous: str) -> Answer:
    """200, with the id that is live now."""
    body = {**shown_new(schedule.id, schedule.point_in_time), "replaces": previous}
    return answer(200, body, {"Content-Location": f"/schedules/{schedule.id}"})


def shown_new(schedule_id: str, point_in_time: Millis) -> dict[str, object]:
    """A schedule that was stored just now."""
    return {"scheduleId": schedule_id, "pointInTime": format_instant(point_in_time), "state": State.SCHEDULED}


def shown(found: Found) -> dict[str, object]:
    """A schedule, with all that is known of it where it was found."""
    body: dict[str, object] = {
        "scheduleId": found.schedule_id,
        "pointInTime": format_instant(address_of(found.schedule_id).due),
        "state": found.state,
    }
    if found.overdue:
        body["overdue"] = True
    if found.row:
        body |= {name: value for name, value in shown_row(found.row).items() if name != "state"}
    if found.definition:
        body |= shown_definition(found.definition.schedule)
        body |= {} if found.definition.is_whole else {"payloadOmitted": True}
    if found.history:
        body["history"] = [shown_event(event) for event in found.history]
    return body


def shown_event(event: Event) -> dict[str, object]:
    """One line of a history."""
    known: dict[str, object] = {
        "event": event.type,
        "at": format_instant(event.at),
        "state": event.state,
        "attempt": event.attempt or None,
        "latenessMs": event.lateness,
        "detail": event.detail,
        "replacedBy": event.replaced_by,
    }
    return {name: value for name, value in known.items() if value not in (None, "")}


def shown_row(row: LedgerRow) -> dict[str, object]:
    """What the ledger says of it."""
    known: dict[str, object] = {
        "state": row.state,
        "since": format_instant(row.at) if row.state is not State.SCHEDULED else None,
        "name": row.name,
        "claimedAt": format_instant(row.claimed_at) if row.claimed_at else None,
        "attempt": row.attempt or None,
        "latenessMs": row.lateness if row.was_attempted else None,
        "detail": row.detail,
        "replacedBy": row.replaced_by,
        "stoppedAt": format_instant(row.stopped_at) if row.stopped_at else None,
    }
    return {name: value for name, value in known.items() if value not in (None, "")}


def shown_definition(schedule: Schedule) -> dict[str, object]:
    """What its client sent; the payload as the bytes it was sent in."""
    known = {
        "pointInTime": format_instant(schedule.point_in_time),
        "createdAt": format_instant(schedule.created_at),
        "group": schedule.group,
        "action": msgspec.Raw(schedule.action.encode()),
        "payload": msgspec.Raw(schedule.payload.encode()) if schedule.payload else None,
        "onLate": msgspec.Raw(schedule.on_late.encode()) if schedule.on_late else None,
        "tags": msgspec.Raw(schedule.tags.encode()) if schedule.tags else None,
    }
    return {name: value for name, value in known.items() if value not in (None, "")}


def ended(row: LedgerRow) -> Answer:
    """200, for a schedule that was cancelled."""
    return answer(200, shown(Found(schedule_id=row.schedule_id, state=row.state, row=row)))


def stopping(row: LedgerRow) -> Answer:
    """202: an attempt that runs already may still succeed."""
    return answer(202, shown(Found(schedule_id=row.schedule_id, state=row.state, row=row)))


def page(schedules: Sequence[Found], cursor: str) -> Answer:
    """200, with the cursor of the next page if there is one."""
    body: dict[str, object] = {"schedules": [shown(found) for found in schedules]}
    return answer(200, {**body, "nextCursor": cursor} if cursor else body)


def results(told: Sequence[Answer]) -> Answer:
    """200, with what a POST of each would have been answered."""
    return answer(200, {"results": [_result(one) for one in told]})


def _result(told: Answer) -> dict[str, object]:
    kind = "schedule" if told["statusCode"] == 201 else "problem"
    return {"status": told["statusCode"], kind: msgspec.Raw(told["body"].encode())}


def begun(job: JobRow) -> Answer:
    """202."""
    return answer(202, shown_job(job), {"Location": f"/jobs/{job.job_id}"})


def shown_job(job: JobRow) -> dict[str, object]:
    """A job with its counts so far."""
    body: dict[str, object] = {
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
