"""Lifecycle events as CloudEvents 1.0, in JSON: what subscribers get and the journal stores (ADR 0052)."""

from collections.abc import Collection, Mapping
from typing import Any, Final

import msgspec
from attrs import frozen

from delayer.history.model import FROM_THE_TABLE, LifecycleEvent, Original
from delayer.ledger.model import EventType, State
from delayer.schedule.instants import Malformed, Millis, format_instant, parse_instant
from delayer.schedule.schedule import FIELDS, Schedule, from_json, to_json
from delayer.schedule.schedule_id import address_of, is_undecided

SPEC: Final = "1.0"
PREFIX: Final = "delayer.schedule."  # of the types; `.v2` will follow the name if its data ever changes shape
MAX_BYTES: Final = 250_000  # SNS takes 262,144 with the attributes of the message
PAYLOAD: Final = ("payload",)
ALL_JSON: Final = tuple(one.wire_name for one in FIELDS if one.is_json)
SERIES: Final = "series"  # it is small, and says in which list of the journal the schedule belongs
CONTENT: Final = "application/json"
LARGE: Final = tuple(name for name in ALL_JSON if name != SERIES)


_RAW: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])


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


def encode(event: LifecycleEvent, source: str = "") -> str:
    """The event as JSON, of this source, or of its own.

    A payload that is too large is left out; all that may be large, if the event still is.
    """
    complete = event.original is None or event.original.is_complete
    source = source or event.source
    text = _encoded(event, source, () if complete else PAYLOAD)
    for left_out in (PAYLOAD, LARGE):
        if len(text.encode()) > MAX_BYTES:
            text = _encoded(event, source, left_out)
    return text


def _encoded(event: LifecycleEvent, source: str, left_out: Collection[str]) -> str:
    envelope = {
        "specversion": SPEC,
        "id": event.id,
        "source": source,
        "type": PREFIX + event.type,
        "subject": event.schedule_id,
        "time": format_instant(event.at),
        "datacontenttype": CONTENT,
        "sequence": f"{event.revision:05d}",
        "data": {**_data(event), **(_original_data(event.original.shown(), left_out) if event.original else {})},
    }
    return msgspec.json.encode(envelope).decode()


def _data(event: LifecycleEvent) -> dict[str, Any]:
    known = {
        "scheduleId": event.schedule_id,
        "owner": event.owner,
        "state": event.state,
        "attempt": event.attempt or None,
        "probe": True if event.is_probe else None,
        "latenessMs": event.lateness,
        "attemptLatenessMs": event.attempt_lateness,
        "nextAttemptAt": format_instant(event.next_attempt_at) if event.next_attempt_at else None,
        "detail": event.detail,
        "answer": msgspec.Raw(event.answer.encode()) if event.answer else None,
        "name": event.name,
        "replacedBy": event.replaced_by,
        "decidedAs": event.decided_as,
        "by": event.by,
        "enqueuedAt": format_instant(event.enqueued_at) if event.enqueued_at else None,
        "claimedAt": format_instant(event.claimed_at) if event.claimed_at else None,
    }
    return {name: value for name, value in known.items() if value not in (None, "")}


def _original_data(original: Original, left_out: Collection[str]) -> dict[str, Any]:
    """Its secrets masked: subscribers and the journal's readers are not the target (ADR 0067)."""
    schedule = original.schedule
    return {
        **({} if is_undecided(schedule.id) else {"pointInTime": format_instant(schedule.point_in_time)}),
        "createdAt": format_instant(schedule.created_at),
        **to_json(schedule.definition, left_out),
        **({"masked": True} if original.is_masked else {}),
        **({"payloadOmitted": True} if left_out else {}),
    }


