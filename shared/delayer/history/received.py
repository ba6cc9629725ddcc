"""A lifecycle event as a subscriber receives it (ADR 0091)."""

from collections.abc import Mapping
from typing import Any

import msgspec
from attrs import field, frozen

from delayer.history import cloud_events
from delayer.history.model import LifecycleEvent
from delayer.ledger.model import EventType, State
from delayer.schedule.instants import Millis, format_instant
from delayer.schedule.json_text import read_as_floats
from delayer.schedule.schedule_id import is_undecided, point_in_time_of


class NotDone(Exception):
    """A subscriber raises it if the event must come again. Its text is logged: it is in the author's own words."""


@frozen(kw_only=True)
class Event:
    """One transition of one schedule. What an event does not have is empty.

    Events come at least once, and in any order. The same event has the same `id` each time. Of two events of one
    schedule, the one with the higher `sequence` is the later one.
    """

    id: str  # the same if the event is delivered again: remember it where a second time would do harm
    type: EventType  # a text, such as "failed"; docs/use/events.md has them all
    schedule_id: str
    owner: str  # whose schedule it is
    state: State  # of the schedule after the transition; a text, such as "dead-lettered"
    at: Millis  # of the transition, in milliseconds since 1970, UTC
    sequence: int  # 0 for `scheduled` and `enqueued`
    point_in_time: Millis  # when it is due; 0 if that is not decided yet
    attempt: int = 0  # the attempt that the event is about
    is_probe: bool = False  # it failed, and was only to show whether the target answers again: it does not count
    lateness: Millis | None = None  # of the first attempt, once that was made
    attempt_lateness: Millis | None = None  # of the attempt that the event is about, if one was made
    detail: str = ""  # the answer of the target, or the reason
    name: str = ""
    replaced_by: str = ""  # the id of the schedule that took its place
    decided_as: str = ""  # `decided` only: the id of the schedule that has its time
    by: str = ""  # who asked for it: a caller of the API, or an operator
    group: str = ""  # `scheduled` only
    tags: Mapping[str, Any] = field(factory=dict)  # `scheduled` only
    action: Mapping[str, Any] = field(factory=dict)  # `scheduled` only; its secrets are masked
    payload: str = ""  # `scheduled` only: JSON, as the client sent it; empty if it is too large for an event
    cloud_event: Mapping[str, Any] = field(factory=dict)  # all of it, as it came

    @property
    def time(self) -> str:
        """The time of the transition as a text, such as 2026-11-21T09:00:00.301Z."""
        return format_instant(self.at)

    @property
    def due(self) -> str:
        """The point in time as a text; empty if that is not decided yet."""
        return format_instant(self.point_in_time) if self.point_in_time else ""


def decode(text: str) -> Event:
    """An event from the JSON in which it was published. Raises Malformed with the reason."""
    event = cloud_events.decode(text)
    schedule = event.original.schedule if event.original else None
    definition = schedule.definition if schedule else None
    return Event(
        id=event.id,
        type=event.type,
        schedule_id=event.schedule_id,
        owner=event.owner,
        state=event.state,
        at=event.at,
        sequence=event.revision,
        point_in_time=_point_in_time(event),
        attempt=event.attempt,
        is_probe=event.is_probe,
        lateness=event.lateness,
        attempt_lateness=event.attempt_lateness,
        detail=event.detail,
        name=event.name,
        replaced_by=event.replaced_by,
        decided_as=event.decided_as,
        by=event.by,
        group=definition.group if definition else "",
        tags=_object(definition.tags if definition else ""),
        action=_object(definition.action if definition else ""),
        payload=definition.payload if definition else "",
        cloud_event=read_as_floats(text),
    )


def _point_in_time(event: LifecycleEvent) -> Millis:
    """An id without a time has the instant of its acceptance, and so has its schedule: neither is when it is due."""
    if is_undecided(event.schedule_id):
        return 0
    return event.original.schedule.point_in_time if event.original else point_in_time_of(event.schedule_id)


def _object(text: str) -> Mapping[str, Any]:
    content = msgspec.json.decode(text) if text else {}
    return content if isinstance(content, dict) else {}
