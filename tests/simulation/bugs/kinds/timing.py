"""Bugs of what is accepted without a time."""

from typing import Any

from delayer.accept.ports import ScheduleTransaction
from delayer.accept.rules.status import decide_cancel
from delayer.accept.use_cases import cancel
from delayer.ledger.model import Already, LedgerRow, State
from delayer.schedule.instants import Millis
from delayer.timing import decide
from tests.simulation.bugs.bug import Bug
from tests.simulation.oracle.invariant import Invariant


def _decided_is_cancelled(
    schedule_id: str, owner: str, current: LedgerRow | None, now: Millis, detail: str = ""
) -> Any:
    if current and current.state is State.DECIDED:
        return Already(current)
    return decide_cancel(schedule_id, owner, current, now, detail)


def _without_its_row(**values: Any) -> ScheduleTransaction:
    values.pop("end", None)
    return ScheduleTransaction(**values)


BUGS = (
    Bug(
        name="cancel-not-followed",
        what="a cancel by the accepted id is answered 200, and the schedule that has its time by now fires",
        breaks=Invariant.CANCEL_TRUTH,
        swaps=((cancel, "decide_cancel", _decided_is_cancelled),),
    ),
    Bug(
        name="decided-without-its-row",
        what="the decision puts the schedule with its time, and does not write the ledger row of the accepted id",
        breaks=Invariant.NOTHING_LOST,
        swaps=((decide, "ScheduleTransaction", _without_its_row),),
    ),
)
