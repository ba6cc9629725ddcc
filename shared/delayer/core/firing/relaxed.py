"""What the removal of a record from the relaxed table means (ADR 0097).

DynamoDB's TTL removes a record some time after its point in time, and says in the stream that it did: then the schedule
fires. Whatever anybody else has removed does not fire: it was withdrawn by its owner, or becomes a dead letter.
"""

from collections.abc import Container

from attrs import frozen

from delayer.core.firing import relaying
from delayer.core.firing.enqueueing import AskLedger, Ignore, MoveToDeadLetters, SetAside
from delayer.core.firing.misfire import Drop
from delayer.core.ledger.lifecycle import State
from delayer.core.ledger.row import LedgerRow
from delayer.core.schedule.instants import Millis
from delayer.core.schedule.malformed import Malformed, UnknownVersion
from delayer.core.schedule.messages import DelayerMessage
from delayer.core.schedule.schedule import Schedule
from delayer.core.schedule.table_change import Heartbeat, Kind, RecordChange, left_at

STALE = "more than 29 days past its point in time"
EARLY = "DynamoDB's TTL has removed its record before its point in time: somebody has changed expiresAt"
BY_OTHERS = "its record was removed by hand, and the ledger does not say why"


@frozen
class Fire:
    """Claim it, and hand it over."""

    message: DelayerMessage


@frozen(kw_only=True)
class DropLate:
    """It is too late to fire, by its own rule: claim and end it."""

    message: DelayerMessage
    reason: str


NEEDS_NOTHING = frozenset({SetAside, Ignore})  # that they are done says nothing of AWS
Decision = Fire | DropLate | AskLedger | MoveToDeadLetters | SetAside | Ignore


def decide(change: RecordChange, now: Millis, action_types: Container[str]) -> Decision:
    """What to do about one change. `action_types` are those that have an executor."""
    if change.kind is not Kind.REMOVE:
        return Ignore()
    match change.row:
        case Heartbeat():
            return Ignore()
        case Malformed() as malformed:
            return MoveToDeadLetters(reason=malformed.reason)
        case UnknownVersion() as unknown:
            return SetAside(f"it could not be handled: {unknown!r}")
        case schedule if not change.expired:
            return AskLedger(schedule)
        case schedule:
            return _decide_expired(message_of(schedule, change), now, action_types)


def message_of(schedule: Schedule, change: RecordChange) -> DelayerMessage:
    """Its nonce is the id of the stream's record: the same however often that is delivered.

    So a delivery that is repeated after a crash goes on with the claim that the first one has written.
    """
    left = left_at(change.kind, schedule, change.at, expired=change.expired)
    return DelayerMessage(schedule=schedule, nonce=change.event, enqueued_at=left)


def _decide_expired(message: DelayerMessage, now: Millis, action_types: Container[str]) -> Decision:
    try:
        decision = relaying.decide(message, now, action_types)
    except Malformed as error:
        return MoveToDeadLetters(reason=error.reason, schedule=message.schedule)
    match decision:
        case relaying.Hold():
            return Fire(message)
        case Drop(reason):
            return DropLate(message=message, reason=reason)
        case relaying.Wait(reason):
            return SetAside(reason)
        case relaying.Stale():
            return MoveToDeadLetters(reason=STALE, schedule=message.schedule)
        case relaying.Resend():
            return MoveToDeadLetters(reason=EARLY, schedule=message.schedule)


def decide_other_removal(schedule: Schedule, row: LedgerRow | None) -> MoveToDeadLetters | Ignore:
    """A cancel or a replacement writes the ledger before it removes the record. Any other removal is not forgotten."""
    if row is not None and row.state in (State.CANCELLED, State.REPLACED):
        return Ignore()
    return MoveToDeadLetters(reason=BY_OTHERS, schedule=schedule)
