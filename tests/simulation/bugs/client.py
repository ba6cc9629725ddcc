"""Bugs of what a client takes back."""

from contextlib import suppress
from typing import Any

from attrs import evolve

from delayer.accept.rules.status import Expired, OnItsWay, decide_cancel
from delayer.accept.use_cases import cancel, issue, replace
from delayer.engines.ports import Unavailable
from delayer.ledger.model import LedgerChange, LedgerRow, State
from delayer.ledger.rules import ended_unclaimed
from delayer.schedule import schedule_id
from delayer.schedule.instants import Millis
from delayer.schedule.schedule_id import Address, key_of
from tests.simulation.bugs.bug import Bug
from tests.simulation.oracle.invariant import Invariant

_decide_cancel = decide_cancel
_mint = schedule_id.mint


def _cancel_unmarked(self: Any, schedule_id: str, owner: str, **_: Any) -> Any:
    """Deletes the record, as if that were all."""
    with suppress(Unavailable):
        self.records.delete([key_of(schedule_id)])
    return cancel.Cancelled(ended_unclaimed(schedule_id, owner, State.CANCELLED, self.clock.now(), ""))


def _cancel_over_claims(schedule_id: str, owner: str, current: LedgerRow | None, now: Millis, detail: str) -> Any:
    """The table of the lifecycle would refuse this row: it is made past it."""
    if current and current.state is State.CLAIMED:
        row = evolve(current, state=State.CANCELLED, revision=current.revision + 1, at=now, detail=detail)
        return LedgerChange(row=row, over=current)
    return _decide_cancel(schedule_id, owner, current, now, detail)


def _always_too_old(*_: Any) -> Any:
    return Expired()


def _always_on_its_way(self: Any, schedule_id: str, owner: str, **_: Any) -> Any:
    return OnItsWay(soon=False)


def _overdue_forgotten(address: Address, owner: str, *, point_in_time: Millis, **more: Any) -> str:
    return _mint(address, owner, point_in_time=address.due, **more)


def _old_one_lives_on(transaction: Any, end: Any) -> Any:
    return transaction


BUGS = (
    Bug(
        name="overdue-forgotten",
        what="what was overdue when it came is shown as due at that moment",
        breaks=Invariant.AS_ASKED,
        swaps=((issue, "mint", _overdue_forgotten),),
    ),
    Bug(
        name="cancel-unmarked",
        what="a cancel deletes the record and writes no ledger row, so the removal fires",
        breaks=Invariant.CANCEL_TRUTH,
        whose="delayer-aws",
        swaps=((cancel.Cancel, "__call__", _cancel_unmarked),),
    ),
    Bug(
        name="cancel-over-claims",
        what="a cancel overwrites a claim",
        breaks=Invariant.LEGAL,
        swaps=((cancel, "decide_cancel", _cancel_over_claims),),
    ),
    Bug(
        name="cancel-says-too-old",
        what="every cancel is answered 410",
        breaks=Invariant.CANCEL_TRUTH,
        swaps=((cancel, "decide_cancel", _always_too_old),),
    ),
    Bug(
        name="change-says-on-its-way",
        what="a change is answered 409 (`on-its-way`), though the record is in the table",
        breaks=Invariant.CANCEL_TRUTH,
        swaps=((replace.Replace, "by_id", _always_on_its_way),),
    ),
    Bug(
        name="replaced-schedule-not-ended",
        what="a replacement does not end the old schedule",
        breaks=Invariant.CANCEL_TRUTH,
        swaps=((replace, "in_place_of", _old_one_lives_on),),
    ),
)
