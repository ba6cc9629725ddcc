"""What the journal shows of a schedule is what has happened to it: nothing else, and nothing less (ADR 0119)."""

from collections.abc import Sequence

from delayer.core.history.cloud_events import decode, encode
from delayer.core.history.events import Event
from delayer.core.history.whole import whole
from delayer.core.ledger.lifecycle import EventType
from delayer.core.ledger.row import LedgerRow
from delayer.core.schedule.instants import MINUTE

ONCE = frozenset({EventType.SCHEDULED, EventType.ENQUEUED})  # of several removals the ledger lets one go on


def untrue(row: LedgerRow, events: Sequence[Event], *, is_over: bool) -> str:
    """What is wrong with the history, in words; empty if nothing is.

    `events` are all that happened. The journal gets those that no later one repeats, twice and in any order. Once it
    `is_over`, they must be enough: the row expires.
    """
    kept = [decode(encode(event)) for event in events if not event.retold]
    shown = whole(row.schedule_id, [*reversed(kept), *kept], None if is_over else row)
    if shown != whole(row.schedule_id, [*kept, *kept[::-1]], None if is_over else row):
        return "depends on the order in which its events came"
    for event in shown:
        if not any(_are_alike(event, one) for one in events):
            return f"tells of {event.type}, which did not happen then"
    for event in events:
        if event.type not in ONCE and not any(_are_alike(event, one) for one in shown):
            return f"does not tell that it was {event.type}"
    return _untold_beginning(shown, events) if is_over else ""


def _untold_beginning(shown: Sequence[Event], events: Sequence[Event]) -> str:
    """Of what was enqueued and claimed, or withdrawn after its message had been received, both are told."""
    for kind in ONCE:
        had_it = [event for event in events if event.type is kind]
        if had_it and not any(event.type is kind for event in shown):
            return f"does not tell that it was {kind}"
    return ""


def _are_alike(one: Event, other: Event) -> bool:
    """A removal is known to the second, and by its message."""
    apart = MINUTE if one.type is EventType.ENQUEUED else 1
    facts = [(event.type, event.state, event.attempt, event.detail) for event in (one, other)]
    return facts[0] == facts[1] and abs(one.at - other.at) < apart
