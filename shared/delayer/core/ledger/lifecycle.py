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
    """One word for one thing; the same words in the API, the ledger, the logs and the documentation.

    The comment beside each is its description in docs/reference/states.md; so it is with the events.
    """

    UNDECIDED = "undecided"  # accepted without a time; it waits for its policy to decide one
    # its policy has decided its time: another schedule, whose id is `decidedAs`, has it and goes on
    DECIDED = "decided"
    # stored in its table, where it waits until the delayer period begins, or in the relaxed lane until it is due
    SCHEDULED = "scheduled"
    ENQUEUED = "enqueued"  # it has left the table, and is in the stream or in the delayer queue
    CLAIMED = "claimed"  # handed over to the queue of its action: it is attempted, or waits for its next attempt
    EXECUTED = "executed"  # the target has accepted it
    # the target refused it, its attempts are used up, or its policy refused to decide a time; its body is stored,
    # unless it had no time
    FAILED = "failed"
    CANCELLED = "cancelled"  # its owner cancelled it before it was claimed: it will never be handed over
    # another schedule, whose id is `replacedBy`, took its place: before it was claimed, or when it had failed or was
    # dead-lettered
    REPLACED = "replaced"
    DROPPED = "dropped"  # its own rule for lateness, a stop by its owner, or a discard by an operator ended it
    # nobody could handle it; its body is in the dead-letter store, and an operator may redrive it
    DEAD_LETTERED = "dead-lettered"


class EventType(StrEnum):
    """What is published about each transition (ADR 0052)."""

    SCHEDULED = "scheduled"  # a schedule was stored; the event has its definition
    DECIDED = "decided"  # a policy has decided its time; `decidedAs` is the id of the schedule that has it
    ENQUEUED = "enqueued"  # its record has left the table for the delayer queue
    CLAIMED = "claimed"  # a relay has claimed it and hands it over
    CLAIMED_AGAIN = "claimed-again"  # a relay has claimed it once more, after a crash
    # an attempt failed, and the next one waits; `attempt` is the number of the one that failed
    ATTEMPT_FAILED = "attempt-failed"
    STOP_REQUESTED = "stop-requested"  # its owner wants no further attempt
    EXECUTED = "executed"  # the target accepted it
    FAILED = "failed"  # the target refused it, or the attempts are used up, or a policy refused to decide its time
    CANCELLED = "cancelled"  # its owner cancelled it
    REPLACED = "replaced"  # another schedule took its place; `replacedBy` is the id of that one
    DROPPED = "dropped"  # its own rule, a stop by its owner, or a discard by an operator ended it
    DEAD_LETTERED = "dead-lettered"  # nobody could handle it; its body is in the dead-letter store
    REDRIVEN = "redriven"  # an operator sent it on its way again


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
