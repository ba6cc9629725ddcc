"""The lifecycle as a table: each transition names the ADR that decided it. Every ledger row is made through it.

`scheduled` and `enqueued` say where a schedule is (in the table; in the stream or the delayer queue), and `undecided`
that it waits for its time (ADR 0096). All others are written in its ledger row. What is dead-lettered, or has failed
after its claim, has its body stored, and may be redriven by an operator; until then its owner may replace it. Every
other end is final.
"""

from enum import StrEnum
from typing import Final

from attrs import frozen


class State(StrEnum):
    """One word for one thing; the same words in the API, the ledger, the logs and the documentation."""

    UNDECIDED = "undecided"
    DECIDED = "decided"
    SCHEDULED = "scheduled"
    ENQUEUED = "enqueued"
    CLAIMED = "claimed"
    EXECUTED = "executed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    REPLACED = "replaced"
    DROPPED = "dropped"
    DEAD_LETTERED = "dead-lettered"


class EventType(StrEnum):
    """What is published about each transition (ADR 0052)."""

    SCHEDULED = "scheduled"
    DECIDED = "decided"
    ENQUEUED = "enqueued"
    CLAIMED = "claimed"
    CLAIMED_AGAIN = "claimed-again"
    ATTEMPT_FAILED = "attempt-failed"
    STOP_REQUESTED = "stop-requested"
    EXECUTED = "executed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    REPLACED = "replaced"
    DROPPED = "dropped"
    DEAD_LETTERED = "dead-lettered"
    REDRIVEN = "redriven"


@frozen(kw_only=True)
class Transition:
    """From one state to the next."""

    source: State | None  # None: it did not exist
    target: State
    event: EventType
    by: str  # the function that makes it; `client`: the use case that its owner calls
    adr: int  # the decision behind it


