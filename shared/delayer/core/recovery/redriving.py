"""The ledger row of a schedule that is redriven: it can be claimed and cancelled as if there were none (ADR 0021)."""

from typing import Final

from delayer.core.ledger.lifecycle import EventType, State
from delayer.core.ledger.row import LedgerRow, amended, new_row
from delayer.core.schedule.instants import Millis

REDRIVABLE: Final = frozenset({State.DEAD_LETTERED, State.FAILED, State.SCHEDULED})
DISCARDABLE: Final = frozenset({State.DEAD_LETTERED, State.SCHEDULED})
TO_THE_TABLE: Final = (
    "redriven to the table"  # in place of a fencing token, until the body that was redriven is deleted
)


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
