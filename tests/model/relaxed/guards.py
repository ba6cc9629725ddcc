"""Each rule of the relaxed lane is taken out, one at a time. The search has to find what the rule prevents."""

from typing import Any, Final

from attrs import evolve, frozen

from delayer.core.firing import executing, relaxed
from delayer.core.firing.enqueueing import Ignore
from delayer.core.ledger.claim import Claim, Verdict, decide_claim
from delayer.core.ledger.lifecycle import State
from delayer.core.ledger.row import Arrival, LedgerRow
from delayer.core.schedule.instants import DAY, SECOND, Millis
from delayer.core.schedule.schedule import Schedule
from delayer.core.schedule.table_change import RecordChange
from tests.model.relaxed.rules import REAL, Rules
from tests.model.relaxed.search import CHOICES, search
from tests.model.relaxed.state import DUE, World
from tests.model.search import Found


@frozen(kw_only=True)
class Guard:
    """One rule, and the code without it."""

    name: str
    what: str  # what happens without it
    without: Rules
    choice: str

    def search(self) -> Found[World]:
        """What happens without it."""
        return search(CHOICES[self.choice], self.without)


def _fresh_nonce(event: str, deliveries: int) -> str:
    return f"n{deliveries}"


def _whoever_removed_it(change: RecordChange, now: Millis, types: Any) -> Any:
    return relaxed.decide(evolve(change, expired=True), now, types)


def _however_late(change: RecordChange, now: Millis, types: Any) -> Any:
    return relaxed.decide(change, min(now, DUE + DAY), types)


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
        choice="delivered again and again, crashes",
    ),
    Guard(
        name="ttl-alone-fires",
        what="whatever was removed is fired, whoever removed it",
        without=evolve(REAL, decide=_whoever_removed_it),
        choice="deleted by hand, redriven, cancelled",
    ),
    Guard(
        name="others-are-not-forgotten",
        what="what somebody else has removed is ignored",
        without=evolve(REAL, other_removal=_forget),
        choice="deleted by hand, redriven, cancelled",
    ),
    Guard(
        name="cancel-writes-the-ledger",
        what="a cancel deletes the record, and that is all; whatever others remove is ignored",
        without=evolve(REAL, writes_the_ledger=False, other_removal=_forget),
        choice="the put comes late, cancelled, the cancel dies",
    ),
    Guard(
        name="replace-writes-the-ledger",
        what="the same of a replacement",
        without=evolve(REAL, writes_the_ledger=False, other_removal=_forget),
        choice="deleted by hand, the put comes late, replaced",
    ),
    Guard(
        name="ledger-first",
        what="a cancel deletes the record, and then writes the ledger",
        without=evolve(REAL, ledger_first=False),
        choice="cancelled and fired at the same time",
    ),
    Guard(
        name="one-end",
        what="what has an end can be claimed",
        without=evolve(REAL, claim=_over_ends),
        choice="the put comes late, fired, crash",
    ),
    Guard(
        name="token-decides",
        what="each message of a claim may make the attempt",
        without=evolve(REAL, attempt=_any_token),
        choice="delivered again and again, crashes",
    ),
    Guard(
        name="dead-letter-keeps-the-nonce",
        what="a record is given up as if it could not have claimed its schedule",
        without=evolve(REAL, keeps_the_nonce=False),
        choice="the function dies of it",
    ),
    Guard(
        name="stale-is-not-fired",
        what="it is fired however late, when its ledger row may have expired",
        without=evolve(REAL, decide=_however_late),
        choice="the TTL takes more than a month",
    ),
    Guard(
        name="rounded-up",
        what="`expiresAt` is rounded down",
        without=evolve(REAL, expires_at=_rounded_down),
        choice="cancelled and fired at the same time",
    ),
    Guard(
        name="holds",
        what="it is claimed when DynamoDB's clock says so",
        without=evolve(REAL, holds=False),
        choice="clocks differ",
    ),
)
