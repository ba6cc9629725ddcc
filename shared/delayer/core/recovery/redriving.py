"""What may be redriven and what discarded, and the ledger row of a schedule that is redriven (ADR 0021).

It can be claimed and cancelled as if it had no row.
"""

from typing import Final

from attrs import frozen

from delayer.core.ledger.lifecycle import EventType, State
from delayer.core.ledger.outcome import ended, ended_unclaimed
from delayer.core.ledger.row import LedgerChange, LedgerRow, amended, new_row
from delayer.core.schedule.instants import Millis
from delayer.core.schedule.margins import STALE_AFTER
from delayer.core.schedule.schedule import Schedule

REDRIVABLE: Final = frozenset({State.DEAD_LETTERED, State.FAILED, State.SCHEDULED})
DISCARDABLE: Final = frozenset({State.DEAD_LETTERED, State.SCHEDULED})
TO_THE_TABLE: Final = (
    "redriven to the table"  # in place of a fencing token, until the body that was redriven is deleted
)


@frozen(kw_only=True)
class Refusal:
    """Why a command leaves a schedule as it is."""

    reason: str
    settled: bool  # whether its stored body is not needed any more


def decide_redrive(schedule: Schedule, row: LedgerRow | None, now: Millis) -> Refusal | None:
    """None: it is redriven."""
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


def decide_discard(schedule: Schedule, row: LedgerRow | None, now: Millis) -> LedgerChange | Refusal:
    """The end that a discard writes. Raises IllegalTransition."""
    reason = "discarded by an operator"
    if row is None:
        return LedgerChange(row=ended_unclaimed(schedule.id, schedule.owner, State.DROPPED, now, reason))
    if row.state in DISCARDABLE:
        return LedgerChange(row=ended(row, State.DROPPED, now, reason), over=row)
    if row.ended:
        return Refusal(reason=f"it stays {row.state}", settled=True)
    return Refusal(reason=f"it is {row.state}: it is on its way; wait for its end", settled=False)


def redriven(schedule_id: str, owner: str, over: LedgerRow | None, nonce: str, now: Millis) -> LedgerRow:
    """`nonce` is that of the copy sent to the delayer queue, which alone may claim it; empty if it goes to the table.

    A schedule without a row gets one, too: an end that is written late finds it. The revision of an older row goes on,
    so that what was decided by an older revision cannot be repeated. Raises IllegalTransition.
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
    )


def settled(row: LedgerRow) -> LedgerRow:
    """The row of what was redriven to the table, once no stored body of it is left: it may be dead-lettered again."""
    return amended(row, fence="")
