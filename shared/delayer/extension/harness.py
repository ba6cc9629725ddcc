"""Tests an executor or a subscriber as Delayer calls it, without AWS (docs/extend/harness.md).

    result = run(handler, {"channel": "#reports"}, payload={"text": "Done."}, attempt=2)
    assert deliver(handler, event("failed", detail="HTTP 500")) == []

The function is the real one, and so is all that Delayer does before it: the API's checks of the action and the payload,
and the reading of the message or the event.
"""

import json
import sys
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import module_from_spec, spec_from_file_location
from itertools import count
from pathlib import Path
from typing import Any, Final

from attrs import frozen

from delayer.accept.rules.admission import admit
from delayer.actions.rules.model import Result
from delayer.engines.memory import ManualClock, MemoryObserver
from delayer.engines.ports import ReceivedMessage
from delayer.extension.executor import LambdaExecutor
from delayer.extension.fake_target import Answer, FakeTarget, Received
from delayer.extension.subscriber import Subscriber
from delayer.history import cloud_events, received
from delayer.history.model import LifecycleEvent, Original
from delayer.history.received import Event
from delayer.http.problem import Invalid
from delayer.ledger.model import EventType, State
from delayer.schedule.instants import MINUTE, format_instant, parse_instant
from delayer.schedule.messages import ExecutorMessage
from delayer.schedule.schedule import Definition, Schedule
from delayer.schedule.schedule_id import KEY_BYTES, RANDOM_BYTES, Address, mint
from delayer.wiring.use_cases import deliver as deliver_events

__all__ = [
    "Answer",
    "FakeTarget",
    "MemoryObserver",
    "NotAccepted",
    "Received",
    "clock_at",
    "deliver",
    "event",
    "handler_in",
    "run",
]

OWNER: Final = "arn:aws:iam::123456789012:user/somebody"
TIME: Final = "2026-11-21T09:00:00Z"
NOTHING: Final = object()  # in the place of a payload: None is one
_numbers: Final = count(1)  # so that each schedule and each event has an id of its own


class NotAccepted(AssertionError):
    """The API would not accept such a schedule. The text is what it would answer."""


@frozen(kw_only=True)
class HarnessPorts:
    """A function finds these as `handler.ports`: a clock that stands still, and logs and metrics in memory."""

    clock: ManualClock
    observer: MemoryObserver


def handler_in(folder: Path | str) -> Any:
    """The handler in the `app.py` of this folder. Each call loads it anew, as a cold start does."""
    spec = spec_from_file_location(f"app_{next(_numbers)}", Path(folder) / "app.py")
    if spec is None or spec.loader is None:
        raise FileNotFoundError(Path(folder) / "app.py")
    module = module_from_spec(spec)
    sys.modules[spec.name] = module  # the names in its annotations are looked up there
    spec.loader.exec_module(module)
    return module.handler


def clock_at(time: str = TIME) -> ManualClock:
    """A clock that stands at this time. `clock.move(1000)` moves it by a second."""
    return ManualClock(parse_instant(time))


def run(
    handler: LambdaExecutor[Any],
    action: Mapping[str, Any] | None = None,
    *,
    payload: Any = NOTHING,
    attempt: int = 1,
    owner: str = OWNER,
    clock: ManualClock | None = None,
    observer: MemoryObserver | None = None,
) -> Result:
    """One attempt of a schedule that is due now: what the function returns. What it raises is raised.

    `action` are the fields of the action, without its type, as a client would send them. Raises NotAccepted if the API
    would refuse them or the payload. `observer` gets the logs and the metrics.
    """
    at = clock or clock_at()
    schedule = _schedule(at, owner, _definition(handler, {} if action is None else action, payload, at))
    with _ports(handler, HarnessPorts(clock=at, observer=observer or MemoryObserver())):
        result = handler.target(ExecutorMessage(schedule=schedule, nonce="n", fence="f", attempt=attempt))
    if not isinstance(result, Result):
        raise TypeError(f"the function returned {result!r}: it has to return Done, Retry or Refused")
    return result


