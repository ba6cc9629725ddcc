"""Who may claim a schedule: one copy, whatever crashes and whatever is delivered twice (ADR 0018)."""

from attrs import frozen

from delayer.core.ledger.lifecycle import EventType, State
from delayer.core.ledger.row import Arrival, LedgerChange, LedgerRow, Refuse, RetryLater, UnderWay, amended, new_row
from delayer.core.schedule.instants import Millis
from delayer.core.schedule.messages import DelayerMessage

Verdict = LedgerChange | RetryLater | Refuse


@frozen(kw_only=True)
class Claim:
    """What a relay asks for with one message."""

    message: DelayerMessage
    fence: str  # new, for the message that is handed over
    now: Millis
    lease: Millis  # the relay's function timeout


def decide_claim(claim: Claim, current: LedgerRow | None) -> Verdict:
    """What a relay does, given the current row. After a crash a message is claimed again; a second copy never fires.

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
        arrival=Arrival.CONTESTED if again else Arrival.UNKNOWN,  # the first hand-over may have arrived all the same
    )
    return LedgerChange(row=row, over=over)


def noted(message: DelayerMessage, current: LedgerRow) -> LedgerChange | None:
    """When it was enqueued, in the row of what was withdrawn on its way: only its message knows (ADR 0119)."""
    if current.state not in (State.CANCELLED, State.REPLACED) or current.enqueued_at or not message.enqueued_at:
        return None
    return LedgerChange(row=amended(current, enqueued_at=message.enqueued_at), over=current)


def decide_drop(claim: Claim, current: LedgerRow | None, reason: str) -> Verdict:
    """What a relay does with a copy that is to be dropped: it writes the end instead of the claim.

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
