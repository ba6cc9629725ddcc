"""The ledger decides: at most one row per schedule, the single place where an end is decided (ADR 0018).

Every change of a row is a compare-and-set on its revision. Every row is made here, through the table of the lifecycle:
a transition that the table does not have raises IllegalTransition (ADR 0059).
"""

import re
from enum import StrEnum
from typing import Any, Final, TypeVar

from attrs import evolve, field, frozen

from delayer.schedule.instants import ROW_LIFETIME, UNDECIDED_KEPT, Millis
from delayer.schedule.schedule_id import address_of, is_undecided

MAX_DETAIL: Final = 200  # characters, one byte each, so that a row fits into one write unit
CUT: Final = "..."
UNPRINTABLE: Final = re.compile(r"[^ -~]")
REDRIVEN: Final = "redriven"  # the detail of the row of what an operator has redriven
MAX_BY: Final = 256  # characters of a caller that are kept


def detail_of(text: str) -> str:
    """At most 200 printable ASCII characters.

    What a target or a defect has put into a text cannot make a row, an event or a log line too large, and cannot
    control the terminal that shows it.
    """
    if len(text) > MAX_DETAIL:
        text = text[: MAX_DETAIL - len(CUT)] + CUT
    return UNPRINTABLE.sub("?", text)


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
    """Each transition is published as one of these (ADR 0052)."""

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


class Arrival(StrEnum):
    """It says how the messages stand for the attempt that is under way or is to be made next."""

    UNKNOWN = ""  # one was sent, or its function died before
    CONTESTED = "contested"  # another was sent, as nobody knew: the first to arrive makes the attempt
    TAKEN = "taken"  # one of them has arrived: no other makes it


@frozen(kw_only=True)
class LedgerRow:
    """The ledger says this about one schedule."""

    schedule_id: str
    owner: str
    state: State  # claimed, or an end; scheduled if it was redriven, or has a name
    revision: int  # 1 for the first write; the compare-and-set goes by it
    at: Millis  # when this state was written
    expires_at: Millis  # when DynamoDB may delete the row
    nonce: str = ""  # of the message that holds the claim; empty if there never was one
    lease_until: Millis = 0  # until then, the function that claimed may still be at work
    claimed_at: Millis = 0
    enqueued_at: Millis = 0  # when its record left the table, as its message tells: the events of the row repeat it
    attempt: int = 0  # the attempt that is under way or is to be made next; 1 at the claim
    probes: int = 0  # of the attempts before this one, those that were probes: they do not count (ADR 0153)
    fence: str = ""  # fencing token: names the message that may make this attempt; unless it is contested, the only one
    retry_of: str = ""  # the fencing token of the message that sent the one for this attempt; empty for the first
    retry_at: Millis = 0  # when that attempt may be made; 0 for the first
    age_from: Millis = 0  # from when on the age of its retry policy counts: its first attempt; 0 until that has failed
    generation: int = 0  # of the messages for this attempt; 0: written by a version that does not count them (ADR 0183)
    arrival: Arrival = Arrival.UNKNOWN  # of the message for this attempt
    detail: str = field(default="", converter=detail_of)  # to be read by people: the answer, or why it ended
    name: str = ""  # under which its owner may replace it; a named schedule has a row from the start
    replaced_by: str = ""  # the id of the schedule that took its place
    decided_as: str = ""  # the id of the schedule that has its time, once that was decided (ADR 0096)
    stopped_at: Millis = 0  # when its owner asked that no further attempt starts
    lateness: Millis = 0  # of its first attempt, once that was made
    attempted_at: Millis = 0  # when the attempt was made that led to this row; no later row has it
    answer: str = ""  # what is kept of the answer to the attempt that led to this row, as JSON; no later row has it
    by: str = ""  # who asked for this state or for the stop: a caller of the API, or an operator; empty: nobody did

    @property
    def ended(self) -> bool:
        """Whether it came to an end, of whatever kind."""
        return self.state in ENDS

    def admits(self, fence: str, attempt: int) -> bool:
        """Whether the message with this token, for this attempt, is the one or one of those that may make it."""
        return fence == self.fence or (self.arrival is Arrival.CONTESTED and attempt == self.attempt)

    @property
    def was_attempted(self) -> bool:
        """Whether its first attempt was made, so that its lateness is known."""
        has_ended = self.state in (State.EXECUTED, State.FAILED)
        return has_ended or self.attempt > 1 or bool(self.age_from or self.lateness)