def _definition(
    handler: LambdaExecutor[Any], action: Mapping[str, Any], payload: Any, clock: ManualClock
) -> Definition:
    described = handler.target.action_type
    body: dict[str, Any] = {
        "pointInTime": format_instant(clock.now()),
        "action": {"type": described.type, **action},
        **({} if payload is NOTHING else {"payload": payload}),
    }
    try:
        return admit(json.dumps(body).encode(), clock.now(), {described.type: described}).definition
    except Invalid as refused:
        wrong = [f"{one.field}: {one.problem}; allowed: {one.allowed}" for one in refused.errors]
        raise NotAccepted("\n".join(wrong)) from None


def _schedule(clock: ManualClock, owner: str, definition: Definition) -> Schedule:
    due = clock.now()
    made = mint(
        Address(due=due, shard=0),
        owner,
        point_in_time=due,
        key=bytes(KEY_BYTES),
        randomness=next(_numbers).to_bytes(RANDOM_BYTES, "big"),
    )
    return Schedule(id=made, owner=owner, point_in_time=due, created_at=due - MINUTE, definition=definition)


@contextmanager
def _ports(handler: LambdaExecutor[Any] | Subscriber, ports: HarnessPorts) -> Iterator[None]:
    """While the function runs, `handler.ports` are these."""
    before = vars(handler).get("ports")
    vars(handler)["ports"] = ports
    try:
        yield
    finally:
        vars(handler).pop("ports")
        if before is not None:
            vars(handler)["ports"] = before


def event(
    kind: str = "failed",
    *,
    action: Mapping[str, Any] | None = None,
    payload: Any = NOTHING,
    group: str = "",
    tags: Mapping[str, Any] | None = None,
    owner: str = OWNER,
    clock: ManualClock | None = None,
    **facts: Any,
) -> Event:
    """A lifecycle event of this type, of a schedule that is due now.

    `action`, `payload`, `group` and `tags` are those of the schedule; only a `scheduled` event has them. `facts` are
    other fields of the event: attempt, lateness, attempt_lateness, detail, name, replaced_by, by, sequence.
    """
    definition = Definition(
        action=json.dumps(action or {"type": "http-request", "url": "https://example.com/"}),
        payload="" if payload is NOTHING else json.dumps(payload),
        group=group,
        tags=json.dumps(tags) if tags else "",
    )
    schedule = _schedule(clock or clock_at(), owner, definition)
    type_ = EventType(kind)
    is_first = type_ is EventType.SCHEDULED
    published = LifecycleEvent(
        id=f"event-{next(_numbers)}",
        type=type_,
        schedule_id=schedule.id,
        owner=owner,
        at=schedule.created_at if is_first else schedule.point_in_time,
        state=State(kind) if kind in list(State) else State.SCHEDULED if kind == "redriven" else State.CLAIMED,
        revision=facts.pop("sequence", 0 if kind in ("scheduled", "enqueued") else 1),
        original=Original(schedule=schedule) if is_first else None,
        source="urn:delayer:123456789012:eu-west-1:delayer",
        **facts,
    )
    return received.decode(cloud_events.encode(published))


def deliver(
    handler: Subscriber, *events: Event, clock: ManualClock | None = None, observer: MemoryObserver | None = None
) -> list[Event]:
    """Delivers these events, in one batch: those that would come again, because the function raised.

    What it raised is written to stderr, which pytest shows with a test that fails. Deliver an event twice to see that a
    second time does no harm.
    """
    ports: Any = HarnessPorts(clock=clock or clock_at(), observer=observer or MemoryObserver())
    batch = [
        ReceivedMessage(message_id=str(number), body=json.dumps(one.cloud_event)) for number, one in enumerate(events)
    ]
    with _ports(handler, ports):
        again = deliver_events(ports, _shown(handler))(batch)
    return [events[int(number)] for number in again]


def _shown(handler: Subscriber) -> Any:
    def read(one: Event) -> None:
        try:
            handler.read(one)
        except Exception:
            traceback.print_exc()
            raise

    return read
