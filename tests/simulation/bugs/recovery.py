"""Bugs of the dead letters."""

from typing import Any

from delayer.dead_letters import dead_letter, redrive
from delayer.dead_letters import rules as redriving
from delayer.enqueue import bring_back
from delayer.enqueue import rules as enqueueing
from delayer.recovery import guard
from delayer.recovery import rules as trial
from delayer.relay import rules as relaying
from delayer.schedule.instants import Millis
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


def _received_too_often(self: Any, received: Any, began: Millis) -> bool:
    return received.receives >= 3 and bool(self.give_up(received, guard.key_of(received), "it was received 3 times"))


def _suspected_by_its_receives(self: Any, batch: Any) -> list[Any]:
    return [received for received in batch if received.receives >= 3]


def _any_death_counts(before: trial.Trial | None, passed: Millis | None) -> int:
    return before.proofs + 1 if before else 0


def _never_a_killer(before: trial.Trial | None, passed: Millis | None) -> int:
    return 0


def _leaves_it_there(self: Any, began: Millis, gate: Any) -> None:
    return None


BUGS = (
    Bug(
        name="received-too-often",
        what="what was received three times becomes a dead letter, whatever kept it from being handled",
        breaks=Invariant.NOBODY_NEEDED,
        whose="every queue with a dead-letter queue; Delayer, before ADR 0081, after ten",
        swaps=((guard.Guard, "gives_up", _received_too_often),),
    ),
    Bug(
        name="suspected-by-its-receives",
        what="what was received three times is handled alone, though no function may have seen it",
        breaks=Invariant.UNSUSPECTED,
        whose="every queue with a dead-letter queue; Delayer, before ADR 0158",
        swaps=((guard.Guard, "suspects_in", _suspected_by_its_receives),),
    ),
    Bug(
        name="any-death-counts",
        what="a message is taken for a killer though its function came to the end of nothing else",
        breaks=Invariant.NOBODY_NEEDED,
        swaps=((trial, "proofs_against", _any_death_counts),),
    ),
    Bug(
        name="never-a-killer",
        what="a message of which its function dies is tried for three days",
        breaks=Invariant.ONE_END,
        swaps=((trial, "proofs_against", _never_a_killer), (trial, "WAITS_AT_MOST", 10**15)),
    ),
    Bug(
        name="never-brought-back",
        what="records that were set aside stay in the store",
        breaks=Invariant.ONE_END,
        whose="Delayer, before ADR 0082: what the stream gave up on waited for a person",
        swaps=((bring_back.BringBack, "__call__", _leaves_it_there),),
    ),
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
