"""Lifecycle events as CloudEvents 1.0, in JSON: what subscribers get and the journal keeps (ADR 0052)."""

from typing import Any, Final

import msgspec
from attrs import frozen

from delayer.core.events import Definition, Event
from delayer.core.instants import format_instant, parse_instant
from delayer.core.lifecycle import EventType, State
from delayer.core.schedule import Schedule
from delayer.core.schedule_id import address_of
from delayer.core.wire import Unreadable

SPEC: Final = "1.0"
PREFIX: Final = "delayer.schedule."  # of the types; `.v2` will follow the name if its data ever changes shape
MAX_BYTES: Final = 250_000  # SNS takes 262,144 with the attributes of the message
JSON_FIELDS: Final = {"action": "action", "payload": "payload", "onLate": "on_late", "tags": "tags"}


@frozen(kw_only=True)
class _Envelope:
    specversion: str
    id: str
    source: str
    type: str
    subject: str
    time: str
    sequence: str
    data: dict[str, msgspec.Raw]


def encode(event: Event) -> str:
    """The event as JSON. A payload too large to be told is left out; all that is JSON, if that does not do."""
    is_whole = event.definition is None or event.definition.is_whole
    text = _encoded(event, () if is_whole else ("payload",))
    for left_out in (("payload",), tuple(JSON_FIELDS)):
        if len(text.encode()) > MAX_BYTES:
            text = _encoded(event, left_out)
    return text


def _encoded(event: Event, left_out: tuple[str, ...]) -> str:
    envelope = {
        "specversion": SPEC,
        "id": event.id,
        "source": event.source,
        "type": PREFIX + event.type,
        "subject": event.schedule_id,
        "time": format_instant(event.at),
        "datacontenttype": "application/json",
        "sequence": f"{event.revision:05d}",
        "data": {**_shown(event), **(_defined(event.definition.schedule, left_out) if event.definition else {})},
    }
    return msgspec.json.encode(envelope).decode()


def _shown(event: Event) -> dict[str, Any]:
    known = {
        "scheduleId": event.schedule_id,
        "owner": event.owner,
        "state": event.state,
        "attempt": event.attempt or None,
        "latenessMs": event.lateness,
        "detail": event.detail,
        "name": event.name,
        "replacedBy": event.replaced_by,
    }
    return {name: value for name, value in known.items() if value not in (None, "")}


def _defined(schedule: Schedule, left_out: tuple[str, ...]) -> dict[str, Any]:
    fields = {name: field for name, field in JSON_FIELDS.items() if name not in left_out}
    raw = {name: msgspec.Raw(getattr(schedule, field).encode()) for name, field in fields.items()}
    return {
        "pointInTime": format_instant(schedule.point_in_time),
        "createdAt": format_instant(schedule.created_at),
        **({"group": schedule.group} if schedule.group else {}),
        **{name: value for name, value in raw.items() if bytes(value)},
        **({"payloadOmitted": True} if left_out else {}),
    }


def decode(text: str) -> Event:
    """The inverse of encode. Raises Unreadable with the reason."""
    try:
        envelope = msgspec.json.decode(text, type=_Envelope)
        if envelope.specversion != SPEC or not envelope.type.startswith(PREFIX):
            raise ValueError(f"{envelope.type!r} of CloudEvents {envelope.specversion!r}")
        address_of(envelope.subject)  # whoever keeps the event goes by it
        return _event(envelope)
    except (msgspec.MsgspecError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise Unreadable(f"not a lifecycle event: {error}") from error


def _event(envelope: _Envelope) -> Event:
    data = {name: _plain(name, value) for name, value in envelope.data.items()}
    return Event(
        id=envelope.id,
        type=EventType(envelope.type.removeprefix(PREFIX)),
        schedule_id=envelope.subject,
        owner=data["owner"],
        at=parse_instant(envelope.time),
        state=State(data["state"]),
        revision=int(envelope.sequence),
        attempt=data.get("attempt", 0),
        lateness=data.get("latenessMs"),
        detail=data.get("detail", ""),
        name=data.get("name", ""),
        replaced_by=data.get("replacedBy", ""),
        source=envelope.source,
        definition=_definition(envelope.subject, data) if "action" in data else None,
    )


def _plain(name: str, value: msgspec.Raw) -> Any:
    """JSON of the client's stays the bytes it was."""
    return bytes(value).decode() if name in JSON_FIELDS else msgspec.json.decode(value)


def _definition(schedule_id: str, data: dict[str, Any]) -> Definition:
    schedule = Schedule(
        id=schedule_id,
        owner=data["owner"],
        point_in_time=parse_instant(data["pointInTime"]),
        action_type=msgspec.json.decode(data["action"])["type"],
        action=data["action"],
        payload=data.get("payload", ""),
        created_at=parse_instant(data["createdAt"]),
        group=data.get("group", ""),
        on_late=data.get("onLate", ""),
        tags=data.get("tags", ""),
    )
    return Definition(schedule, is_whole="payloadOmitted" not in data)
