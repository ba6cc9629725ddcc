"""What the relay does with a message that has left the delayer queue."""

from collections.abc import Container, Sequence
from typing import Final

from attrs import frozen

from delayer.core.firing.misfire import Drop, decide_misfire
from delayer.core.firing.retrying import policy_of
from delayer.core.flow.block import Block, Kind, kept_back_from
from delayer.core.ledger.detail import MAX_DETAIL
from delayer.core.limits.turn import turn_of
from delayer.core.schedule.instants import Millis
from delayer.core.schedule.malformed import Malformed
from delayer.core.schedule.margins import MAX_HOLD, STALE_AFTER, delay_seconds
from delayer.core.schedule.messages import MAX_BYTES, DelayerMessage, OutcomeMessage, encode

LONGEST_TOKEN: Final = "x" * 64  # longer than any fencing token
LARGEST: Final = 2**63 - 1  # a number longer than any in a message
LAST_CALL: Final[Millis] = 100  # a hand-over begins no later than this before due, however many it takes along


@frozen
class Resend:
    """Too early to hold: back into the delayer queue, with the same nonce."""

    delay_seconds: int


@frozen
class Hold:
    """Hold it until its hand-over, at once if it is overdue."""


@frozen
class Wait:
    """Nobody here can do it yet: it stays in its queue, unclaimed, until there is somebody who can."""

    reason: str


# Characters of a body. UTF-8 takes four bytes for one at most, and what follows a message in the queue of its action
# has less than 4 KB that the message has not. To encode it only to learn its length costs as much as to decode it.
ADDED: Final = 4_096
SURELY_FITS: Final = (MAX_BYTES - ADDED) // 4


@frozen
class Stale:
    """A copy so late that its ledger row may have expired: it becomes a dead letter and never fires (ADR 0023)."""


Decision = Resend | Hold | Wait | Stale | Drop


def decide(message: DelayerMessage, now: Millis, action_types: Container[str], length: int = MAX_BYTES) -> Decision:
    """What to do with one message. `action_types` are those that have an executor; `length` are the characters of its
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
        return Wait(f"no executor for the action {message.schedule.definition.action_type!r}")
    return Hold()


def is_too_old(message: DelayerMessage, block: Block, now: Millis) -> bool:
    """Whether its target is given up: its owner's `maxAgeSeconds` counts from when it had to wait, without an attempt.

    An operator who suspends an owner or a target says how long that takes: nothing is given up for it. Raises
    Malformed.
    """
    if block.kind is Kind.SUSPENSION:
        return False
    return now - kept_back_from(message, block, now) > policy_of(message.schedule.definition).max_age


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
