"""Each guard is removed, one at a time. The search has to find the violation that the guard prevents."""

from typing import Any, Final

from attrs import evolve

from delayer.accept.rules import status as cancellation
from delayer.dead_letters.model import Disposition, decide_disposition
from delayer.dead_letters.rules import LeftAsIs, decide_redrive
from delayer.execute import rules as executing
from delayer.flow.rules.gate import Go
from delayer.ledger.model import Arrival, LedgerChange, LedgerRow, Refuse, RetryLater, State
from delayer.ledger.rules import Claim, Verdict, decide_claim, hopped
from delayer.schedule.instants import Millis
from tests.model.configurations import SMALL, WHOLE
from tests.model.guard import Guard
from tests.model.rules import REAL
from tests.model.state import token_of


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
    is_other = row and not row.ended and row.nonce == message.nonce and row.attempt == message.attempt
    return executing.Attempt() if isinstance(decision, Refuse) and is_other else decision


def _older(claim: Claim, seen: LedgerRow | None) -> Verdict:
    verdict = decide_claim(claim, seen)
    if not isinstance(verdict, LedgerChange):
        return verdict
    return evolve(verdict, row=evolve(verdict.row, arrival=Arrival.UNKNOWN))


def _no_patience(message: Any, row: LedgerRow | None) -> Any:
    decision = executing.decide_attempt(message, row)
    return Refuse("overtaken") if isinstance(decision, RetryLater) else decision


def _never_stale(message: Any, now: Millis, action_types: Any) -> Any:
    return Go(message=message, at=now)


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


def _blind_to_taken(message: Any, row: LedgerRow | None) -> Any:
    is_taken = row and row.arrival is Arrival.TAKEN
    return executing.decide_attempt(message, evolve(row, arrival=Arrival.UNKNOWN) if row and is_taken else row)


def _claims_taken(claim: Claim, seen: LedgerRow | None) -> Verdict:
    is_taken = seen and seen.arrival is Arrival.TAKEN
    return decide_claim(claim, evolve(seen, arrival=Arrival.CONTESTED) if seen and is_taken else seen)


def _blind_to_contested(row: LedgerRow | None, nonce: str, fence: str) -> Disposition:
    return decide_disposition(evolve(row, arrival=Arrival.UNKNOWN) if row else None, nonce, fence)


def _by_token(message: Any, row: LedgerRow | None) -> Any:
    return executing.decide_attempt(evolve(message, fence=token_of(message)), row)


def _of_any_generation(message: Any, row: LedgerRow | None) -> Any:
    return executing.decide_attempt(evolve(message, generation=row.generation) if row else message, row)


def _attempts_early(row: LedgerRow, now: Millis) -> Any:
    return None


def _hops_in_secret(row: LedgerRow, fence: str, now: Millis, after: str, retry_at: Millis = 0) -> LedgerRow:
    return evolve(hopped(row, fence, now, after, retry_at), retry_of=row.retry_of)


def _no_stop(message: Any, row: LedgerRow | None) -> Any:
    return executing.decide_attempt(message, evolve(row, stopped_at=0) if row else None)


def _forgets_the_stop(claim: Claim, seen: LedgerRow | None) -> Verdict:
    verdict = decide_claim(claim, seen)
    return evolve(verdict, row=evolve(verdict.row, stopped_at=0)) if isinstance(verdict, LedgerChange) else verdict


def _redrives_stopped(schedule: Any, row: LedgerRow | None, now: Millis) -> LeftAsIs | None:
    return decide_redrive(schedule, evolve(row, stopped_at=0) if row else None, now)


def _redrives_claimed(schedule: Any, row: LedgerRow | None, now: Millis) -> LeftAsIs | None:
    refusal = decide_redrive(schedule, row, now)
    return evolve(refusal, settled=True) if refusal and row and row.state is State.CLAIMED else refusal


def _impatient(old: str, owner: str, row: LedgerRow | None, by: str, now: Millis) -> Any:
    return cancellation.decide_replace(old, owner, evolve(row, at=0, lease_until=0) if row else None, by, now)


