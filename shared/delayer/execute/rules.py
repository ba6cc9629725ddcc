"""Decides what an executor does: attempt it, try again later, or give up (ADR 0020)."""

from collections.abc import Mapping
from typing import Final

from attrs import evolve, frozen

from delayer.actions.rules.model import Done, Refused, Result, Retry
from delayer.flow.rules.block import Block, BlockKind, waits_since
from delayer.flow.rules.gate import Later
from delayer.flow.rules.limit import seconds_before, turn_of
from delayer.ledger.model import Arrival, LedgerRow, Refuse, RetryLater
from delayer.schedule.instants import MAX_DELAY_SECONDS, MAX_HOLD, SECOND, STALE_AFTER, Malformed, Millis
from delayer.schedule.messages import ExecutorMessage, OutcomeMessage
from delayer.schedule.retrying import RetryPolicy, retry_seconds

CARRIED_SECONDS: Final = 5  # until an outcome that could not be written is tried again the first time


@frozen
class Attempt:
    """Nothing prevents it: reach the target."""


@frozen
class Take:
    """There may be several messages for this attempt: it is made if this one is the first to say so in the ledger."""


@frozen
class SendNext:
    """This attempt failed before, and it is not known whether the message for the next one arrived: send another.

    That one needs a fencing token of its own: with the same token both would be attempted.
    """


@frozen
class DropStopped:
    """Its owner asked that no further attempt starts: it ends as dropped."""


@frozen
class Orphan:
    """The ledger has no claim for it: it becomes a dead letter."""


@frozen(kw_only=True)
class Made:
    """An attempt that was made: it is not made again, whatever keeps its outcome from being written."""

    message: ExecutorMessage
    result: Result
    lateness: Millis  # of this attempt
    is_probe: bool = False  # it was let through to see whether its target answers: it uses up no attempt (ADR 0153)


def carried(made: Made) -> OutcomeMessage:
    """The message that takes the place of the attempt's own, until the outcome is written (ADR 0083)."""
    result = made.result
    asked = result.after_seconds if isinstance(result, Retry) else None
    return OutcomeMessage(
        schedule=made.message.schedule,
        nonce=made.message.nonce,
        fence=made.message.fence,
        attempt=made.message.attempt,
        outcome=_OUTCOMES[type(result)],
        detail=result.detail,
        after_seconds=-1 if asked is None else asked,
        lateness=made.lateness,
        answer=result.answer,
        is_probe=made.is_probe,
        generation=made.message.generation,
    )


def made_of(message: OutcomeMessage) -> Made:
    """The inverse of `carried`. Raises Malformed for an outcome that there is not."""
    results: dict[str, Result] = {
        "done": Done(message.detail, answer=message.answer),
        "retry": Retry(
            detail=message.detail,
            after_seconds=None if message.after_seconds < 0 else message.after_seconds,
            answer=message.answer,
        ),
        "refused": Refused(message.detail, answer=message.answer),
    }
    if message.outcome not in results:
        raise Malformed(f"no such outcome: {message.outcome!r}")
    attempt = ExecutorMessage(
        schedule=message.schedule,
        nonce=message.nonce,
        fence=message.fence,
        attempt=message.attempt,
        generation=message.generation,
    )
    return Made(
        message=attempt,
        result=results[message.outcome],
        lateness=message.lateness,
        is_probe=message.is_probe,
    )


_OUTCOMES: Final[Mapping[type[Result], str]] = {Done: "done", Retry: "retry", Refused: "refused"}


@frozen
class TryAgain:
    """Schedule the next attempt."""

    delay_seconds: int


@frozen
class GiveUp:
    """There will be no further attempt."""

    reason: str


def decide_wait(message: ExecutorMessage, now: Millis) -> Later[ExecutorMessage] | None:
    """The last guard of "never early": None once it is due."""
    due = message.schedule.point_in_time
    return Later(message=message, at=due, why=None) if due > now else None


def decide_attempt(
    message: ExecutorMessage, row: LedgerRow | None
) -> Attempt | Take | SendNext | DropStopped | Refuse | RetryLater | Orphan:
    """Whether this message may reach the target, given the ledger row read just before.

    Of several messages for one attempt, the first that arrives makes it: any of them may be the only one (ADR 0084).
    What was sent on since is not among them: it may be deleted by another delivery of it, while this one goes on.
    Rows of an older version do not say that there are several: there, a message that was overtaken before any attempt
    waits until the row has changed.
    """
    if row is None:
        return Orphan()
    if row.ended:
        return Refuse(f"already {row.state}")
    if row.nonce != message.nonce:
        return Refuse("another copy holds the claim")
    if row.admits(message.fence, message.attempt) and (message.fence == row.fence or is_of_now(message, row)):
        return DropStopped() if row.stopped_at else Take() if row.arrival is Arrival.CONTESTED else Attempt()
    if row.arrival is Arrival.TAKEN:
        return Refuse("another message makes this attempt")
    if row.retry_of == message.fence:
        return SendNext()
    if not row.retry_of:
        return RetryLater()
    return Refuse("overtaken by another message")


def is_of_now(message: ExecutorMessage, row: LedgerRow) -> bool:
    """Whether it is of the generation of its row, as far as both know that there are any (ADR 0183)."""
    return message.generation == row.generation or not message.generation or not row.generation


def decide_later(
    message: ExecutorMessage, row: LedgerRow, later: Later[ExecutorMessage] | None, now: Millis
) -> Later[ExecutorMessage] | None:
    """Decides about a message that may make the next attempt: None if it is time for it.

    `later` is what it has found no room for. An attempt that was taken was in time by the clock of its executor: it
    waits for room, and for nothing else.
    """
    why = later.why if later else None
    if row.arrival is Arrival.TAKEN:
        return later if why and (why.is_comeback or why.kind in (BlockKind.LIMIT, BlockKind.CROWD)) else None
    early = row.retry_at - now
    if early > 0 and (why is None or early > MAX_HOLD):
        return Later(message=message, at=row.retry_at, why=None)
    return later


