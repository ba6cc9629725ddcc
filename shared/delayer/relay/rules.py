"""Decides about a message that has left the delayer queue, and about a record that has left the relaxed table."""

from collections.abc import Container, Mapping
from typing import Final

from attrs import frozen

from delayer.enqueue.rules import AskLedger, Common, Ignore, MoveToDeadLetters, SetAside, decide_far_removal
from delayer.flow.rules.block import BlockKind, waits_since
from delayer.flow.rules.gate import Go, Later
from delayer.flow.rules.limit import MARGIN
from delayer.ledger.model import LedgerRow
from delayer.schedule.instants import MAX_HOLD, STALE_AFTER, Malformed, Millis, UnknownVersion, delay_seconds
from delayer.schedule.messages import MAX_BYTES, DelayerMessage
from delayer.schedule.misfire import decide_misfire
from delayer.schedule.retrying import policy_of
from delayer.schedule.schedule import Schedule
from delayer.schedule.table_change import ChangeKind, Heartbeat, RecordChange, left_at

LAST_CALL: Final[Millis] = 100  # a hand-over begins no later than this before due, however many it takes along
ADDED: Final = 4_096  # bytes; what follows a message in the queue of its action has no more that the message has not
STALE = "more than 29 days past its point in time"
EARLY = "DynamoDB's TTL has removed its record before its point in time: somebody has changed expiresAt"
BY_OTHERS = "its record was removed by hand, and the ledger does not say why"


@frozen(kw_only=True)
class DropLate:
    """It is too late to fire, by its own rule: claim and end it."""

    message: DelayerMessage
    reason: str


@frozen(kw_only=True)
class WaitForExecutor:
    """Nobody here can do it yet: it stays in its queue, unclaimed, until there is somebody who can."""

    reason: str
    schedule_id: str = ""  # for the log; empty if it could not be read


Ready = Go[DelayerMessage] | DropLate  # to be claimed, and handed over or ended
Decision = Ready | Later[DelayerMessage] | WaitForExecutor | MoveToDeadLetters


def decide(message: DelayerMessage, now: Millis, action_types: Container[str], size: int = 0) -> Decision:
    """Decides about one message. `action_types` are those that have an executor; `size` are the bytes of its body.
    Go: it is held until its hand-over; if it is overdue, that is at once.

    What could not be handed over is not claimed: a cancel would be answered that it will be. A copy so late that its
    ledger row may have expired never fires (ADR 0023). Raises Malformed if the rule for lateness or the retry policy
    cannot be read, or if the queue of its action might not take what follows it: only somebody else than the API, and
    than DynamoDB with its 400 KB, could have sent such a message.
    """
    schedule, due = message.schedule, message.schedule.point_in_time
    if now - schedule.address.due > STALE_AFTER:
        return MoveToDeadLetters(reason=STALE, schedule=schedule)
    if drop := decide_misfire(schedule.definition.on_late, due, now):
        return DropLate(message=message, reason=drop.reason)
    if due - now > MAX_HOLD:
        return Later(message=message, at=due, why=None)
    if size + ADDED > MAX_BYTES:
        raise Malformed(f"too large for the queue of its action: {size:,} bytes")
    _ = policy_of(schedule.definition)
    if schedule.definition.action_type not in action_types:
        reason = f"no executor for the action {schedule.definition.action_type!r}"
        return WaitForExecutor(reason=reason, schedule_id=schedule.id)
    return Go(message=message, at=due)


def is_too_old(later: Later[DelayerMessage], now: Millis) -> bool:
    """Whether its target is given up: its owner's `maxAgeSeconds` counts from when it had to wait, without an attempt.

    An operator who suspends an owner or a target says how long that takes: nothing is given up for it. Raises
    Malformed.
    """
    if later.why is None or later.why.kind is BlockKind.SUSPENSION:
        return False
    return now - waits_since(later.message, later.why, now) > policy_of(later.message.schedule.definition).max_age


def delay_of(later: Later[DelayerMessage], now: Millis) -> int:
    """Whole seconds before it is to be looked at again. What waits for a turn comes a second before it (ADR 0114)."""
    return delay_seconds(later.at - (MARGIN if later.why and later.why.every else 0), now)


def next_group(held: Mapping[str, Go[DelayerMessage]], lead: Millis) -> tuple[Millis, list[str]]:
    """The next hand-over, and when: the first that is due, and all that may go along with it (ADR 0016, 0086).

    It begins as soon as the last of them may be handed over: to wait any longer would take nobody along. Nothing is
    handed over more than `lead` before its point in time; the executor waits for the rest of the time.
    """
    last_call = min(one.at for one in held.values()) - min(LAST_CALL, lead)
    together = [key for key, one in held.items() if one.at - lead <= last_call]
    return max(held[key].at for key in together) - lead, together


RelaxedDecision = Ready | Common


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
        case Later():
            return MoveToDeadLetters(reason=EARLY, schedule=message.schedule)
        case WaitForExecutor(reason=reason):
            return SetAside(reason)
    return decision


def decide_other_removal(schedule: Schedule, row: LedgerRow | None) -> MoveToDeadLetters | Ignore:
    """As `decide_far_removal`, whenever it was."""
    return decide_far_removal(schedule, row, BY_OTHERS)