OLDER: Final = evolve(REAL, claim=_older)  # a relay of an older version: its rows do not say that there are several

GUARDS: Final = (
    Guard(
        name="lease",
        what="a claim is repeated at once with the same nonce",
        without=evolve(REAL, claim=_no_lease),
        possible=SMALL["both queues deliver twice"],
    ),
    Guard(
        name="nonce",
        what="any copy claims again when the lease has lapsed",
        without=evolve(REAL, claim=_no_nonce),
        possible=WHOLE["stream retried, crash, cancel"],
    ),
    Guard(
        name="outcome-check-relay",
        what="the relay claims over an end",
        without=evolve(REAL, claim=_no_end),
        possible=SMALL["crash, cancel"],
    ),
    Guard(
        name="outcome-check-executor",
        what="the executor does not check whether there is an end",
        without=evolve(REAL, attempt=_no_outcome),
        possible=SMALL["both queues deliver twice"],
    ),
    Guard(
        name="order-of-claim-and-hold",
        what="the relay claims first and holds afterwards",
        without=evolve(REAL, hold_first=False),
        possible=SMALL["crash, cancel"],
    ),
    Guard(
        name="expiry-margin",
        what="a copy fires that is so old that its ledger row has expired",
        without=evolve(REAL, relay=_never_stale),
        possible=WHOLE["stream retried, crash, cancel"],
    ),
    Guard(
        name="fencing-token",
        what="the executor runs a message though another one makes the attempt",
        without=evolve(REAL, attempt=_no_fence),
        possible=SMALL["relay's message twice, crash"],
    ),
    Guard(
        name="overtaken-message-waits",
        what="a message that a claim of an older version has overtaken is deleted at once",
        without=evolve(OLDER, attempt=_no_patience),
        possible=SMALL["relay's message twice, crash"],
    ),
    Guard(
        name="repair-of-a-retry",
        what="a message that failed before does not send the next attempt again",
        without=evolve(REAL, attempt=_no_repair),
        possible=SMALL["crash, target fails"],
    ),
    Guard(
        name="body-before-end",
        what="the ledger says `dead-lettered` before the body is stored",
        without=evolve(REAL, body_first=False),
        possible=evolve(SMALL["given up, redriven, cancel"], crashes=1),
    ),
    Guard(
        name="claimed-is-not-redriven",
        what="a redrive deletes the body of a claimed schedule",
        without=evolve(REAL, redrive=_redrives_claimed),
        possible=evolve(SMALL["crash, target fails"], redrives=1),
    ),
    Guard(
        name="own-copy-after-a-redrive",
        what="any older copy may claim a redriven schedule",
        without=evolve(REAL, claim=_any_after_redrive),
        possible=evolve(SMALL["relay's message twice, crash"], given_up=1, redrives=1),
    ),
    Guard(
        name="cancel-condition",
        what="a cancel overwrites a claim",
        without=evolve(REAL, cancel=_no_condition),
        possible=SMALL["crash, cancel"],
    ),
    Guard(
        name="attempt-may-be-under-way",
        what="a dead letter is replaced while an attempt of it is under way",
        without=evolve(REAL, replace=_impatient),
        possible=WHOLE["given up after its claim, replaced"],
    ),
    Guard(
        name="fresh-token",
        what="a retry that is not known to be sent is sent again with the same token",
        without=evolve(REAL, fresh_token=False),
        possible=SMALL["target fails, a send unanswered"],
    ),
    Guard(
        name="contested-before-sent",
        what="a retry is sent again with a token of which the ledger does not know",
        without=evolve(REAL, contests=False),
        possible=SMALL["crash, target fails"],
    ),
    Guard(
        name="first-takes",
        what="of several messages for one attempt each makes it",
        without=evolve(REAL, takes=False),
        possible=SMALL["target fails, a send unanswered"],
    ),
    Guard(
        name="taken-is-refused",
        what="the executor does not check whether another message has taken the attempt",
        without=evolve(REAL, attempt=_blind_to_taken),
        possible=WHOLE["two sends unanswered, target fails"],
    ),
    Guard(
        name="taken-is-not-claimed",
        what="a claim is repeated though a message of it has taken the attempt",
        without=evolve(REAL, claim=_claims_taken),
        possible=SMALL["relay's message twice, crash"],
    ),
    Guard(
        name="contested-may-be-the-last",
        what="one of several messages for a retry is discarded when it is given up",
        without=evolve(REAL, disposition=_blind_to_contested),
        possible=evolve(WHOLE["executor's message twice, target fails"], given_up=1),
    ),
    Guard(
        name="too-early-for-its-attempt",
        what="a message whose attempt is to be made later makes it when it comes",
        without=evolve(REAL, early=_attempts_early),
        possible=SMALL["long delay, crash"],
    ),
    Guard(
        name="fresh-token-of-a-hop",
        what="a message that is early is sent once more with the same token",
        without=evolve(REAL, hop_is_fresh=False, attempt=_by_token),
        possible=evolve(SMALL["long delay, a send unanswered"], hops=1),
    ),
    Guard(
        name="hop-written-before-sent",
        what="a message that is early is sent once more with a token of which the ledger does not know",
        without=evolve(REAL, hop_is_written=False),
        possible=SMALL["long delay, crash"],
    ),
    Guard(
        name="repair-of-a-hop",
        what="the row does not name the message that sends the one that waits on",
        without=evolve(REAL, hopped=_hops_in_secret),
        possible=SMALL["long delay, crash"],
    ),
    Guard(
        name="each-hop-is-a-generation",
        what="a message that was sent on makes a contested attempt, as it has the same number",
        without=evolve(REAL, attempt=_of_any_generation),
        possible=WHOLE["waits, executor's message twice, crash"],
    ),
    Guard(
        name="fresh-token-of-what-waits",
        what="a message whose gate is closed is sent once more with the same token",
        without=evolve(REAL, hop_is_fresh=False, attempt=_by_token),
        possible=evolve(SMALL["waits, crash"], crashes=0, unanswered=1),
    ),
    Guard(
        name="wait-is-written-before-sent",
        what="a message whose gate is closed is sent once more with a token of which the ledger does not know",
        without=evolve(REAL, hop_is_written=False),
        possible=evolve(SMALL["waits, crash"], crashes=0, refusals=1),
    ),
    Guard(
        name="repair-of-what-waits",
        what="the row does not name the message that sends the one that waits",
        without=evolve(REAL, hopped=_hops_in_secret),
        possible=WHOLE["waits, target fails, crash"],
    ),
    Guard(
        name="taken-does-not-wait",
        what="a message that makes a contested attempt waits, when it comes again",
        without=evolve(REAL, puts_off_taken=True),
        possible=evolve(SMALL["waits, crash"], deliveries=1),
    ),
    Guard(
        name="outcome-is-carried",
        what="a message comes again whose outcome could not be written",
        without=evolve(REAL, carries=False),
        possible=SMALL["outcome unwritten, a send unanswered"],
    ),
    Guard(
        name="carrier-only-writes",
        what="a message that carries an outcome is taken for one that makes an attempt",
        without=evolve(REAL, carrier_only_writes=False),
        possible=SMALL["outcome unwritten, a send unanswered"],
    ),
    Guard(
        name="carrier-reads-the-row",
        what="a carried outcome is written whatever the ledger says",
        without=evolve(REAL, carrier_checks=False),
        possible=SMALL["outcome unwritten, target fails"],
    ),
    Guard(
        name="stop-is-read",
        what="the executor does not check whether it was stopped",
        without=evolve(REAL, attempt=_no_stop),
        possible=SMALL["target fails, stopped"],
    ),
    Guard(
        name="stop-outlives-a-claim",
        what="a claim that is repeated forgets the stop",
        without=evolve(REAL, claim=_forgets_the_stop),
        possible=evolve(SMALL["target fails, stopped"], refusals=0, crashes=1),
    ),
    Guard(
        name="stopped-is-not-redriven",
        what="what its owner has stopped is redriven",
        without=evolve(REAL, redrive=_redrives_stopped),
        possible=WHOLE["given up, redriven, stopped"],
    ),
)
