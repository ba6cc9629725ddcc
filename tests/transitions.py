"""The table of the lifecycle, as tests ask it."""

import pytest

from delayer.ledger import model as lifecycle
from delayer.ledger.model import TRANSITIONS, EventType, State


def may_follow(source: State | None, target: State) -> bool:
    """Whether any transition of the table leads from one to the other."""
    return any((one.source, one.target) == (source, target) for one in TRANSITIONS)


def is_allowed(source: State | None, event: EventType, target: State) -> bool:
    """Whether the table has this very transition."""
    return any((one.source, one.event, one.target) == (source, event, target) for one in TRANSITIONS)


def stands_for(state: State) -> set[State]:
    """A row that says `scheduled` may be of a schedule that is enqueued already."""
    return {State.SCHEDULED, State.ENQUEUED} if state is State.SCHEDULED else {state}


def take_out(monkeypatch: pytest.MonkeyPatch, event: EventType, *sources: State | None) -> None:
    """The table without this event from these states, or from any: whoever makes such a row is refused."""
    gone = {one for one in lifecycle.ALLOWED if one[2] is event and (not sources or one[0] in sources)}
    assert gone
    monkeypatch.setattr(lifecycle, "ALLOWED", lifecycle.ALLOWED - gone)
