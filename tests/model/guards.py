"""Each guard is removed, one at a time. The search has to find the violation that the guard prevents."""

from typing import Any, Final

from attrs import evolve, frozen

from delayer.core.api import cancellation
from delayer.core.firing import executing, relaying
from delayer.core.ledger.claim import Claim, Verdict, decide_claim
from delayer.core.ledger.lifecycle import State
from delayer.core.ledger.row import LedgerChange, LedgerRow, Refuse, RetryLater
from delayer.core.schedule.instants import Millis
from tests.model.configurations import SMALL, WHOLE
from tests.model.rules import REAL, Rules
from tests.model.search import Searched, search
from tests.model.state import Budget


@frozen(kw_only=True)
class Guard:
    """One guard, and the code without it."""

    name: str
    what: str  # what happens without it
    without: Rules
    budget: Budget

    def search(self) -> Searched:
        """What happens without it."""
        return search(self.budget, self.without)


def _no_lease(claim: Claim, seen: LedgerRow | None) -> Verdict:
    return decide_claim(claim, evolve(seen, lease_until=0) if seen else None)


def _no_nonce(claim: Claim, seen: LedgerRow | None) -> Verdict:
    return decide_claim(claim, evolve(seen, nonce=claim.message.nonce) if seen else None)


def _no_end(claim: Claim, seen: LedgerRow | None) -> Verdict:
    return decide_claim(claim, evolve(seen, state=State.SCHEDULED) if seen and seen.ended else seen)


def _no_outcome(message: Any, row: LedgerRow | None) -> Any:
    if row is not None and row.ended:
        return executing.Attempt()
    return executing.decide_attempt(message, row)


def _no_fence(message: Any, row: LedgerRow | None) -> Any:
    decision = executing.decide_attempt(message, row)
    return executing.Attempt() if isinstance(decision, RetryLater) else decision


def _no_patience(message: Any, row: LedgerRow | None) -> Any:
    decision = executing.decide_attempt(message, row)
    return Refuse("overtaken") if isinstance(decision, RetryLater) else decision


def _never_stale(message: Any, now: Millis) -> Any:
    return relaying.Hold()


def _no_condition(schedule_id: str, owner: str, row: LedgerRow | None, now: Millis) -> Any:
    if row is None or row.state is not State.CLAIMED:
        return cancellation.decide_cancel(schedule_id, owner, row, now)
    return LedgerChange(row=evolve(row, state=State.CANCELLED, revision=row.revision + 1, at=now), over=row)


def _no_repair(message: Any, row: LedgerRow | None) -> Any:
    decision = executing.decide_attempt(message, row)
    return Refuse("retried") if isinstance(decision, executing.SendNext) else decision


def _any_after_redrive(claim: Claim, current: LedgerRow | None) -> Verdict:
    opened = current and current.state is State.SCHEDULED
    return decide_claim(claim, evolve(current, nonce="") if current and opened else current)


def _impatient(old: str, owner: str, row: LedgerRow | None, by: str, now: Millis) -> Any:
    return cancellation.decide_replace(old, owner, evolve(row, at=0, lease_until=0) if row else None, by, now)


GUARDS: Final = (
    Guard(
        name="lease",
        what="a claim is repeated at once with the same nonce",
        without=evolve(REAL, claim=_no_lease),
        budget=SMALL["both queues deliver twice"],
    ),
    Guard(
        name="nonce",
        what="any copy claims again when the lease has lapsed",
        without=evolve(REAL, claim=_no_nonce),
        budget=WHOLE["stream retried, crash, cancel"],
    ),
    Guard(
        name="outcome-check-relay",
        what="the relay claims over an end",
        without=evolve(REAL, claim=_no_end),
        budget=SMALL["crash, cancel"],
    ),
    Guard(
        name="outcome-check-executor",
        what="the executor does not check whether there is an end",
        without=evolve(REAL, attempt=_no_outcome),
        budget=SMALL["both queues deliver twice"],
    ),
    Guard(
        name="order-of-claim-and-hold",
        what="the relay claims first and holds afterwards",
        without=evolve(REAL, hold_first=False),
        budget=SMALL["crash, cancel"],
    ),
    Guard(
        name="expiry-margin",
        what="a copy fires that is so old that its ledger row has expired",
        without=evolve(REAL, relay=_never_stale),
        budget=WHOLE["stream retried, crash, cancel"],
    ),
    Guard(
        name="fencing-token",
        what="the executor runs messages that another claim has overtaken",
        without=evolve(REAL, attempt=_no_fence),
        budget=SMALL["crash, cancel"],
    ),
    Guard(
        name="overtaken-message-waits",
        what="a first message that was overtaken is deleted at once",
        without=evolve(REAL, attempt=_no_patience),
        budget=SMALL["relay's message twice, crash"],
    ),
    Guard(
        name="repair-of-a-retry",
        what="a message that failed before does not send the next attempt again",
        without=evolve(REAL, attempt=_no_repair),
        budget=SMALL["crash, target fails"],
    ),
    Guard(
        name="body-before-end",
        what="the ledger says `dead-lettered` before the body is stored",
        without=evolve(REAL, body_first=False),
        budget=evolve(SMALL["dead-lettered, queue or ledger redriven"], crashes=1),
    ),
    Guard(
        name="claimed-is-not-redriven",
        what="a redrive deletes the body of a claimed schedule",
        without=evolve(REAL, spares_claimed=False),
        budget=evolve(SMALL["crash, target fails"], redrives=1),
    ),
    Guard(
        name="own-copy-after-a-redrive",
        what="any older copy may claim a redriven schedule",
        without=evolve(REAL, claim=_any_after_redrive),
        budget=evolve(SMALL["relay's message twice, crash"], dead_lettered=1, redrives=1),
    ),
    Guard(
        name="cancel-condition",
        what="a cancel overwrites a claim",
        without=evolve(REAL, cancel=_no_condition),
        budget=SMALL["crash, cancel"],
    ),
    Guard(
        name="attempt-may-be-under-way",
        what="a dead letter is replaced while an attempt of it is under way",
        without=evolve(REAL, replace=_impatient),
        budget=WHOLE["dead-lettered after its claim, replaced"],
    ),
)