def decide_next(
    made: Made, result: Retry | Refused, policy: RetryPolicy, age_from: Millis, probes: int = 0
) -> TryAgain | GiveUp:
    """Decides what follows an attempt that the target did not accept. `age_from` is when its first attempt was made.

    `probes` of those before it were probes, and count no more than it does itself if it is one.

    Its age is that of the instant at which the attempt was made: an outage that keeps the outcome from being written
    uses up nothing. Nor is the age looked at before an attempt that was planned once.
    """
    if isinstance(result, Refused):
        return GiveUp(result.detail)
    schedule, probes = made.message.schedule, probes + made.is_probe
    counted = made.message.attempt - probes
    if counted >= policy.max_attempts and not made.is_probe:
        return GiveUp(f"gave up {_after(counted, probes)}: {result.detail}")
    delay = retry_seconds(policy, schedule.id, max(counted, 1), result.after_seconds)
    latest = min(age_from + policy.max_age, schedule.address.due + STALE_AFTER)
    left = (latest - attempted_at(made)) // SECOND
    if delay > left >= retry_seconds(policy, schedule.id, max(counted, 1)):
        delay = left  # the target has asked for more: the last attempt is made at the last moment
    following, after = attempted_at(made) + delay * SECOND, _after(counted, probes)
    if following - age_from > policy.max_age:
        return GiveUp(_too_late(after, f"maxAgeSeconds ({policy.max_age // SECOND}) ends", delay, result.detail))
    if following - schedule.address.due > STALE_AFTER:
        return GiveUp(_too_late(after, "29 days from its due time end", delay, result.detail))
    return TryAgain(delay)


def decide_too_old(
    message: ExecutorMessage, row: LedgerRow, block: Block, policy: RetryPolicy, now: Millis
) -> str | None:
    """Why it is given up instead of waiting any longer; None if it waits on.

    Its age counts from its first attempt, or from when it had to wait if there was none. A suspension gives up nothing
    before all that is late becomes a dead letter.
    """
    born = row.age_from or waits_since(message, block, now)
    if now - message.schedule.address.due > STALE_AFTER:
        ended = "29 days from its due time"
    elif block.kind is not BlockKind.SUSPENSION and now - born > policy.max_age:
        ended = f"maxAgeSeconds ({policy.max_age // SECOND})"
    else:
        return None
    after = _after(row.attempt - 1 - row.probes, row.probes)
    return f"gave up {after}, as {ended} ended while it waited: {block.reason}"


def at_last(
    message: ExecutorMessage, row: LedgerRow, later: Later[ExecutorMessage], policy: RetryPolicy, now: Millis
) -> Millis:
    """When it is looked at again: as soon as it is too old for another attempt, at the latest."""
    if later.why is None or later.why.kind is BlockKind.SUSPENSION:
        return later.at
    born = row.age_from or waits_since(message, later.why, now)
    return min(later.at, born + policy.max_age + 1)


def due_of(message: ExecutorMessage) -> Millis:
    """When its attempt is due without any limit, as far as the message says it."""
    return max(message.schedule.point_in_time, message.not_before)


def with_attempt(current: LedgerRow, row: LedgerRow, detail: str) -> LedgerRow:
    """The row that is there, with what `row` says of the attempt that was just made."""
    return evolve(
        current,
        lateness=row.lateness,
        age_from=row.age_from,
        detail=detail,
        answer=row.answer,
        attempted_at=row.attempted_at,
    )


def hop_seconds(message: ExecutorMessage, retry_at: Millis, now: Millis) -> int:
    """How long SQS delays a message that waits on. One that has a turn comes before it: later, the turn is missed."""
    has_turn = message.slots and turn_of(message.slots, 0) == retry_at
    return seconds_before(retry_at, now) if has_turn else seconds_until(retry_at, now)


def not_before(retry_at: Millis, now: Millis) -> Millis:
    """The time that the message for an attempt names if SQS cannot delay it for long enough: then it books
    no turn yet.
    """
    return retry_at if retry_at - now > MAX_DELAY_SECONDS * SECOND else 0


def _too_late(after: str, what_ends: str, delay: int, detail: str) -> str:
    return f"gave up {after}, as {what_ends} before the next one in {delay} s: {detail}"


def _after(counted: int, probes: int) -> str:
    numbers = ((counted, "attempt"), (probes, "probe"))
    made = [f"{number} {what}{'s' if number > 1 else ''}" for number, what in numbers if number]
    return f"after {' and '.join(made)}" if made else "without an attempt"


def attempted_at(made: Made) -> Millis:
    """When it was made."""
    return made.message.schedule.point_in_time + made.lateness


def age_from(made: Made, row: LedgerRow) -> Millis:
    """From when on the age of its schedule counts: the instant of its first attempt.

    A row of an older version does not have it, but the lateness of that attempt.
    """
    return row.age_from or made.message.schedule.point_in_time + row.lateness


def seconds_until(retry_at: Millis, now: Millis) -> int:
    """The rest of the delay of a retry in seconds, rounded up, and within what SQS can delay."""
    return min(max(-(-(retry_at - now) // SECOND), 0), MAX_DELAY_SECONDS)


def lateness(message: ExecutorMessage, now: Millis) -> Millis:
    """How long after its point in time it is attempted."""
    return now - message.schedule.point_in_time


LATE: Final[Millis] = SECOND  # from here on an attempt counts as late
