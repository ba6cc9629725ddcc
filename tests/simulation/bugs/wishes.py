"""Bugs of what a client may ask for beside a time: a stop, a rule for lateness, an idempotency key, a name, a group."""

import hashlib
from typing import Any

from attrs import evolve

from delayer.accept.rules.status import Expired, TooEarly, decide_cancel
from delayer.accept.use_cases import accept, once
from delayer.accept.use_cases import cancel as stop
from delayer.dead_letters import redrive
from delayer.dead_letters.rules import decide_redrive
from delayer.execute import rules as executing
from delayer.jobs import use_cases as cancel_group
from delayer.ledger.model import LedgerChange, LedgerRow
from delayer.ledger.rules import decide_claim
from delayer.relay import relay
from delayer.relay import rules as relaying
from delayer.schedule import misfire
from delayer.schedule.instants import Millis
from tests.simulation.bugs.bug import Bug, never
from tests.simulation.oracle.invariant import Invariant

_decide_attempt = executing.decide_attempt
_duration = misfire.duration
_row = once.Once.row


def _stop_not_read(message: Any, row: LedgerRow | None) -> Any:
    verdict = _decide_attempt(message, row)
    return executing.Attempt() if isinstance(verdict, executing.DropStopped) else verdict


def _claims_without_the_stop(claim: Any, current: LedgerRow | None) -> Any:
    verdict = decide_claim(claim, current)
    return evolve(verdict, row=evolve(verdict.row, stopped_at=0)) if isinstance(verdict, LedgerChange) else verdict


def _always_too_early(*_: Any) -> Any:
    return TooEarly()


def _redrives_what_was_stopped(schedule: Any, row: LedgerRow | None, now: Millis, **accepted: Any) -> Any:
    return decide_redrive(schedule, evolve(row, stopped_at=0) if row else None, now, **accepted)


def _never_late(*_: Any) -> None:
    return None


def _with_its_rule(definition: Any, point_in_time: Millis, now: Millis) -> Any:
    return definition


def _in_hundredths(text: str) -> Millis:
    return _duration(text) // 100


class _OneDigest:
    """Of whatever it is."""

    @staticmethod
    def sha256(body: bytes) -> Any:
        return hashlib.sha256()


def _keeps_no_change(self: Any, known: Any, **answer: Any) -> Any:
    return None if known.call.what.startswith(("PATCH ", "PUT ")) else _row(self, known, **answer)


def _always_over(*_: Any) -> bool:
    return True


def _no_row_no_schedule(member: str, owner: str, row: LedgerRow | None, now: Millis, detail: str) -> Any:
    return decide_cancel(member, owner, row, now, detail) if row else Expired()


BUGS = (
    Bug(
        name="stop-not-read",
        what="the executor makes the next attempt although its schedule was stopped",
        breaks=Invariant.STOPPED,
        swaps=((executing, "decide_attempt", _stop_not_read),),
    ),
    Bug(
        name="stop-forgotten",
        what="a claim that is repeated forgets the stop",
        breaks=Invariant.STOPPED,
        swaps=((relay, "decide_claim", _claims_without_the_stop),),
    ),
    Bug(
        name="stop-says-too-early",
        what="every stop is answered that there is nothing to stop yet",
        breaks=Invariant.STOPPED,
        swaps=((stop, "decide_stop", _always_too_early),),
    ),
    Bug(
        name="stopped-is-redriven",
        what="what its owner has stopped is redriven",
        breaks=Invariant.STOPPED,
        swaps=((redrive, "decide_redrive", _redrives_what_was_stopped),),
    ),
    Bug(
        name="rule-for-lateness-ignored",
        what="`onLate` is stored, and nobody looks at it",
        breaks=Invariant.DROPPED_WHEN_LATE,
        swaps=((relaying, "decide_misfire", _never_late),),
    ),
    Bug(
        name="redriven-and-dropped",
        what="what is redriven after its time is dropped by its rule for lateness, without an attempt",
        breaks=Invariant.ONE_END,
        swaps=((redrive, "asked_for_again", _with_its_rule),),
    ),
    Bug(
        name="late-in-another-unit",
        what="the duration in `onLate` is taken for a hundredth of what it says",
        breaks=Invariant.ONE_END,
        swaps=((misfire, "duration", _in_hundredths),),
    ),
    Bug(
        name="key-counts-as-new",
        what="a POST with an idempotency key that is known takes the place of the first, and makes a second schedule",
        breaks=Invariant.ONE_KEY,
        swaps=((accept, "KEY_LIFETIME", 0),),
    ),
    Bug(
        name="key-of-any-body",
        what="a known idempotency key brings the first answer, whatever the body is",
        breaks=Invariant.ONE_KEY,
        swaps=((accept, "hashlib", _OneDigest),),
    ),
    Bug(
        name="key-of-a-change-forgotten",
        what="a PATCH or PUT that is repeated with its idempotency key is done again, or refused",
        breaks=Invariant.ONE_KEY,
        swaps=((once.Once, "row", _keeps_no_change),),
    ),
    Bug(
        name="name-taken-over",
        what="a POST takes the name of a live schedule, and both live on",
        breaks=Invariant.ONE_NAME,
        swaps=((accept, "is_over", _always_over),),
    ),
    Bug(
        name="name-never-free",
        what="a name is reported as taken by a schedule that has ended",
        breaks=Invariant.ONE_NAME,
        swaps=((accept, "is_over", never),),
    ),
    Bug(
        name="group-without-rows",
        what="the cancel of a group leaves out the members that have no ledger row yet",
        breaks=Invariant.CANCEL_TRUTH,
        swaps=((cancel_group, "decide_cancel", _no_row_no_schedule),),
    ),
)
