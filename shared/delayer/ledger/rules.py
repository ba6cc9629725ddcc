"""Decides who may claim a schedule, how it ends or goes on, and when none of its attempts is under way (ADR 0018,
0070).
"""

from attrs import frozen

from delayer.ledger.model import (
    Arrival,
    EventType,
    LedgerChange,
    LedgerRow,
    Refuse,
    RetryLater,
    State,
    UnderWay,
    amended,
    following,
    new_row,
)
from delayer.schedule.instants import ATTEMPT_OVER, ROW_LIFETIME, Millis
from delayer.schedule.messages import DelayerMessage


def at_rest_from(row: LedgerRow) -> Millis:
    """The instant from which no attempt of it is under way, given that it has an end or was redriven; 0: since ever.

    Whoever reads the row once it has an end begins no attempt. An executor that read it just before may still be at
    work, as long as its function may run. A schedule that is redriven takes that instant along.
    """
    may_have_begun = row.state in (State.DEAD_LETTERED, State.FAILED) and row.attempt
    return max(row.lease_until, row.at + ATTEMPT_OVER if may_have_begun else 0)


def ended(
    row: LedgerRow, state: State, now: Millis, detail: str = "", answer: str = "", attempted_at: Millis = 0
) -> LedgerRow:
    """The row after its schedule came to an end."""
    return following(row, EventType(state), now, detail=detail, answer=answer, attempted_at=attempted_at)


def ended_unclaimed(schedule_id: str, owner: str, state: State, now: Millis, reason: str) -> LedgerRow:
    """The first row of a schedule that ends before it was ever claimed."""
    return new_row(EventType(state), schedule_id, owner, now, detail=reason)


def retried(
    row: LedgerRow,
    fence: str,
    now: Millis,
    detail: str = "",
    retry_at: Millis = 0,
    after: str = "",
    answer: str = "",
    attempted_at: Millis = 0,
    *,
    is_probe: bool = False,
) -> LedgerRow:
    """The row after an attempt failed; `fence` names the message for the next one, which may be made at `retry_at`.

    `after` is the token of the message whose attempt failed, if another one is in the row. A probe has a number like
    any other attempt, since no two messages may make the same; that it does not count is said beside it.
    """
    return following(
        row,
        EventType.ATTEMPT_FAILED,
        now,
        attempt=row.attempt + 1,
        probes=row.probes + is_probe,
        fence=fence,
        retry_of=after or row.fence,
        retry_at=retry_at,
        generation=1,
        arrival=Arrival.UNKNOWN,
        detail=detail,
        answer=answer,
        attempted_at=attempted_at,
    )


def hopped(row: LedgerRow, fence: str, now: Millis, after: str, retry_at: Millis = 0) -> LedgerRow:
    """The row before a message that may not make its attempt yet is sent once more: the same attempt.

    At the same time, unless `retry_at` is later: then all that is for its target waits (ADR 0110).
    `fence` names the message that waits on, and `after` the one that sends it. All others for this attempt are
    overtaken from now on, so that what was sent twice does not become more and more (ADR 0087).
    """
    kept_until = max(row.expires_at, now + ROW_LIFETIME)
    return amended(
        row,
        fence=fence,
        retry_of=after,
        generation=row.generation + 1,
        arrival=Arrival.UNKNOWN,
        expires_at=kept_until,
        retry_at=retry_at or row.retry_at,
    )


def contested(row: LedgerRow) -> LedgerRow:
    """The row before another message is sent for its attempt: the first that arrives makes it (ADR 0084)."""
    return amended(row, arrival=Arrival.CONTESTED)


def taken(row: LedgerRow, fence: str) -> LedgerRow:
    """The row before a contested attempt is made: by the message with this token, and by no other."""
    return amended(row, fence=fence, arrival=Arrival.TAKEN)


def stopped(row: LedgerRow, now: Millis) -> LedgerRow:
    """The row of a claimed schedule after its owner asked that no further attempt starts."""
    return following(row, EventType.STOP_REQUESTED, now, at=row.at, expires_at=row.expires_at, stopped_at=now)


