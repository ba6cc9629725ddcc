"""The decisions the model asks for: those of the core, one by one, so that a guard can be taken out of them."""

from collections.abc import Callable

from attrs import frozen

from delayer.core import executing, ledger, relaying, withdrawing


@frozen(kw_only=True)
class Rules:
    """What the functions go by."""

    claim: Callable[[ledger.LedgerRow, ledger.LedgerRow | None], ledger.Verdict] = ledger.decide_claim
    relay: Callable[..., object] = relaying.decide
    wait: Callable[..., executing.Hold | executing.Resend | None] = executing.decide_wait
    attempt: Callable[..., object] = executing.decide_attempt
    set_aside: Callable[..., ledger.Keep] = ledger.decide_set_aside
    may_end: Callable[..., bool] = ledger.may_end
    cancel: Callable[..., object] = withdrawing.decide_cancel
    hold_first: bool = True  # the claim comes after the hold
    spares_claimed: bool = True  # a put-back leaves the body of what is claimed alone
    body_first: bool = True  # the body is kept before the ledger says so


REAL = Rules()