def decode(text: str) -> LifecycleEvent:
    """The inverse of encode. Raises Malformed with the reason."""
    try:
        envelope = msgspec.json.decode(text, type=_Envelope)
        if envelope.specversion != SPEC or not envelope.type.startswith(PREFIX):
            raise ValueError(f"{envelope.type!r} of CloudEvents {envelope.specversion!r}")
        address_of(envelope.subject)  # raises if it is not an id: the journal stores the event under it
        return _event(envelope)
    except (msgspec.MsgspecError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise Malformed(f"not a lifecycle event: {error}") from error


def series_in(text: str) -> str:
    """Of which series the schedule of an event is an occurrence, as JSON; empty if of none. Raises as decode.

    Also of one whose definition was too large for its event.
    """
    try:
        return bytes(msgspec.json.decode(text, type=_Envelope).data.get(SERIES, b"")).decode()
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise Malformed(f"not a lifecycle event: {error}") from error


def outlined(text: str) -> str:
    """As `shortened`, without the payload. Raises msgspec's errors."""
    envelope = _RAW.decode(text)
    data = _RAW.decode(envelope["data"])
    data.pop("payload", None)
    return shortened(msgspec.json.encode({**envelope, "data": {**data, "payloadOmitted": True}}).decode())


def shortened(text: str) -> str:
    """A beginning without what its owner and its id tell: it is stored under them. Raises msgspec's errors."""
    envelope = _RAW.decode(text)
    data = _RAW.decode(envelope.pop("data"))
    subject, owner = msgspec.json.decode(envelope["subject"]), msgspec.json.decode(data["owner"])
    around, within = _implied(subject, owner)
    if bytes(data.get("createdAt", b"")) == bytes(envelope["time"]):
        del data["createdAt"]
    left = {name: value for name, value in envelope.items() if around.get(name) != bytes(value)}
    left_within = {name: value for name, value in data.items() if within.get(name) != bytes(value)}
    return msgspec.json.encode({**left, "data": left_within}).decode()


def lengthened(text: str, schedule_id: str, owner: str) -> str:
    """The inverse of shortened, up to the order of its members. Raises msgspec's errors."""
    envelope = _RAW.decode(text)
    data = _RAW.decode(envelope.pop("data"))
    around, within = _implied(schedule_id, owner)
    complete = {name: msgspec.Raw(value) for name, value in within.items()} | {"createdAt": envelope["time"]} | data
    return msgspec.json.encode(
        {**{name: msgspec.Raw(value) for name, value in around.items()}, **envelope, "data": complete}
    ).decode()


def _implied(schedule_id: str, owner: str) -> tuple[dict[str, bytes], dict[str, bytes]]:
    """The fields that every beginning of this schedule has, as JSON: in its envelope, and in its data."""
    state = State.UNDECIDED if is_undecided(schedule_id) else State.SCHEDULED
    around = {
        "specversion": SPEC,
        "type": PREFIX + EventType.SCHEDULED,
        "subject": schedule_id,
        "datacontenttype": CONTENT,
        "sequence": f"{FROM_THE_TABLE:05d}",
    }
    within = {"scheduleId": schedule_id, "owner": owner, "state": state}
    return (
        {name: msgspec.json.encode(value) for name, value in around.items()},
        {name: msgspec.json.encode(value) for name, value in within.items()},
    )


def _event(envelope: _Envelope) -> LifecycleEvent:
    data = {name: msgspec.json.decode(value) for name, value in envelope.data.items() if name not in ALL_JSON}
    return LifecycleEvent(
        id=envelope.id,
        type=EventType(envelope.type.removeprefix(PREFIX)),
        schedule_id=envelope.subject,
        owner=data["owner"],
        at=parse_instant(envelope.time),
        state=State(data["state"]),
        revision=int(envelope.sequence),
        attempt=data.get("attempt", 0),
        is_probe=data.get("probe", False),
        lateness=data.get("latenessMs"),
        attempt_lateness=data.get("attemptLatenessMs"),
        next_attempt_at=_instant(data, "nextAttemptAt"),
        detail=data.get("detail", ""),
        answer=bytes(envelope.data["answer"]).decode() if "answer" in envelope.data else "",
        name=data.get("name", ""),
        replaced_by=data.get("replacedBy", ""),
        decided_as=data.get("decidedAs", ""),
        by=data.get("by", ""),
        enqueued_at=_instant(data, "enqueuedAt"),
        claimed_at=_instant(data, "claimedAt"),
        source=envelope.source,
        original=_original(envelope.subject, data, envelope.data) if "action" in envelope.data else None,
    )


def _instant(data: Mapping[str, Any], name: str) -> Millis:
    """0 if it does not have it."""
    return parse_instant(data[name]) if name in data else 0


def _original(schedule_id: str, data: Mapping[str, Any], raw: Mapping[str, msgspec.Raw]) -> Original:
    schedule = Schedule(
        id=schedule_id,
        owner=data["owner"],
        point_in_time=parse_instant(data["createdAt" if is_undecided(schedule_id) else "pointInTime"]),
        created_at=parse_instant(data["createdAt"]),
        definition=from_json(raw),
    )
    return Original(schedule=schedule, is_complete="payloadOmitted" not in data, is_masked="masked" in data)
