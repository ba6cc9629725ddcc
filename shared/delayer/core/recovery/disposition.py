"""What becomes of a body that is about to become a dead letter (ADR 0021)."""

from enum import StrEnum

from delayer.core.ledger.lifecycle import State
from delayer.core.ledger.row import Arrival, LedgerRow


class Disposition(StrEnum):
    """The three possibilities."""

    MARK = "mark"  # store it, and write the end into the ledger
    STORE = "store"  # store it; the ledger says so already, or it is just being redriven
    DISCARD = "discard"  # it ended in another way, or there is another copy: it is not needed


def decide_disposition(current: LedgerRow | None, nonce: str, fence: str = "") -> Disposition:
    """Whether this copy may be the last one of its schedule.

    `nonce` is empty for a copy that was never sent, `fence` for one that was not handed over yet. Where two copies
    might be the last, it is stored: an operator sees a dead letter too many, but a discarded copy is lost.
    """
    if current is None:
        return Disposition.MARK
    if current.state is State.DEAD_LETTERED:
        return Disposition.STORE
    if current.state is State.SCHEDULED:
        # The redrive may not have sent its copy yet, and this body may be the very object that it reads.
        is_own = current.nonce in ("", nonce) and not current.fence
        return Disposition.MARK if is_own else Disposition.STORE
    if current.ended or current.nonce != nonce:
        return Disposition.DISCARD
    if current.arrival is Arrival.TAKEN and fence != current.fence:
        return Disposition.DISCARD  # another message makes this attempt
    if fence and current.retry_of:
        may_be_last = fence in (current.fence, current.retry_of) or current.arrival is Arrival.CONTESTED
        return Disposition.MARK if may_be_last else Disposition.DISCARD
    if fence:
        return Disposition.MARK  # if a new claim has overtaken it, the hand-over of that claim may never have been made
    return Disposition.DISCARD if current.retry_of else Disposition.MARK


def may_need_body(row: LedgerRow) -> bool:
    """Whether a stored body may be the only copy: it failed, is a dead letter, or is just being redriven."""
    return row.state in (State.FAILED, State.DEAD_LETTERED, State.SCHEDULED)
