"""A history as it is shown: what the journal has, and what events and ledger row tell of earlier ones (ADR 0119).

The events `enqueued` and `claimed` of a schedule that fires at its first attempt are not in the journal: each later
event of the ledger repeats their times, and until there is one, the row has them. Both may be there all the same: an
older version has written them, or a claim was not the first. Then they count once.
"""

from collections.abc import Iterator, Sequence

from attrs import evolve, frozen

from delayer.history.model import LifecycleEvent, enqueued
from delayer.ledger.model import EventType, LedgerRow, State
from delayer.schedule.instants import MINUTE, Millis
from delayer.schedule.schedule_id import address_of, is_relaxed


@frozen(kw_only=True)
class _Times:
    """The facts that an event or a row says of the events before it."""

    owner: str
    name: str
    enqueued_at: Millis
    claimed_at: Millis


def whole(
    schedule_id: str, events: Sequence[LifecycleEvent], row: LedgerRow | None = None
) -> tuple[LifecycleEvent, ...]:
    """All that is known to have happened, in order. In whatever order and however often the events came.

    `row` is what the ledger says now, read after the events.
    """
    if not events:
        return ()  # what the journal does not know at all, as it was off, has no history
    known = {_place(event): event for event in sorted(events, key=_by_id, reverse=True)}
    sources = sorted({*map(_of_event, known.values()), *([_of_row(row)] if row else [])}, key=_in_time)
    for event in (one for times in sources for one in _events_at(schedule_id, times)):
        if not any((one.type, one.at) == (event.type, event.at) for one in known.values()):
            known[_place(event)] = event
    return tuple(sorted(known.values(), key=lambda event: event.order))


def on_its_way(schedule_id: str, history: Sequence[LifecycleEvent], period: Millis) -> tuple[LifecycleEvent, ...]:
    """The history of what has left its table and is not claimed yet: nothing that was written says when it left.

    It left when it came within the delayer period, or when it was accepted or redriven, if that was later: that is
    estimated. With its claim the time is known.
    """
    since = max((event.at for event in history if event.type in (EventType.SCHEDULED, EventType.REDRIVEN)), default=0)
    if any(event.state is State.ENQUEUED and event.at >= since for event in history):
        return tuple(history)
    due = address_of(schedule_id).due
    within = due if is_relaxed(schedule_id) else due // MINUTE * MINUTE - period
    left = enqueued(schedule_id, history[0].owner, max(within, since))
    return tuple(sorted([*history, evolve(left, is_estimate=True)], key=lambda event: event.order))


def _place(event: LifecycleEvent) -> tuple[EventType, Millis, int, str]:
    """An event is known by these. A schedule has one beginning at a time, whatever change of its record tells it."""
    only_once = event.type in (EventType.SCHEDULED, EventType.ENQUEUED)
    return event.type, event.at, event.revision, "" if only_once else event.id


def _by_id(event: LifecycleEvent) -> str:
    return event.id


def _of_event(event: LifecycleEvent) -> _Times:
    return _Times(owner=event.owner, name=event.name, enqueued_at=event.enqueued_at, claimed_at=event.claimed_at)


def _of_row(row: LedgerRow) -> _Times:
    return _Times(owner=row.owner, name=row.name, enqueued_at=row.enqueued_at, claimed_at=row.claimed_at)


def _in_time(times: _Times) -> tuple[Millis, Millis, str]:
    return times.enqueued_at, times.claimed_at, times.name


def _events_at(schedule_id: str, times: _Times) -> Iterator[LifecycleEvent]:
    if times.enqueued_at:
        yield enqueued(schedule_id, times.owner, times.enqueued_at)
    if times.claimed_at:
        yield LifecycleEvent(
            id=f"claimed-{schedule_id}-{times.claimed_at}",
            type=EventType.CLAIMED,
            schedule_id=schedule_id,
            owner=times.owner,
            at=times.claimed_at,
            state=State.CLAIMED,
            revision=2 if times.name else 1,  # one with a name begins with a row
            attempt=1,
            name=times.name,
            retold=True,
        )
