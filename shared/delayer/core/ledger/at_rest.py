"""When no attempt of a schedule can be under way any more (ADR 0070)."""

from delayer.core.ledger.lifecycle import State
from delayer.core.ledger.row import LedgerRow
from delayer.core.schedule.instants import Millis
from delayer.core.schedule.margins import ATTEMPT_OVER


def at_rest_from(row: LedgerRow) -> Millis:
    """The instant from which no attempt of it is under way, given that it has an end or was redriven; 0: since ever.

    Whoever reads the row once it has an end begins no attempt. An executor that read it just before may still be at
    work, as long as its function may run. A schedule that is redriven takes that instant along.
    """
    may_have_begun = row.state in (State.DEAD_LETTERED, State.FAILED) and row.attempt
    return max(row.lease_until, row.at + ATTEMPT_OVER if may_have_begun else 0)