_TABLE: Final[tuple[tuple[State | None, State, EventType, str, int], ...]] = (
    # source, target, event, by, adr
    (None, State.SCHEDULED, EventType.SCHEDULED, "client", 41),
    (None, State.UNDECIDED, EventType.SCHEDULED, "client", 96),
    (State.UNDECIDED, State.DECIDED, EventType.DECIDED, "policy", 96),
    (State.UNDECIDED, State.FAILED, EventType.FAILED, "policy", 96),
    (State.UNDECIDED, State.CANCELLED, EventType.CANCELLED, "client", 96),
    (State.UNDECIDED, State.REPLACED, EventType.REPLACED, "client", 96),
    (State.SCHEDULED, State.ENQUEUED, EventType.ENQUEUED, "stream-enqueuer", 2),
    (State.SCHEDULED, State.DEAD_LETTERED, EventType.DEAD_LETTERED, "stream-enqueuer", 21),
    (State.ENQUEUED, State.CLAIMED, EventType.CLAIMED, "delayer-relay", 18),
    (State.ENQUEUED, State.DEAD_LETTERED, EventType.DEAD_LETTERED, "delayer-relay", 23),
    (State.ENQUEUED, State.DROPPED, EventType.DROPPED, "delayer-relay", 6),
    (State.CLAIMED, State.CLAIMED, EventType.CLAIMED_AGAIN, "delayer-relay", 18),
    (State.SCHEDULED, State.ENQUEUED, EventType.ENQUEUED, "relaxed-claimer", 97),
    (State.SCHEDULED, State.DEAD_LETTERED, EventType.DEAD_LETTERED, "relaxed-claimer", 97),
    (State.ENQUEUED, State.CLAIMED, EventType.CLAIMED, "relaxed-claimer", 97),
    (State.ENQUEUED, State.DEAD_LETTERED, EventType.DEAD_LETTERED, "relaxed-claimer", 97),
    (State.ENQUEUED, State.DROPPED, EventType.DROPPED, "relaxed-claimer", 97),
    (State.CLAIMED, State.CLAIMED, EventType.CLAIMED_AGAIN, "relaxed-claimer", 97),
    (State.CLAIMED, State.DEAD_LETTERED, EventType.DEAD_LETTERED, "relaxed-claimer", 97),
    (State.CLAIMED, State.EXECUTED, EventType.EXECUTED, "executor", 20),
    (State.CLAIMED, State.FAILED, EventType.FAILED, "executor", 20),
    (State.CLAIMED, State.CLAIMED, EventType.ATTEMPT_FAILED, "executor", 20),
    (State.CLAIMED, State.CLAIMED, EventType.STOP_REQUESTED, "client", 47),
    (State.CLAIMED, State.DROPPED, EventType.DROPPED, "executor", 47),
    (State.CLAIMED, State.DEAD_LETTERED, EventType.DEAD_LETTERED, "delayer-relay", 81),
    (State.CLAIMED, State.DEAD_LETTERED, EventType.DEAD_LETTERED, "executor", 81),
    (State.DEAD_LETTERED, State.EXECUTED, EventType.EXECUTED, "executor", 21),
    (State.FAILED, State.EXECUTED, EventType.EXECUTED, "executor", 20),
    (State.DROPPED, State.EXECUTED, EventType.EXECUTED, "executor", 47),
    (State.SCHEDULED, State.SCHEDULED, EventType.REDRIVEN, "operator-dead-letters", 21),
    (State.SCHEDULED, State.ENQUEUED, EventType.REDRIVEN, "operator-dead-letters", 21),
    (State.DEAD_LETTERED, State.SCHEDULED, EventType.REDRIVEN, "operator-dead-letters", 21),
    (State.DEAD_LETTERED, State.ENQUEUED, EventType.REDRIVEN, "operator-dead-letters", 21),
    (State.FAILED, State.ENQUEUED, EventType.REDRIVEN, "operator-dead-letters", 21),
    (State.SCHEDULED, State.DROPPED, EventType.DROPPED, "operator-dead-letters", 21),
    (State.DEAD_LETTERED, State.DROPPED, EventType.DROPPED, "operator-dead-letters", 21),
    (State.DEAD_LETTERED, State.DROPPED, EventType.DROPPED, "client", 47),
    (State.SCHEDULED, State.CANCELLED, EventType.CANCELLED, "client", 40),
    (State.ENQUEUED, State.CANCELLED, EventType.CANCELLED, "client", 40),
    (State.DEAD_LETTERED, State.CANCELLED, EventType.CANCELLED, "client", 40),
    (State.SCHEDULED, State.REPLACED, EventType.REPLACED, "client", 41),
    (State.ENQUEUED, State.REPLACED, EventType.REPLACED, "client", 41),
    (State.DEAD_LETTERED, State.REPLACED, EventType.REPLACED, "client", 41),
    (State.FAILED, State.REPLACED, EventType.REPLACED, "client", 41),
)
TRANSITIONS: Final = tuple(
    Transition(source=source, target=target, event=event, by=by, adr=adr) for source, target, event, by, adr in _TABLE
)

ENDS: Final = frozenset(
    {State.EXECUTED, State.FAILED, State.CANCELLED, State.REPLACED, State.DROPPED, State.DEAD_LETTERED, State.DECIDED}
)
WAITING: Final = frozenset({State.SCHEDULED, State.ENQUEUED})  # the ledger does not say which of the two


class IllegalTransition(Exception):
    """A transition that the table does not have. It is a defect: whoever meets it leaves the ledger as it is."""


ALLOWED: Final = frozenset((one.source, one.target, one.event) for one in TRANSITIONS)


def target_of(sources: frozenset[State | None], event: EventType, target: State | None = None) -> State:
    """The state that an event leads to from one of these states; `target` for an event that leads to several.

    Raises IllegalTransition if the table does not have it.
    """
    wanted = target or (State(event) if event in _STATES else State.CLAIMED)
    if not any((source, wanted, event) in ALLOWED for source in sources):
        known = " or ".join(sorted(str(source or "nothing") for source in sources))
        raise IllegalTransition(f"no transition {event} leads from {known} to {wanted}")
    return wanted


_STATES: Final = frozenset(str(state) for state in State)
