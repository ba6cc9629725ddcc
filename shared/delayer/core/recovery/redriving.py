"""What may be redriven and what discarded, and the ledger row of a schedule that is redriven (ADR 0021).

It can be claimed and cancelled as if it had no row.
"""

from typing import Final

from attrs import frozen

from delayer.core.ledger.at_rest import at_rest_from
from delayer.core.ledger.lifecycle import EventType, State
from delayer.core.ledger.outcome import ended, ended_unclaimed
from delayer.core.ledger.row import REDRIVEN, LedgerChange, LedgerRow, amended, new_row
from delayer.core.schedule.instants import Millis
from delayer.core.schedule.margins import STALE_AFTER
from delayer.core.schedule.schedule import Schedule

REDRIVABLE: Final = frozenset({State.DEAD_LETTERED, State.FAILED, State.SCHEDULED})
DISCARDABLE: Final = frozenset({State.DEAD_LETTERED, State.SCHEDULED})
TO_THE_TABLE: Final = (
    "redriven to the table"  # in place of a fencing token, until the body that was redriven is deleted
)

DISCARDED: Final = "discarded by an operator"
ACCEPTED: Final = "its target has accepted it, and only this could not be written: discard it"


@frozen(kw_only=True)
class Refusal:
    """Why a command leaves a schedule as it is."""

    reason: str
    settled: bool  # whether its stored body is not needed any more


def decide_redrive(schedule: Schedule, row: LedgerRow | None, now: Millis, *, accepted: bool = False) -> Refusal | None:
    """None: it is redriven. `accepted` says that the body carries the outcome of an attempt that was accepted."""
    if accepted:
        return Refusal(reason=ACCEPTED, settled=False)
    if row and not row.ended and row.state is not State.SCHEDULED:
        # The function that stored this body may not have written the end yet: the body must not be deleted.
        return Refusal(reason=f"not redriven: it is {row.state}; try again later", settled=False)
    if row and row.state not in REDRIVABLE:
        return Refusal(reason=f"not redriven: it is {row.state}", settled=True)
    if row and row.stopped_at:
        return Refusal(reason="not redriven: its owner has stopped it; discard it", settled=False)
    if now - schedule.point_in_time > STALE_AFTER:
        return Refusal(reason="not redriven: it is more than 29 days late; POST it again", settled=False)
    return None


def decide_discard(
    schedule: Schedule, row: LedgerRow | None, now: Millis, *, handed_over: bool
) -> LedgerChange | Refusal:
    """The end that a discard writes (ADR 0072). Raises IllegalTransition.

    `handed_over` says that the body is a message of an executor's queue. Whoever wanted to cancel a claimed schedule
    was told that it has been or will be handed over: it is not dropped before that is true, unless its owner stops it.
    """
    if row is None:
        return LedgerChange(row=ended_unclaimed(schedule.id, schedule.owner, State.DROPPED, now, DISCARDED))
    if row.state not in DISCARDABLE:
        if row.ended:
            return Refusal(reason=f"it stays {row.state}", settled=True)
        return Refusal(reason=f"it is {row.state}: on its way; wait for its end", settled=False)
    if row.claimed_at and not (handed_over or row.was_attempted or row.stopped_at):
        reason = (
            "it was claimed, and is not known to have been handed over: redrive it. If its target must not be reached "
            "any more, its owner stops it first (POST /schedules/{id}/stop)"
        )
        return Refusal(reason=reason, settled=False)
    return LedgerChange(row=ended(row, State.DROPPED, now, DISCARDED), over=row)


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
        detail=REDRIVEN,
        claimed_at=over.claimed_at if over else 0,
        lease_until=at_rest_from(over) if over else 0,
    )


def settled(row: LedgerRow) -> LedgerRow:
    """The row of what was redriven to the table, once no stored body of it is left: it may be dead-lettered again."""
    return amended(row, fence="")
