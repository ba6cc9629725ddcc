"""The ledger row of a schedule that is redriven: it can be claimed and cancelled as if there were none (ADR 0021).

And what a discard does to a row.
"""

from typing import Final

from attrs import frozen

from delayer.core.ledger.at_rest import at_rest_from
from delayer.core.ledger.lifecycle import EventType, State
from delayer.core.ledger.outcome import ended, ended_unclaimed
from delayer.core.ledger.row import LedgerChange, LedgerRow, Refuse, amended, new_row
from delayer.core.schedule.instants import Millis

REDRIVABLE: Final = frozenset({State.DEAD_LETTERED, State.FAILED, State.SCHEDULED})
DISCARDABLE: Final = frozenset({State.DEAD_LETTERED, State.SCHEDULED})
TO_THE_TABLE: Final = (
    "redriven to the table"  # in place of a fencing token, until the body that was redriven is deleted
)

DISCARDED: Final = "discarded by an operator"


@frozen
class Stays:
    """It has another end, which a discard does not change: only its stored body is deleted."""

    state: State


def decide_discard(
    schedule_id: str, owner: str, current: LedgerRow | None, now: Millis, *, handed_over: bool
) -> LedgerChange | Stays | Refuse:
    """What a discard of a stored body does to the row of its schedule (ADR 0072).

    `handed_over` says that the body is a message of an executor's queue. Whoever wanted to cancel a claimed schedule
    was told that it has been or will be handed over: it is not dropped before that is true, unless its owner stops it.
    """
    if current is None:
        return LedgerChange(row=ended_unclaimed(schedule_id, owner, State.DROPPED, now, DISCARDED))
    if current.state not in DISCARDABLE:
        return Stays(current.state) if current.ended else Refuse(f"it is {current.state}: on its way; wait for its end")
    if current.claimed_at and not (handed_over or current.was_attempted or current.stopped_at):
        return Refuse(
            "it was claimed, and is not known to have been handed over: redrive it. If its target must not be reached "
            "any more, its owner stops it first (POST /schedules/{id}/stop)"
        )
    return LedgerChange(row=ended(current, State.DROPPED, now, DISCARDED), over=current)


def redriven(schedule_id: str, owner: str, over: LedgerRow | None, nonce: str, now: Millis) -> LedgerRow:
    """`nonce` is that of the copy sent to the delayer queue, which alone may claim it; empty if it goes to the table.

    A schedule without a row gets one, too: an end that is written late finds it. The revision of an older row goes on,
    so that what was decided by an older revision cannot be repeated. It also keeps when it was claimed before, and
    until when an attempt from before may be under way (ADR 0070). Raises IllegalTransition.
    """
    return new_row(
        EventType.REDRIVEN,
        schedule_id,
        owner,
        now,
        over=over,
        to=State.ENQUEUED if nonce else State.SCHEDULED,
        nonce=nonce,
        fence="" if nonce else TO_THE_TABLE,
        detail="redriven",
        claimed_at=over.claimed_at if over else 0,
        lease_until=at_rest_from(over) if over else 0,
    )


def settled(row: LedgerRow) -> LedgerRow:
    """The row of what was redriven to the table, once no stored body of it is left: it may be dead-lettered again."""
    return amended(row, fence="")
