"""The states a schedule passes through, as a table: each transition names the ADR that decided it.

`scheduled` and `enqueued` are where a schedule is (the table; the stream or the delayer queue), all
others are written in its ledger row. What was set aside or failed has its body kept, and may be put back by an
operator; until then its owner may still take it back. Nothing leaves any other end.
"""

from enum import StrEnum
from typing import Final

from attrs import frozen


class State(StrEnum):
    """One word for one thing; the same words in the API, the ledger, the logs and the documentation."""

    SCHEDULED = "scheduled"
    ENQUEUED = "enqueued"
    CLAIMED = "claimed"
    EXECUTED = "executed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    REPLACED = "replaced"
    DROPPED = "dropped"
    SET_ASIDE = "set-aside"


class EventType(StrEnum):
    """What is told of each transition (ADR 0052). A first one, `scheduled`, tells of the beginning."""

    SCHEDULED = "scheduled"
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
    SET_ASIDE = "set-aside"
    PUT_BACK = "put-back"


@frozen
class Transition:
    """From one state to the next."""

    source: State
    target: State
    event: EventType
    by: str  # the function that makes it; `client`: the use case that its owner calls
    adr: int  # the decision behind it


TRANSITIONS: Final = (
    Transition(State.SCHEDULED, State.ENQUEUED, EventType.ENQUEUED, "stream-enqueuer", 2),
    Transition(State.SCHEDULED, State.SET_ASIDE, EventType.SET_ASIDE, "stream-enqueuer", 21),
    Transition(State.ENQUEUED, State.CLAIMED, EventType.CLAIMED, "delayer-relay", 18),
    Transition(State.ENQUEUED, State.SET_ASIDE, EventType.SET_ASIDE, "delayer-relay", 23),
    Transition(State.ENQUEUED, State.SET_ASIDE, EventType.SET_ASIDE, "dlq-set-aside", 21),
    Transition(State.ENQUEUED, State.DROPPED, EventType.DROPPED, "delayer-relay", 46),
    Transition(State.CLAIMED, State.CLAIMED, EventType.CLAIMED_AGAIN, "delayer-relay", 18),
    Transition(State.CLAIMED, State.EXECUTED, EventType.EXECUTED, "executor", 20),
    Transition(State.CLAIMED, State.FAILED, EventType.FAILED, "executor", 20),
    Transition(State.CLAIMED, State.CLAIMED, EventType.ATTEMPT_FAILED, "executor", 20),
    Transition(State.CLAIMED, State.CLAIMED, EventType.STOP_REQUESTED, "client", 47),
    Transition(State.CLAIMED, State.DROPPED, EventType.DROPPED, "executor", 47),
    Transition(State.CLAIMED, State.SET_ASIDE, EventType.SET_ASIDE, "delayer-relay", 21),
    Transition(State.CLAIMED, State.SET_ASIDE, EventType.SET_ASIDE, "dlq-set-aside", 21),
    Transition(State.SET_ASIDE, State.EXECUTED, EventType.EXECUTED, "executor", 21),
    Transition(State.FAILED, State.EXECUTED, EventType.EXECUTED, "executor", 20),
    Transition(State.DROPPED, State.EXECUTED, EventType.EXECUTED, "executor", 47),
    Transition(State.SET_ASIDE, State.SCHEDULED, EventType.PUT_BACK, "operator-set-aside", 21),
    Transition(State.SET_ASIDE, State.ENQUEUED, EventType.PUT_BACK, "operator-set-aside", 21),
    Transition(State.FAILED, State.ENQUEUED, EventType.PUT_BACK, "operator-set-aside", 21),
    Transition(State.SCHEDULED, State.DROPPED, EventType.DROPPED, "operator-set-aside", 21),
    Transition(State.SET_ASIDE, State.DROPPED, EventType.DROPPED, "operator-set-aside", 21),
    Transition(State.SCHEDULED, State.CANCELLED, EventType.CANCELLED, "client", 40),
    Transition(State.ENQUEUED, State.CANCELLED, EventType.CANCELLED, "client", 40),
    Transition(State.SET_ASIDE, State.CANCELLED, EventType.CANCELLED, "client", 40),
    Transition(State.SCHEDULED, State.REPLACED, EventType.REPLACED, "client", 41),
    Transition(State.ENQUEUED, State.REPLACED, EventType.REPLACED, "client", 41),
    Transition(State.SET_ASIDE, State.REPLACED, EventType.REPLACED, "client", 41),
    Transition(State.FAILED, State.REPLACED, EventType.REPLACED, "client", 41),
)

ENDS: Final = frozenset({State.EXECUTED, State.FAILED, State.CANCELLED, State.REPLACED, State.DROPPED, State.SET_ASIDE})


def may_follow(source: State, target: State) -> bool:
    """Whether the table has a transition between the two."""
    return any(t.source == source and t.target == target for t in TRANSITIONS)
