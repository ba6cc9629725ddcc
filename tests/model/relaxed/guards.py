"""Each rule of the relaxed lane is taken out, one at a time. The search has to find what the rule prevents."""

from typing import Any, Final

from attrs import evolve

from delayer.enqueue.rules import Ignore
from delayer.execute import rules as executing
from delayer.ledger.model import Arrival, LedgerRow, State
from delayer.ledger.rules import Claim, Verdict, decide_claim
from delayer.relay import rules as relaying
from delayer.schedule.instants import DAY, SECOND, Millis
from delayer.schedule.schedule import Schedule
from delayer.schedule.table_change import RecordChange
from tests.model.guard import Guard
from tests.model.relaxed.rules import REAL
from tests.model.relaxed.search import CHOICES
from tests.model.relaxed.state import DUE


def _fresh_nonce(event: str, deliveries: int) -> str:
    return f"n{deliveries}"


def _whoever_removed_it(change: RecordChange, now: Millis, types: Any) -> Any:
    return relaying.decide_relaxed(evolve(change, expired=True), now, types)


def _however_late(change: RecordChange, now: Millis, types: Any) -> Any:
    return relaying.decide_relaxed(change, min(now, DUE + DAY), types)


def _forget(schedule: Schedule, row: LedgerRow | None) -> Any:
    return Ignore()


def _over_ends(claim: Claim, current: LedgerRow | None) -> Verdict:
    is_over = current is not None and current.ended
    return decide_claim(claim, evolve(current, state=State.SCHEDULED, nonce="") if current and is_over else current)


def _any_token(message: Any, row: LedgerRow | None) -> Any:
    return executing.decide_attempt(message, row and evolve(row, fence=message.fence, arrival=Arrival.UNKNOWN))


def _rounded_down(schedule: Schedule) -> Millis:
    return schedule.address.due // SECOND * SECOND


GUARDS: Final = (
    Guard(
        name="nonce-is-the-event",
        what="each delivery of a removal has a nonce of its own",
        without=evolve(REAL, nonce=_fresh_nonce),
        possible=CHOICES["delivered again and again, crashes"],
    ),
    Guard(
        name="ttl-alone-fires",
        what="whatever was removed is fired, whoever removed it",
        without=evolve(REAL, decide=_whoever_removed_it),
        possible=CHOICES["deleted by hand, redriven, cancelled"],
    ),
    Guard(
        name="others-are-not-forgotten",
        what="what somebody else has removed is ignored",
        without=evolve(REAL, other_removal=_forget),
        possible=CHOICES["deleted by hand, redriven, cancelled"],
    ),
    Guard(
        name="cancel-writes-the-ledger",
        what="a cancel deletes the record, and that is all; whatever others remove is ignored",
        without=evolve(REAL, writes_the_ledger=False, other_removal=_forget),
        possible=CHOICES["the put comes late, cancelled, the cancel dies"],
    ),
    Guard(
        name="replace-writes-the-ledger",
        what="the same of a replacement",
        without=evolve(REAL, writes_the_ledger=False, other_removal=_forget),
        possible=CHOICES["deleted by hand, the put comes late, replaced"],
    ),
    Guard(
        name="ledger-first",
        what="a cancel deletes the record, and then writes the ledger",
        without=evolve(REAL, ledger_first=False),
        possible=CHOICES["cancelled and fired at the same time"],
    ),
    Guard(
        name="one-end",
        what="what has an end can be claimed",
        without=evolve(REAL, claim=_over_ends),
        possible=CHOICES["the put comes late, fired, crash"],
    ),
    Guard(
        name="token-decides",
        what="each message of a claim may make the attempt",
        without=evolve(REAL, attempt=_any_token),
        possible=CHOICES["delivered again and again, crashes"],
    ),
    Guard(
        name="dead-letter-keeps-the-nonce",
        what="a record is given up as if it could not have claimed its schedule",
        without=evolve(REAL, keeps_the_nonce=False),
        possible=CHOICES["the function dies of it"],
    ),
    Guard(
        name="stale-is-not-fired",
        what="it is fired however late, when its ledger row may have expired",
        without=evolve(REAL, decide=_however_late),
        possible=CHOICES["the TTL takes more than a month"],
    ),
    Guard(
        name="rounded-up",
        what="`expiresAt` is rounded down",
        without=evolve(REAL, expires_at=_rounded_down),
        possible=CHOICES["cancelled and fired at the same time"],
    ),
    Guard(
        name="holds",
        what="it is claimed when DynamoDB's clock says so",
        without=evolve(REAL, holds=False),
        possible=CHOICES["clocks differ"],
    ),
)