@frozen(kw_only=True)
class LedgerChange:
    """Write `row` in place of `over`; without `over`, only if there is no row."""

    row: LedgerRow
    over: LedgerRow | None = None


@frozen
class Already:
    """It was cancelled or stopped before, and the same answer is true again."""

    row: LedgerRow


Outcome = TypeVar("Outcome")


def signed(outcome: Outcome, by: str) -> Outcome:
    """The same decision. If it is a change, its row names the one who asked for it."""
    if not isinstance(outcome, LedgerChange):
        return outcome
    return evolve(outcome, row=evolve(outcome.row, by=by[:MAX_BY]))


@frozen
class RetryLater:
    """Another function may still be at work on it: leave the message in its queue, and look again later."""


@frozen
class Refuse:
    """Nothing is to be done. `reason` is for the log."""

    reason: str


@frozen
class UnderWay(Refuse):
    """The same copy is at its executor already."""


def new_row(
    event: EventType,
    schedule_id: str,
    owner: str,
    now: Millis,
    *,
    over: LedgerRow | None = None,
    to: State | None = None,
    name: str = "",
    **values: Any,
) -> LedgerRow:
    """The first row of a schedule, or a fresh one in place of `over`: it takes over only its revision and name.

    `to` is needed for an event that can lead to several states. Raises IllegalTransition.
    """
    state = _written(_target(event, schedule_id, over, to))
    kept_until = max(address_of(schedule_id).due, now) + _lifetime(schedule_id, state)
    return LedgerRow(
        schedule_id=schedule_id,
        owner=owner,
        state=state,
        revision=over.revision + 1 if over else 1,
        at=now,
        expires_at=max(over.expires_at if over else 0, kept_until),
        name=over.name if over else name,
        **values,
    )


def following(row: LedgerRow, event: EventType, now: Millis, **values: Any) -> LedgerRow:
    """The row after a transition that changes `values` and keeps the rest. Raises IllegalTransition."""
    state = _written(_target(event, row.schedule_id, row, None))
    before = 0 if row.state is State.UNDECIDED else row.expires_at
    changed = {
        "state": state,
        "revision": row.revision + 1,
        "by": "",
        "answer": "",
        "attempted_at": 0,
        "at": now,
        "expires_at": max(before, now + _lifetime(row.schedule_id, state)),
    }
    return evolve(row, **{**changed, **values})


def amended(row: LedgerRow, **values: Any) -> LedgerRow:
    """The row in the same state, with a note changed: no transition, and nothing is published about it."""
    return evolve(row, **{"revision": row.revision + 1, "answer": "", "attempted_at": 0, **values})


def _lifetime(schedule_id: str, state: State) -> Millis:
    """Of the end of what had no time: as long as its record may wait, for the delete that follows may have failed.

    A decision and a replacement delete the record in the same transaction.
    """
    is_left_over = is_undecided(schedule_id) and state in (State.CANCELLED, State.FAILED)
    return UNDECIDED_KEPT if is_left_over else ROW_LIFETIME


def _target(event: EventType, schedule_id: str, current: LedgerRow | None, to: State | None) -> State:
    without_row = {None, State.UNDECIDED} if is_undecided(schedule_id) else {None, *WAITING}
    sources = without_row if current is None else {current.state}
    return target_of(frozenset(WAITING if sources == {State.SCHEDULED} else sources), event, to)


def _written(state: State) -> State:
    """A row does not say whether a schedule is still in the table: `enqueued` is written as `scheduled`."""
    return State.SCHEDULED if state is State.ENQUEUED else state


def named(schedule_id: str, owner: str, name: str, now: Millis) -> LedgerRow:
    """The row that a schedule with a name begins with: with it the name is found by the id (ADR 0041)."""
    if not is_undecided(schedule_id):
        return new_row(EventType.SCHEDULED, schedule_id, owner, now, name=name)
    row = new_row(EventType.SCHEDULED, schedule_id, owner, now, to=State.UNDECIDED, name=name)
    return evolve(row, expires_at=now + UNDECIDED_KEPT)


def waits_after_a_redrive(row: LedgerRow | None) -> bool:
    """Whether it waits because of a redrive, and not for the first time."""
    return row is not None and row.state is State.SCHEDULED and row.detail == REDRIVEN
