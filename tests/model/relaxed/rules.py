"""The decisions that the model of the relaxed lane asks for: those of the core, so that one can be taken out."""

from collections.abc import Callable
from typing import Any

from attrs import frozen

from delayer.core.api import cancellation
from delayer.core.firing import executing, relaxed
from delayer.core.ledger.claim import decide_claim
from delayer.core.recovery.disposition import decide_disposition
from delayer.core.schedule.instants import Millis
from delayer.core.schedule.schedule import Schedule


def _expires_at(schedule: Schedule) -> Millis:
    return schedule.expires_at


def _nonce(event: str, deliveries: int) -> str:
    return event


@frozen(kw_only=True)
class Rules:
    """What the functions go by."""

    expires_at: Callable[[Schedule], Millis] = _expires_at
    decide: Callable[..., Any] = relaxed.decide
    other_removal: Callable[..., Any] = relaxed.decide_other_removal
    nonce: Callable[[str, int], str] = _nonce  # of an event, at the how-many-eth delivery of any
    claim: Callable[..., Any] = decide_claim
    attempt: Callable[..., Any] = executing.decide_attempt
    cancel: Callable[..., Any] = cancellation.decide_cancel
    replace: Callable[..., Any] = cancellation.decide_replace
    disposition: Callable[..., Any] = decide_disposition
    holds: bool = True  # until its point in time, if DynamoDB's clock is ahead
    writes_the_ledger: bool = True  # whoever cancels or replaces; else the record is deleted and that is all
    ledger_first: bool = True  # and then the record
    keeps_the_nonce: bool = True  # of what becomes a dead letter: it may have claimed its schedule itself


REAL = Rules()
