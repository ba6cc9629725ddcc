"""What the journal shows of a schedule is what has happened to it: nothing else, and nothing less (ADR 0119)."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from delayer.history.cloud_events import decode, encode
from delayer.history.model import LifecycleEvent
from delayer.history.rules import whole
from delayer.ledger.model import EventType, LedgerRow, State
from delayer.schedule.instants import MINUTE, Millis

Facts = tuple[EventType, State, int, str]
ONCE = frozenset({EventType.SCHEDULED, EventType.ENQUEUED})  # of several removals the ledger lets one go on


def untrue(row: LedgerRow, events: Sequence[LifecycleEvent], *, is_over: bool) -> str:
    """What is wrong with the history, in words; empty if nothing is.

    `events` are all that happened. The journal gets those that no later one repeats, twice and in any order. Once it
    `is_over`, they must be enough: the row expires.
    """
    kept = [as_read(event) for event in events if not event.retold]
    shown = whole(row.schedule_id, [*reversed(kept), *kept], None if is_over else row)
    if shown != whole(row.schedule_id, [*kept, *kept[::-1]], None if is_over else row):
        return "depends on the order in which its events came"
    happened, in_journal = _by_facts(events), _by_facts(shown)
    for event in shown:
        if not _is_among(happened, event):
            return f"tells of {event.type}, which did not happen then"
    for event in events:
        if event.type not in ONCE and not _is_among(in_journal, event):
            return f"does not tell that it was {event.type}"
    return _untold_beginning(shown, events) if is_over else ""


@lru_cache(maxsize=8192)
def as_read(event: LifecycleEvent) -> LifecycleEvent:
    """As whoever is told of it reads it. All events of a schedule are read at each of its changes."""
    return decode(encode(event))


def _untold_beginning(shown: Sequence[LifecycleEvent], events: Sequence[LifecycleEvent]) -> str:
    """Of what was enqueued and claimed, or withdrawn after its message had been received, both are told."""
    for kind in ONCE:
        had_it = [event for event in events if event.type is kind]
        if had_it and not any(event.type is kind for event in shown):
            return f"does not tell that it was {kind}"
    return ""


def _is_among(times: Mapping[Facts, Sequence[Millis]], event: LifecycleEvent) -> bool:
    """A removal is known to the second, and by its message."""
    apart = MINUTE if event.type is EventType.ENQUEUED else 1
    return any(abs(event.at - at) < apart for at in times.get(_facts(event), ()))


def _by_facts(events: Iterable[LifecycleEvent]) -> Mapping[Facts, Sequence[Millis]]:
    """When each happened. A schedule of a day of outages has hundreds of events."""
    found: dict[Facts, list[Millis]] = defaultdict(list)
    for event in events:
        found[_facts(event)].append(event.at)
    return found


def _facts(event: LifecycleEvent) -> Facts:
    return event.type, event.state, event.attempt, event.detail
