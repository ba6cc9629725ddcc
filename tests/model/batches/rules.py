"""What an executor by batch goes by: the decisions of the code, and the order of its requests, each to be taken out."""

from collections.abc import Callable

from attrs import frozen

from delayer.accept.rules.status import decide_cancel, decide_stop
from delayer.execute import rules as executing
from delayer.flow.rules.gate import Later, decide_gate
from delayer.ledger.model import LedgerRow
from delayer.ledger.rules import Claim, Verdict, decide_claim, may_end
from delayer.schedule.messages import ExecutorMessage
from tests.model.rules import early_by_its_row


@frozen(kw_only=True)
class Rules:
    """Each of them is missed, if it is not there."""

    claim: Callable[[Claim, LedgerRow | None], Verdict] = decide_claim
    cancel: Callable[..., object] = decide_cancel
    stop: Callable[..., object] = decide_stop
    wait: Callable[..., object] = executing.decide_wait
    attempt: Callable[..., object] = executing.decide_attempt
    early: Callable[..., Later[ExecutorMessage] | None] = early_by_its_row
    may_end: Callable[..., bool] = may_end
    gate: Callable[..., object] = decide_gate

    claims_first: bool = True  # the claim is stored before the hand-over
    handles_all: bool = True  # also the last message of a batch
    keeps_place: bool = True  # what is to be looked at later stays in its batch
    later_reads: bool = True  # and its row is read anew then
    is_fresh: bool = True  # a row that was read half a second ago is read again before its attempt
    takes_first: bool = True  # a contested attempt is taken in the ledger before it is made
    take_decides: bool = True  # if the row has changed, it decides
    outcome_after: bool = True  # an outcome is written after its attempt
    own_answers: bool = True  # each change of a request goes by its own answer
    in_their_order: bool = True  # the answers are those of the changes, in their order
    once: bool = True  # no schedule is twice in one request
    side_by_side: bool = True  # an attempt waits for no other attempt
    writes_at_once: bool = True  # nor does an outcome
    carries: bool = True  # an outcome that cannot be written is carried by a message
    carrier_only_writes: bool = True
    contests: bool = True  # that there are several messages is written before another one is sent
    deletes_last: bool = True  # a message is deleted after its outcome is stored
    sends_first: bool = True  # and after the next one is sent
    deletes_own: bool = True  # and without its neighbours
    seat_first: bool = True  # an attempt has a seat before it begins
    seat_kept: bool = True  # a seat is not given back while it is used
    seat_left: bool = True  # what makes no attempt leaves its seat to others
    seat_own: bool = True  # seats are given back by whoever has them
    seat_returned: bool = True  # at the end of a batch
    probe_compared: bool = True  # the row of the circuit is written if it is as it was read
    probe_marked: bool = True  # an executor writes that it holds the probe that a relay has named
    probe_alone: bool = True  # a copy of what holds the probe waits
    probe_own: bool = True  # a probe is given back for the delivery that holds it
    probe_returned: bool = True  # by whatever reaches no target


REAL = Rules()
