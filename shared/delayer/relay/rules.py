"""Decides about a message that has left the delayer queue, and about a record that has left the relaxed table."""

from collections.abc import Container, Sequence
from typing import Final

from attrs import frozen

from delayer.enqueue.rules import AskLedger, Ignore, MoveToDeadLetters, SetAside
from delayer.flow.rules.block import Block, BlockKind, waits_since
from delayer.flow.rules.limit import turn_of
from delayer.ledger.model import MAX_DETAIL, LedgerRow, State
from delayer.schedule.instants import MAX_HOLD, STALE_AFTER, Malformed, Millis, UnknownVersion, delay_seconds
from delayer.schedule.messages import MAX_BYTES, DelayerMessage, OutcomeMessage, encode
from delayer.schedule.misfire import Drop, decide_misfire
from delayer.schedule.retrying import policy_of
from delayer.schedule.schedule import Schedule
from delayer.schedule.table_change import ChangeKind, Heartbeat, RecordChange, left_at

LONGEST_TOKEN: Final = "x" * 64  # longer than any fencing token
LARGEST: Final = 2**63 - 1  # a number longer than any in a message
LAST_CALL: Final[Millis] = 100  # a hand-over begins no later than this before due, however many it takes along
# Characters of a body. UTF-8 takes four bytes for one at most, and what follows a message in the queue of its action
# has less than 4 KB that the message has not. To encode it only to learn its length costs as much as to decode it.
ADDED: Final = 4_096
SURELY_FITS: Final = (MAX_BYTES - ADDED) // 4
STALE = "more than 29 days past its point in time"
EARLY = "DynamoDB's TTL has removed its record before its point in time: somebody has changed expiresAt"
BY_OTHERS = "its record was removed by hand, and the ledger does not say why"
NEEDS_NOTHING = frozenset({SetAside, Ignore})  # that they are done says nothing of AWS


@frozen
class Resend:
    """Too early to hold: back into the delayer queue, with the same nonce."""

    delay_seconds: int


@frozen
class Hold:
    """Hold it until its hand-over, at once if it is overdue."""


@frozen
class WaitForExecutor:
    """Nobody here can do it yet: it stays in its queue, unclaimed, until there is somebody who can."""

    reason: str


@frozen
class Stale:
    """A copy so late that its ledger row may have expired: it becomes a dead letter and never fires (ADR 0023)."""


Decision = Resend | Hold | WaitForExecutor | Stale | Drop


def decide(message: DelayerMessage, now: Millis, action_types: Container[str], length: int = MAX_BYTES) -> Decision:
    """Decides about one message. `action_types` are those that have an executor; `length` are the characters of its
    body.

    What could not be handed over is not claimed: a cancel would be answered that it will be. Raises Malformed if the
    rule for lateness or the retry policy cannot be read, or if the queue of its action could not take it.
    """
    if now - message.schedule.address.due > STALE_AFTER:
        return Stale()
    if drop := decide_misfire(message.schedule.definition.on_late, message.schedule.point_in_time, now):
        return drop
    if message.schedule.point_in_time - now > MAX_HOLD:
        return Resend(delay_seconds(message.schedule.point_in_time, now))
    if length > SURELY_FITS and (size := bytes_of_largest(message)) > MAX_BYTES:
        raise Malformed(f"too large for the queue of its action: {size:,} bytes")
    _ = policy_of(message.schedule.definition)
    if message.schedule.definition.action_type not in action_types:
        return WaitForExecutor(f"no executor for the action {message.schedule.definition.action_type!r}")
    return Hold()


def is_too_old(message: DelayerMessage, block: Block, now: Millis) -> bool:
    """Whether its target is given up: its owner's `maxAgeSeconds` counts from when it had to wait, without an attempt.

    An operator who suspends an owner or a target says how long that takes: nothing is given up for it. Raises
    Malformed.
    """
    if block.kind is BlockKind.SUSPENSION:
        return False
    return now - waits_since(message, block, now) > policy_of(message.schedule.definition).max_age


def bytes_of_largest(message: DelayerMessage) -> int:
    """Of the messages that may follow it in the queue of its action, the largest: an outcome with a long detail.

    The API takes at most 262,144 bytes, and DynamoDB 400 KB, so only a message that somebody else has sent to the
    delayer queue can be too large.
    """
    outcome = OutcomeMessage(
        schedule=message.schedule,
        nonce=message.nonce,
        fence=LONGEST_TOKEN,
        attempt=LARGEST,
        outcome="refused",
        detail="x" * MAX_DETAIL,
        after_seconds=LARGEST,
        lateness=LARGEST,
    )
    return len(encode(outcome).encode())


@frozen(kw_only=True)
class Group:
    """Messages handed over together, not before `at`."""

    at: Millis
    messages: tuple[DelayerMessage, ...]


def next_group(held: Sequence[DelayerMessage], lead: Millis) -> Group:
    """The next hand-over: the first that is due, and all that may go along with it (ADR 0016, 0086).

    It begins as soon as the last of them may be handed over: to wait any longer would take nobody along. Nothing is
    handed over more than `lead` before its point in time; the executor waits for the rest of the time.
    """
    last_call = min(ready_at(message) for message in held) - min(LAST_CALL, lead)
    together = tuple(message for message in held if ready_at(message) - lead <= last_call)
    return Group(at=max(ready_at(message) for message in together) - lead, messages=together)


def ready_at(message: DelayerMessage) -> Millis:
    """When it may reach its target: at its point in time, or at its turn if its attempts are limited."""
    return turn_of(message.slots, message.schedule.point_in_time)


@frozen
class Fire:
    """Claim it, and hand it over."""

    message: DelayerMessage


@frozen(kw_only=True)
class DropLate:
    """It is too late to fire, by its own rule: claim and end it."""

    message: DelayerMessage
    reason: str


RelaxedDecision = Fire | DropLate | AskLedger | MoveToDeadLetters | SetAside | Ignore


def decide_relaxed(change: RecordChange, now: Millis, action_types: Container[str]) -> RelaxedDecision:
    """Decides about one change. `action_types` are those that have an executor."""
    if change.kind is not ChangeKind.REMOVE:
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


def _decide_expired(message: DelayerMessage, now: Millis, action_types: Container[str]) -> RelaxedDecision:
    try:
        decision = decide(message, now, action_types)
    except Malformed as error:
        return MoveToDeadLetters(reason=error.reason, schedule=message.schedule)
    match decision:
        case Hold():
            return Fire(message)
        case Drop(reason):
            return DropLate(message=message, reason=reason)
        case WaitForExecutor(reason):
            return SetAside(reason)
        case Stale():
            return MoveToDeadLetters(reason=STALE, schedule=message.schedule)
        case Resend():
            return MoveToDeadLetters(reason=EARLY, schedule=message.schedule)


def decide_other_removal(schedule: Schedule, row: LedgerRow | None) -> MoveToDeadLetters | Ignore:
    """A cancel or a replacement writes the ledger before it removes the record. Any other removal is not forgotten."""
    if row is not None and row.state in (State.CANCELLED, State.REPLACED):
        return Ignore()
    return MoveToDeadLetters(reason=BY_OTHERS, schedule=schedule)
