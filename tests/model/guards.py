"""Each guard taken out, one at a time: the search has to find what it was there for."""

from typing import Any, Final

from attrs import evolve, frozen

from delayer.core import executing, ledger, relaying, withdrawing
from delayer.core.instants import Millis
from delayer.core.ledger import LedgerRow
from delayer.core.lifecycle import State
from tests.model.configurations import SMALL, WHOLE
from tests.model.rules import REAL, Rules
from tests.model.search import Searched, search
from tests.model.state import Budget


@frozen(kw_only=True)
class Guard:
    """One guard, and the code without it."""

    name: str
    what: str  # what is no longer done
    without: Rules
    budget: Budget

    def search(self) -> Searched:
        """What happens without it."""
        return search(self.budget, self.without)


def _no_lease(wanted: LedgerRow, seen: LedgerRow | None) -> ledger.Verdict:
    return ledger.decide_claim(wanted, evolve(seen, lease_until=0) if seen else None)


def _no_nonce(wanted: LedgerRow, seen: LedgerRow | None) -> ledger.Verdict:
    return ledger.decide_claim(wanted, evolve(seen, nonce=wanted.nonce) if seen else None)


def _no_end(wanted: LedgerRow, seen: LedgerRow | None) -> ledger.Verdict:
    return ledger.decide_claim(wanted, evolve(seen, state=State.SCHEDULED) if seen and seen.ended else seen)


def _no_outcome(message: Any, row: LedgerRow | None) -> Any:
    if row is not None and row.ended:
        return executing.Attempt()
    return executing.decide_attempt(message, row)


def _no_fence(message: Any, row: LedgerRow | None) -> Any:
    decision = executing.decide_attempt(message, row)
    return executing.Attempt() if isinstance(decision, executing.Wait) else decision


def _no_patience(message: Any, row: LedgerRow | None) -> Any:
    decision = executing.decide_attempt(message, row)
    return ledger.Refuse("overtaken") if isinstance(decision, executing.Wait) else decision


def _never_stale(message: Any, now: Millis) -> Any:
    return relaying.Hold()


def _no_condition(schedule_id: str, owner: str, row: LedgerRow | None, now: Millis) -> Any:
    if row is None or row.state is not State.CLAIMED:
        return withdrawing.decide_cancel(schedule_id, owner, row, now)
    return withdrawing.Withdraw(ledger.ended(row, State.CANCELLED, now), row)


def _no_repair(message: Any, row: LedgerRow | None) -> Any:
    decision = executing.decide_attempt(message, row)
    return ledger.Refuse("retried") if isinstance(decision, executing.SendNext) else decision


def _any_after_put_back(wanted: LedgerRow, standing: LedgerRow | None) -> ledger.Verdict:
    opened = standing and standing.state is State.SCHEDULED
    return ledger.decide_claim(wanted, evolve(standing, nonce="") if standing and opened else standing)


GUARDS: Final = (
    Guard(
        name="lease",
        what="a claim is repeated at once under the same nonce",
        without=evolve(REAL, claim=_no_lease),
        budget=SMALL["both queues deliver twice"],
    ),
    Guard(
        name="nonce",
        what="any copy claims anew when the lease has lapsed",
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
        what="the executor does not look at the end",
        without=evolve(REAL, attempt=_no_outcome),
        budget=SMALL["both queues deliver twice"],
    ),
    Guard(
        name="order-of-claim-and-hold",
        what="the relay claims first, and holds afterwards",
        without=evolve(REAL, hold_first=False),
        budget=SMALL["crash, cancel"],
    ),
    Guard(
        name="expiry-margin",
        what="a copy fires that is older than its ledger row",
        without=evolve(REAL, relay=_never_stale),
        budget=WHOLE["stream retried, crash, cancel"],
    ),
    Guard(
        name="fencing-token",
        what="the executor makes attempts that another claim has overtaken",
        without=evolve(REAL, attempt=_no_fence),
        budget=SMALL["crash, cancel"],
    ),
    Guard(
        name="patience-of-the-overtaken",
        what="a first delivery that was overtaken is deleted at once",
        without=evolve(REAL, attempt=_no_patience),
        budget=SMALL["relay's message twice, crash"],
    ),
    Guard(
        name="repair-of-a-retry",
        what="a delivery that failed does not send the next attempt again",
        without=evolve(REAL, attempt=_no_repair),
        budget=SMALL["crash, target fails"],
    ),
    Guard(
        name="body-before-mark",
        what="the ledger says `set-aside` before the body is kept",
        without=evolve(REAL, body_first=False),
        budget=evolve(SMALL["buried, moved back or put back"], crashes=1),
    ),
    Guard(
        name="claimed-is-spared",
        what="a put-back deletes the body of what is claimed",
        without=evolve(REAL, spares_claimed=False),
        budget=evolve(SMALL["crash, target fails"], put_backs=1),
    ),
    Guard(
        name="own-copy-after-a-put-back",
        what="any older copy may claim what was put back",
        without=evolve(REAL, claim=_any_after_put_back),
        budget=evolve(SMALL["relay's message twice, crash"], burials=1, put_backs=1),
    ),
    Guard(
        name="cancel-condition",
        what="a cancel overwrites a claim",
        without=evolve(REAL, cancel=_no_condition),
        budget=SMALL["crash, cancel"],
    ),
)
