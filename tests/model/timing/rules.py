"""The decisions that the model of the timing lane asks for: those of the code, so that a guard can be taken out."""

from collections.abc import Callable
from typing import Any

from attrs import frozen

from delayer.accept.rules import status as cancellation
from delayer.ledger.rules import decide_claim
from delayer.timing.rules import decide_refusal, decide_time


@frozen(kw_only=True)
class Rules:
    """What the functions go by."""

    decide: Callable[..., Any] = decide_time
    refuse: Callable[..., Any] = decide_refusal
    cancel: Callable[..., Any] = cancellation.decide_cancel
    replace: Callable[..., Any] = cancellation.decide_replace
    claim: Callable[..., Any] = decide_claim
    net: bool = True  # a tick sends what still waits to the timing queue again
    conditional: bool = True  # a row is written only over the row that was read
    one_transaction: bool = True  # the row, the new record, and the deletion of what waited
    row_first: bool = True  # a cancel: then it deletes what waited
    follows: bool = True  # a cancel goes on to the schedule that has the time
    record_first: bool = True  # a lookup reads the record, and then the row


REAL = Rules()