def stopped_for_good(row: LedgerRow, now: Millis) -> LedgerRow:
    """The row of a dead letter that its owner has stopped: it has an end, and is not redriven."""
    last = f"; before that: {row.detail}" if row.detail else ""
    return following(row, EventType.DROPPED, now, stopped_at=now, detail=f"stopped by its owner{last}")


def may_end(current: LedgerRow, nonce: str, fence: str, attempt: int, state: State) -> bool:
    """Whether an executor may write its outcome over a row that is not the one it read.

    `nonce`, `fence` and `attempt` are those of its message. If the target accepted the attempt, that is true whatever
    the row says now, and it counts more than the end that another message of the same claim has written. If the attempt
    failed, that counts only as long as no other message has taken its place.
    """
    if current.nonce != nonce:
        return False
    if state is State.EXECUTED:
        return not current.ended or current.state in (State.DEAD_LETTERED, State.FAILED, State.DROPPED)
    return not current.ended and current.admits(fence, attempt)


Verdict = LedgerChange | RetryLater | Refuse


@frozen(kw_only=True)
class Claim:
    """A relay asks for this claim with one message."""

    message: DelayerMessage
    fence: str  # new, for the message that is handed over
    now: Millis
    lease: Millis  # the relay's function timeout


def decide_claim(claim: Claim, current: LedgerRow | None) -> Verdict:
    """Decides what a relay does, given the current row. After a crash a message is claimed again; a second copy never
    fires.

    A change whose row has an end is a note in it, and no claim.
    """
    nonce = claim.message.nonce
    if current is None:
        return _claimed(claim, None)
    if current.ended:
        return noted(claim.message, current) or Refuse(f"already {current.state}")
    if current.state is State.SCHEDULED:
        if current.nonce not in ("", nonce):
            return Refuse("a second copy: another one was redriven")
        return _claimed(claim, current)
    if current.nonce != nonce:
        return Refuse("a second copy: another one holds the claim")
    if current.retry_of or current.arrival is Arrival.TAKEN:
        return UnderWay("it has reached its executor")
    if claim.now < current.lease_until:
        return RetryLater()
    return _claimed(claim, current)


def _claimed(claim: Claim, over: LedgerRow | None) -> LedgerChange:
    again = over if over and over.state is State.CLAIMED else None
    row = new_row(
        EventType.CLAIMED_AGAIN if again else EventType.CLAIMED,
        claim.message.schedule.id,
        claim.message.schedule.owner,
        claim.now,
        over=over,
        nonce=claim.message.nonce,
        fence=claim.fence,
        lease_until=claim.now + claim.lease,
        claimed_at=again.claimed_at if again else claim.now,
        enqueued_at=claim.message.enqueued_at,
        stopped_at=again.stopped_at if again else 0,
        attempt=1,
        generation=1,
        arrival=Arrival.CONTESTED if again else Arrival.UNKNOWN,  # the first hand-over may have arrived all the same
    )
    return LedgerChange(row=row, over=over)


def noted(message: DelayerMessage, current: LedgerRow) -> LedgerChange | None:
    """When it was enqueued, in the row of what was withdrawn on its way: only its message knows (ADR 0119)."""
    if current.state not in (State.CANCELLED, State.REPLACED) or current.enqueued_at or not message.enqueued_at:
        return None
    return LedgerChange(row=amended(current, enqueued_at=message.enqueued_at), over=current)


def decide_drop(claim: Claim, current: LedgerRow | None, reason: str) -> Verdict:
    """Decides about a copy that is to be dropped: the relay writes the end instead of the claim.

    What is claimed already is claimed again and handed over: its first relay may have handed it over already.
    """
    verdict = decide_claim(claim, current)
    if not isinstance(verdict, LedgerChange) or (current and (current.ended or current.state is State.CLAIMED)):
        return verdict
    schedule = claim.message.schedule
    row = new_row(
        EventType.DROPPED,
        schedule.id,
        schedule.owner,
        claim.now,
        over=verdict.over,
        detail=reason,
        enqueued_at=claim.message.enqueued_at,
    )
    return LedgerChange(row=row, over=verdict.over)
