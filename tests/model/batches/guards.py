"""Each rule of an executor by batch is taken out, one at a time. The search has to find what the rule prevents."""

from typing import Any, Final

from attrs import evolve

from delayer.accept.rules.status import decide_cancel
from delayer.execute import rules as executing
from delayer.flow.rules.gate import Probe, decide_gate
from delayer.ledger.model import Arrival, LedgerChange, LedgerRow, Refuse, State
from delayer.ledger.rules import Claim, Verdict, decide_claim
from delayer.schedule.instants import Millis
from tests.model.batches.rules import REAL, Rules
from tests.model.batches.state import Budget
from tests.model.guard import Guard

ALONE: Final = Budget(is_alone=True)


def _no_row(message: Any, row: LedgerRow | None) -> Any:
    return executing.Attempt() if row is None else executing.decide_attempt(message, row)


def _no_end(message: Any, row: LedgerRow | None) -> Any:
    return executing.Attempt() if row and row.ended else executing.decide_attempt(message, row)


def _no_fence(message: Any, row: LedgerRow | None) -> Any:
    decision = executing.decide_attempt(message, row)
    is_other = row and not row.ended and row.attempt == message.attempt
    return executing.Attempt() if isinstance(decision, Refuse) and is_other else decision


def _blind_to_taken(message: Any, row: LedgerRow | None) -> Any:
    is_taken = row and row.arrival is Arrival.TAKEN
    return executing.decide_attempt(message, evolve(row, arrival=Arrival.CONTESTED) if row and is_taken else row)


def _no_stop(message: Any, row: LedgerRow | None) -> Any:
    return executing.decide_attempt(message, evolve(row, stopped_at=0) if row else None)


def _no_repair(message: Any, row: LedgerRow | None) -> Any:
    decision = executing.decide_attempt(message, row)
    return Refuse("retried") if isinstance(decision, executing.SendNext) else decision


def _at_once(message: Any, now: Millis) -> None:
    return None


def _claims_over_ends(claim: Claim, row: LedgerRow | None) -> Verdict:
    return decide_claim(claim, evolve(row, state=State.SCHEDULED, nonce="") if row and row.ended else row)


def _cancels_claims(schedule_id: str, owner: str, row: LedgerRow | None, now: Millis) -> Any:
    if row is None or row.state is not State.CLAIMED:
        return decide_cancel(schedule_id, owner, row, now)
    return LedgerChange(row=evolve(row, state=State.CANCELLED, revision=row.revision + 1), over=row)


def _may_always_end(*asked: Any) -> bool:
    return True


def _all_probe(*asked: Any) -> Any:
    decision = decide_gate(*asked)
    return None if isinstance(decision, Probe) else decision


def _without(name: str, what: str, possible: Budget, **rules: Any) -> Guard[Rules, Budget]:
    return Guard(name=name, what=what, without=evolve(REAL, **rules), possible=possible)


