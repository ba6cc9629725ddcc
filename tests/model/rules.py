"""The decisions the model asks for: those of the core, one by one, so that a guard can be taken out of them."""

from collections.abc import Callable

from attrs import frozen

from delayer.core.api import cancellation
from delayer.core.firing import executing, relaying
from delayer.core.ledger.claim import Claim, Verdict, decide_claim
from delayer.core.ledger.outcome import may_end
from delayer.core.ledger.row import LedgerRow
from delayer.core.recovery.disposition import Disposition, decide_disposition


@frozen(kw_only=True)
class Rules:
    """What the functions go by."""

    claim: Callable[[Claim, LedgerRow | None], Verdict] = decide_claim
    relay: Callable[..., object] = relaying.decide
    wait: Callable[..., executing.Hold | executing.Resend | None] = executing.decide_wait
    attempt: Callable[..., object] = executing.decide_attempt
    disposition: Callable[..., Disposition] = decide_disposition
    may_end: Callable[..., bool] = may_end
    cancel: Callable[..., object] = cancellation.decide_cancel
    replace: Callable[..., object] = cancellation.decide_replace
    hold_first: bool = True  # the claim comes after the hold
    spares_claimed: bool = True  # a redrive leaves the body of what is claimed alone
    body_first: bool = True  # the body is stored before the ledger says so


REAL = Rules()
