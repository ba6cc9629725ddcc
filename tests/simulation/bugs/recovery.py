"""Bugs of the dead letters."""

from typing import Any

from delayer.core.firing import enqueueing, relaying
from delayer.core.recovery import redriving
from delayer.use_cases.recovery import dead_letter, redrive
from tests.simulation.bugs.bug import Bug
from tests.simulation.oracle.invariant import Invariant

_take = dead_letter.DeadLetters.take
_redrive_one = redrive.Redrive.redrive_one


def _mark_before_body(self: Any, copy: Any) -> None:
    if copy.schedule_id:
        self.mark(copy)
    _take(self, copy)


def _redrive_is_done_with(self: Any, schedule: Any) -> Any:
    """The body of what is claimed is deleted."""
    report, row = _redrive_one(self, schedule)
    return ({**report, "settled": True}, row) if "it is claimed" in report["outcome"] else (report, row)


BUGS = (
    Bug(
        name="mark-before-body",
        what="the ledger says `dead-lettered` before the body is stored",
        breaks=Invariant.NOTHING_LOST,
        swaps=((dead_letter.DeadLetters, "take", _mark_before_body),),
    ),
    Bug(
        name="redrive-deletes-early",
        what="a redrive deletes the body of a claimed schedule whose end is about to be written",
        breaks=Invariant.NOTHING_LOST,
        whose="Delayer, until a review found it",
        swaps=((redrive.Redrive, "redrive_one", _redrive_is_done_with),),
    ),
    Bug(
        name="no-stale-margin",
        what="a copy older than its ledger row fires",
        breaks=Invariant.ONCE,
        swaps=tuple((where, "STALE_AFTER", 10**15) for where in (enqueueing, relaying, redriving)),
    ),
)