GUARDS: Final = (
    _without(
        "claim before hand-over",
        "a message is in its executor's queue before its claim is stored",
        Budget(is_claimed=False, is_alone=True),
        claims_first=False,
    ),
    _without(
        "a claim is read",
        "an executor makes an attempt of which the ledger has no claim",
        Budget(is_claimed=False, is_alone=True),
        claims_first=False,
        attempt=_no_row,
    ),
    _without(
        "a cancel is an end",
        "a relay claims what was cancelled",
        Budget(is_claimed=False, is_alone=True, cancels=1),
        claim=_claims_over_ends,
    ),
    _without(
        "a claim decides about a cancel",
        "a cancel is written over a claim, while its batch is under way",
        Budget(is_alone=True, cancels=1),
        cancel=_cancels_claims,
    ),
    _without(
        "due first", "a batch makes its attempts when it is read", Budget(is_alone=True, is_early=True), wait=_at_once
    ),
    _without(
        "a delay is waited for",
        "an attempt that is to be made later is made when its row is read",
        Budget(is_alone=True, is_early=True, failures=1),
        early=lambda row, now: None,
    ),
    _without("the last one, too", "the last message of a batch is forgotten", Budget(), handles_all=False),
    _without(
        "later keeps its place",
        "a message that is to be looked at later is forgotten with its place in the batch",
        Budget(is_alone=True, is_early=True),
        keeps_place=False,
    ),
    _without(
        "later reads again",
        "a message that is looked at once more goes by the row that it had read before",
        Budget(is_alone=True, is_early=True, failures=1, stops=1),
        later_reads=False,
    ),
    _without(
        "a read is half a second old at most",
        "an attempt is made by a row that was read whenever its batch came",
        Budget(is_alone=True, stops=1, halves=1),
        is_fresh=False,
    ),
    _without(
        "a stop is read", "an executor does not look whether it was stopped", evolve(ALONE, stops=1), attempt=_no_stop
    ),
    _without(
        "an end is read",
        "an executor does not look whether there is an end",
        evolve(ALONE, deliveries=1),
        attempt=_no_end,
    ),
    _without(
        "a token is compared",
        "an executor makes the attempt of a message that was overtaken",
        Budget(deliveries=1, circuit="over", closures=2),
        attempt=_no_fence,
    ),
    _without(
        "take before attempt",
        "an attempt for which there are several messages is made before that is in the ledger",
        evolve(ALONE, claims=1),
        takes_first=False,
    ),
    _without(
        "the row in the way decides",
        "an attempt is made though another message has taken it",
        evolve(ALONE, unanswered=1, failures=1),
        take_decides=False,
    ),
    _without(
        "what is taken is refused",
        "a message makes an attempt that another one has taken",
        evolve(ALONE, unanswered=1, failures=1),
        attempt=_blind_to_taken,
    ),
    _without("attempt before outcome", "an outcome is written before its attempt", ALONE, outcome_after=False),
    _without(
        "each its own answer",
        "what one change of a request was answered is taken for the answer of all",
        Budget(deliveries=1, failures=1),
        own_answers=False,
    ),
    _without(
        "answers in their order",
        "the answers of a request are taken in another order",
        Budget(deliveries=1, failures=1),
        in_their_order=False,
    ),
    _without(
        "once in a request",
        "two copies of one schedule are in one request, which is refused",
        evolve(ALONE, deliveries=1),
        once=False,
    ),
    _without(
        "an outcome over its own claim",
        "an outcome is written over whatever row is there",
        Budget(unwritten=1, failures=1, deliveries=1, is_alone=True),
        may_end=_may_always_end,
    ),
    _without(
        "attempts side by side",
        "an attempt waits until another one of its batch is over",
        Budget(slow=1),
        side_by_side=False,
    ),
    _without(
        "outcomes at once",
        "the outcomes of a batch are written when all of its attempts are over",
        Budget(slow=1),
        writes_at_once=False,
    ),
    _without(
        "an outcome is carried",
        "a message comes again whose outcome could not be written",
        evolve(ALONE, unwritten=1),
        carries=False,
    ),
    _without(
        "a carrier only writes",
        "a message that carries an outcome makes the attempt once more",
        evolve(ALONE, unwritten=1),
        carrier_only_writes=False,
    ),
    _without(
        "contested before sent",
        "another message is sent for an attempt, and the ledger does not know",
        evolve(ALONE, unanswered=1, failures=1),
        contests=False,
    ),
    _without(
        "repair of a retry",
        "whoever finds that it has failed before does not send the next attempt",
        evolve(ALONE, unanswered=1, failures=1),
        attempt=_no_repair,
    ),
    _without(
        "delete after the outcome",
        "a message is deleted when its attempt begins",
        evolve(ALONE, crashes=1),
        deletes_last=False,
    ),
    _without(
        "send before the delete",
        "a message is deleted before the one for its next attempt is sent",
        evolve(ALONE, crashes=1, failures=1),
        sends_first=False,
    ),
    _without(
        "delete of one's own", "a batch is deleted when the first of it has its outcome", Budget(), deletes_own=False
    ),
    _without("a seat first", "attempts of a batch begin without a seat", Budget(seats=1), seat_first=False),
    _without("a seat is kept", "seats are given back while an attempt uses them", Budget(seats=1), seat_kept=False),
    _without("a seat is left", "what makes no attempt keeps its seat", Budget(seats=1, stops=1), seat_left=False),
    _without(
        "one's own seats",
        "seats are given back by another environment than the one that has them",
        Budget(seats=2, deliveries=1),
        seat_own=False,
    ),
    _without("seats are given back", "a batch ends, and keeps its seats", Budget(seats=1), seat_returned=False),
    _without(
        "one probes", "when the pause is over, all of a batch reach the target", Budget(circuit="over"), gate=_all_probe
    ),
    _without(
        "the row of the circuit is compared",
        "two that have read that the pause is over both probe",
        Budget(circuit="over"),
        probe_compared=False,
    ),
    _without(
        "a probe is held for a delivery",
        "an executor does not write that it holds the probe which its relay has named",
        Budget(circuit="named", deliveries=1, not_now=1),
        probe_marked=False,
    ),
    _without(
        "a copy of a probe waits",
        "a copy of what holds the probe reaches the target, too, and is there when another one probes",
        Budget(circuit="named", deliveries=1, not_now=1),
        probe_alone=False,
    ),
    _without(
        "a probe is given back by its holder",
        "a duplicate gives back the probe of the copy that is at its target",
        Budget(circuit="named", deliveries=1, not_now=1),
        probe_own=False,
    ),
    _without(
        "a probe is given back",
        "a probe that cannot be begun keeps all others waiting for a minute",
        Budget(circuit="named", not_now=1),
        probe_returned=False,
    ),
)
