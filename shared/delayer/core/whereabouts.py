"""Where a schedule is: what the ledger and the table say together (ADR 0040)."""

from attrs import frozen

from delayer.core.events import Definition, Event, definition_in, fold
from delayer.core.instants import Millis
from delayer.core.ledger import STALE_AFTER, LedgerRow
from delayer.core.lifecycle import ENDS, State
from delayer.core.schedule import Schedule
from delayer.core.schedule_id import address_of
from delayer.core.withdrawing import Expired


@frozen(kw_only=True)
class Found:
    """Where it is, and what is known of it there."""

    schedule_id: str
    state: State
    definition: Definition | None = None  # while it is in the table; afterwards, if the journal has it
    row: LedgerRow | None = None  # if there is one
    overdue: bool = False  # it waits, and its point in time is over
    history: tuple[Event, ...] = ()  # as far as the journal has come


def find(
    schedule_id: str, row: LedgerRow | None, record: Schedule | None, now: Millis, history: tuple[Event, ...] = ()
) -> Found | Expired:
    """The ledger's word counts more than the table's. If neither knows it, it is in the stream or the delayer queue.

    The journal, a view, is heard only about what is so old that the ledger may have forgotten it.
    """
    definition = Definition(record) if record else definition_in(history)
    if row and row.state is not State.SCHEDULED:
        return Found(schedule_id=schedule_id, state=row.state, row=row, definition=definition, history=history)
    due = address_of(schedule_id).due
    is_old = row is None and record is None and now - due > STALE_AFTER
    remembered = fold(history) if is_old else None
    if is_old and remembered not in ENDS:
        return Expired()
    state = remembered or (State.SCHEDULED if record else State.ENQUEUED)
    overdue = now > due and not is_old
    return Found(schedule_id=schedule_id, state=state, row=row, definition=definition, overdue=overdue, history=history)
