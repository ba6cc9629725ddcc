"""What the relay does with a message that has left the delayer queue."""

from collections.abc import Sequence
from typing import Final

from attrs import frozen

from delayer.core.enqueueing import delay_seconds
from delayer.core.instants import SECOND, Millis
from delayer.core.late import Drop, decide_late
from delayer.core.ledger import STALE_AFTER
from delayer.core.schedule_id import address_of
from delayer.core.wire import DelayerMessage

MAX_HOLD: Final[Millis] = 3 * SECOND  # what is earlier goes back into the queue: a hold is paid for (ADR 0016)
LAST_CALL: Final[Millis] = 100  # a hand-over starts this long before due, so that it takes its neighbours along


@frozen
class Resend:
    """Too early to hold: back into the delayer queue, with the same nonce."""

    delay_seconds: int


@frozen
class Hold:
    """Hold it until its hand-over, at once if it is overdue."""


@frozen
class Stale:
    """A copy so late that its ledger row may be gone: set aside, never fired (ADR 0023)."""


def decide(message: DelayerMessage, now: Millis) -> Resend | Hold | Stale | Drop:
    """What to do with one message. Raises ValueError if its id is none, or its rule for lateness."""
    if now - address_of(message.id).due > STALE_AFTER:
        return Stale()
    if drop := decide_late(message.on_late, message.point_in_time, now):
        return drop
    if message.point_in_time - now > MAX_HOLD:
        return Resend(delay_seconds(message.point_in_time, now))
    return Hold()


@frozen
class Group:
    """Messages handed over together, not before `at`."""

    at: Millis
    messages: tuple[DelayerMessage, ...]


def next_group(held: Sequence[DelayerMessage], lead: Millis) -> Group:
    """The next hand-over: the first that is due, and all that may go along with it (ADR 0017).

    Nothing is handed over more than `lead` before its point in time; the executor waits out the rest.
    """
    first = min(message.point_in_time for message in held)
    at = first - min(LAST_CALL, lead)
    return Group(at, tuple(message for message in held if message.point_in_time - lead <= at))
