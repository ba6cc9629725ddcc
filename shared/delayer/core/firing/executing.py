"""What an executor does: attempt it, try again later, or give up (ADR 0020)."""

import hashlib
from typing import Final

from attrs import field, frozen

from delayer.core.firing.enqueueing import delay_seconds
from delayer.core.firing.relaying import MAX_HOLD
from delayer.core.ledger.detail import detail_of
from delayer.core.ledger.row import LedgerRow, Refuse, RetryLater
from delayer.core.schedule.instants import SECOND, Millis
from delayer.core.schedule.messages import ExecutorMessage

DEFAULT_ATTEMPTS: Final = 10
MAX_ATTEMPTS: Final = 20
MAX_RETRY_SECONDS: Final = 900  # what SQS can delay


@frozen
class Hold:
    """It is not due yet: wait until then."""

    until: Millis


@frozen
class Resend:
    """Far too early, which happens only if a clock is wrong: back into the queue, the same attempt."""

    delay_seconds: int


@frozen
class Attempt:
    """Nothing prevents it: reach the target."""


@frozen(kw_only=True)
class SendNext:
    """This attempt failed before, and its function may have crashed before it sent the next one: send it (again)."""

    fence: str
    attempt: int


@frozen
class Stop:
    """Its owner asked that no further attempt starts: it ends as dropped."""


@frozen
class Orphan:
    """The ledger has no claim for it: it becomes a dead letter."""


@frozen
class Done:
    """The target accepted it. `detail` says so to clients and operators, in our words and not in its own (ADR 0065)."""

    detail: str = field(converter=detail_of)


@frozen(kw_only=True)
class Retry:
    """The target may accept it later. `after_seconds` is the delay that it asked for, if it did."""

    detail: str = field(converter=detail_of)
    after_seconds: int | None = None


@frozen
class Refused:
    """The target will never accept it."""

    detail: str = field(converter=detail_of)


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
    early = message.schedule.point_in_time - now
    if early <= 0:
        return None
    if early <= MAX_HOLD:
        return Hold(message.schedule.point_in_time)
    return Resend(max(delay_seconds(message.schedule.point_in_time, now), 1))


def decide_attempt(
    message: ExecutorMessage, row: LedgerRow | None
) -> Attempt | SendNext | Stop | Refuse | RetryLater | Orphan:
    """Whether this message may reach the target, given the ledger row read just before.

    A first message that a new claim has overtaken may be the only one, until the row shows that the other one has
    arrived. So it waits for that, and is not deleted (ADR 0043).
    """
    if row is None:
        return Orphan()
    if row.ended:
        return Refuse(f"already {row.state}")
    if row.nonce != message.nonce:
        return Refuse("another copy holds the claim")
    if row.fence == message.fence:
        return Stop() if row.stopped_at else Attempt()
    if row.retry_of == message.fence:
        return SendNext(fence=row.fence, attempt=row.attempt)
    if not row.retry_of:
        return RetryLater()
    return Refuse("overtaken by another message")


def decide_next(message: ExecutorMessage, result: Retry | Refused, max_attempts: int) -> TryAgain | GiveUp:
    """What follows an attempt that the target did not accept."""
    if isinstance(result, Refused):
        return GiveUp(result.detail)
    if message.attempt >= max_attempts:
        return GiveUp(f"gave up after {message.attempt} attempts: {result.detail}")
    return TryAgain(retry_seconds(message.schedule.id, message.attempt, result.after_seconds))


def retry_seconds(schedule_id: str, attempt: int, wished: int | None = None) -> int:
    """Seconds until the attempt after `attempt`: 1, 4, 16, 64, 256, then 900, up to a quarter less by id.

    The spread keeps schedules that failed together from coming back together. If the target asked for a delay
    (`Retry-After`), that one is used, up to what SQS can delay.
    """
    if wished is not None:
        return min(max(wished, 1), MAX_RETRY_SECONDS)
    whole: int = min(4 ** (attempt - 1), MAX_RETRY_SECONDS)
    spread = hashlib.sha256(f"{schedule_id}#{attempt}".encode()).digest()[0] / 1024
    return max(round(whole * (1 - spread)), 1)


def lateness(message: ExecutorMessage, now: Millis) -> Millis:
    """How long after its point in time it is attempted."""
    return now - message.schedule.point_in_time


LATE: Final[Millis] = SECOND  # from here on an attempt counts as late
