"""What an executor does: attempt it, try again later, or give up loudly (ADR 0020)."""

import hashlib
from typing import Final

from attrs import frozen

from delayer.core.enqueueing import delay_seconds
from delayer.core.instants import SECOND, Millis
from delayer.core.ledger import LedgerRow, Refuse
from delayer.core.relaying import MAX_HOLD
from delayer.core.wire import ExecutorMessage

DEFAULT_ATTEMPTS: Final = 10
MAX_ATTEMPTS: Final = 20
MAX_RETRY_SECONDS: Final = 900  # what SQS can delay


@frozen
class Hold:
    """It is not due yet: wait until then."""

    until: Millis


@frozen
class Resend:
    """Far too early, which only a wrong clock can bring about: back into the queue, the same attempt."""

    delay_seconds: int


@frozen
class Attempt:
    """Nothing stands against it: reach the target."""


@frozen
class SendNext:
    """This delivery failed before, and may have crashed before it sent the next attempt: send it (again)."""

    delivery: str
    attempt: int


@frozen
class Stop:
    """Its owner wished that no further attempt starts: it ends as dropped."""


@frozen
class Wait:
    """Another relay has claimed anew, and may have died before its own hand-over: look again later."""


@frozen
class Orphan:
    """No claim stands for it: set aside."""


@frozen
class Done:
    """The target took it. `detail` is its answer, for people."""

    detail: str


@frozen
class Retry:
    """The target may take it later. `after_seconds` is its own wish, if it said one."""

    detail: str
    after_seconds: int | None = None


@frozen
class Refused:
    """The target will never take it."""

    detail: str


Result = Done | Retry | Refused


@frozen
class TryAgain:
    """Schedule the next attempt."""

    delay_seconds: int


@frozen
class GiveUp:
    """There will be no further attempt."""

    reason: str


def decide_wait(message: ExecutorMessage, now: Millis) -> Hold | Resend | None:
    """The last guard of "never early": None once it is due."""
    early = message.point_in_time - now
    if early <= 0:
        return None
    if early <= MAX_HOLD:
        return Hold(message.point_in_time)
    return Resend(max(delay_seconds(message.point_in_time, now), 1))


def decide_attempt(
    message: ExecutorMessage, row: LedgerRow | None
) -> Attempt | SendNext | Stop | Refuse | Wait | Orphan:
    """Whether this delivery may reach the target, given the ledger row read just before.

    A first delivery that a new claim has overtaken may be the only message there is, until the row tells that the
    other one has arrived: it waits for that, and is not deleted (ADR 0043).
    """
    if row is None:
        return Orphan()
    if row.ended:
        return Refuse(f"already {row.state}")
    if row.nonce != message.nonce:
        return Refuse("another copy holds the claim")
    if row.delivery == message.delivery:
        return Stop() if row.stopped_at else Attempt()
    if row.retry_of == message.delivery:
        return SendNext(row.delivery, row.attempt)
    if not row.retry_of:
        return Wait()
    return Refuse("overtaken by another delivery")


def decide_next(message: ExecutorMessage, result: Retry | Refused, max_attempts: int) -> TryAgain | GiveUp:
    """What follows an attempt that the target did not take."""
    if isinstance(result, Refused):
        return GiveUp(result.detail)
    if message.attempt >= max_attempts:
        return GiveUp(f"gave up after {message.attempt} attempts: {result.detail}")
    return TryAgain(retry_seconds(message.id, message.attempt, result.after_seconds))


def retry_seconds(schedule_id: str, attempt: int, wished: int | None = None) -> int:
    """Seconds until the attempt after `attempt`: 1, 4, 16, 64, 256, then 900, up to a quarter less by id.

    The spread keeps schedules that failed together from coming back together. A target's own wish
    (`Retry-After`) is honoured up to what SQS can delay.
    """
    if wished is not None:
        return min(max(wished, 1), MAX_RETRY_SECONDS)
    whole: int = min(4 ** (attempt - 1), MAX_RETRY_SECONDS)
    spread = hashlib.sha256(f"{schedule_id}#{attempt}".encode()).digest()[0] / 1024
    return max(round(whole * (1 - spread)), 1)


def lateness(message: ExecutorMessage, now: Millis) -> Millis:
    """How long after its point in time it is attempted."""
    return now - message.point_in_time


LATE: Final[Millis] = SECOND  # from here on an attempt counts as late
