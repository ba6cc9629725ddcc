"""Where a schedule is: what the ledger and the table say together (ADR 0040)."""

from attrs import frozen

from delayer.core.instants import Millis
from delayer.core.ledger import STALE_AFTER, LedgerRow
from delayer.core.lifecycle import State
from delayer.core.schedule import Schedule
from delayer.core.schedule_id import address_of
from delayer.core.withdrawing import Expired


@frozen(kw_only=True)
class Found:
    """Where it is, and what is known of it there."""

    schedule_id: str
    state: State
    record: Schedule | None = None  # while it is in the table
    row: LedgerRow | None = None  # if there is one
    overdue: bool = False  # it waits, and its point in time is over


def find(schedule_id: str, row: LedgerRow | None, record: Schedule | None, now: Millis) -> Found | Expired:
    """The ledger's word counts more. If neither knows it, it is in the stream or the delayer queue."""
    if row and row.state is not State.SCHEDULED:
        return Found(schedule_id=schedule_id, state=row.state, row=row)
    due = address_of(schedule_id).due
    if row is None and record is None and now - due > STALE_AFTER:
        return Expired()
    state = State.SCHEDULED if record else State.ENQUEUED
    return Found(schedule_id=schedule_id, state=state, row=row, record=record, overdue=now > due)
