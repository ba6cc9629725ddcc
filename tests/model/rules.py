"""The decisions the model asks for: those of the code, one by one, so that a guard can be taken out of them."""

from collections.abc import Callable

from attrs import frozen

from delayer.accept.rules import status as cancellation
from delayer.dead_letters.model import Disposition, decide_disposition
from delayer.dead_letters.rules import LeftAsIs, decide_redrive
from delayer.execute import rules as executing
from delayer.flow.rules.gate import Later
from delayer.ledger.model import LedgerRow
from delayer.ledger.rules import Claim, Verdict, decide_claim, hopped, may_end
from delayer.relay import rules as relaying
from delayer.schedule.instants import MAX_HOLD, Millis
from delayer.schedule.messages import ExecutorMessage
from tests.samples import an_executor_message


def early_by_its_row(row: LedgerRow, now: Millis) -> Later[ExecutorMessage] | None:
    """Whether its attempt is due; there is room for it."""
    return executing.decide_later(an_executor_message(), row, None, now)


def is_far(later: Later[ExecutorMessage] | None, now: Millis) -> bool:
    """Whether it is sent again, and not held."""
    return later is not None and later.at - now > MAX_HOLD


@frozen(kw_only=True)
class Rules:
    """What the functions go by."""

    claim: Callable[[Claim, LedgerRow | None], Verdict] = decide_claim
    relay: Callable[..., object] = relaying.decide
    wait: Callable[..., Later[ExecutorMessage] | None] = executing.decide_wait
    attempt: Callable[..., object] = executing.decide_attempt
    early: Callable[..., Later[ExecutorMessage] | None] = early_by_its_row
    disposition: Callable[..., Disposition] = decide_disposition
    may_end: Callable[..., bool] = may_end
    hopped: Callable[..., LedgerRow] = hopped
    cancel: Callable[..., object] = cancellation.decide_cancel
    replace: Callable[..., object] = cancellation.decide_replace
    stop: Callable[..., object] = cancellation.decide_stop
    redrive: Callable[..., LeftAsIs | None] = decide_redrive
    hold_first: bool = True  # the claim comes after the hold
    body_first: bool = True  # the body is stored before the ledger says so
    fresh_token: bool = True  # a retry that is not known to be sent is sent again with a token of its own
    hop_is_fresh: bool = True  # a message that is early is sent once more with a token of its own
    hop_is_written: bool = True  # and that token is in the ledger before
    puts_off_taken: bool = False  # a message whose attempt is under way waits, too
    contests: bool = True  # and the ledger says before that there are several
    takes: bool = True  # the first of several to arrive says so in the ledger
    carries: bool = True  # an outcome that cannot be written is carried by a message
    carrier_only_writes: bool = True
    carrier_checks: bool = True  # the row, before it writes


REAL = Rules()
