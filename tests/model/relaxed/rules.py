"""The decisions that the model of the relaxed lane asks for: those of the code, so that one can be taken out."""

from collections.abc import Callable
from typing import Any

from attrs import frozen

from delayer.accept.rules import status as cancellation
from delayer.dead_letters.model import decide_disposition
from delayer.execute import rules as executing
from delayer.ledger.rules import decide_claim
from delayer.relay import rules as relaying
from delayer.schedule.instants import Millis
from delayer.schedule.schedule import Schedule


def _expires_at(schedule: Schedule) -> Millis:
    return schedule.expires_at


def _nonce(event: str, deliveries: int) -> str:
    return event


@frozen(kw_only=True)
class Rules:
    """What the functions go by."""

    expires_at: Callable[[Schedule], Millis] = _expires_at
    decide: Callable[..., Any] = relaying.decide_relaxed
    other_removal: Callable[..., Any] = relaying.decide_other_removal
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
