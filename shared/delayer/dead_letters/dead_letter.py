"""Stores what must not be fired and must not be lost: the body first, then the end in the ledger (ADR 0021).

A crash in between repeats both without harm.
"""

from typing import Protocol

from attrs import evolve, frozen

from delayer.dead_letters.model import DeadLetter, Disposition, Prefix, decide_disposition, may_need_body
from delayer.dead_letters.ports import DeadLetterStore
from delayer.engines.ports import Clock, Observer
from delayer.ledger.model import IllegalTransition, LedgerChange, LedgerRow, State
from delayer.ledger.ports import Ledger
from delayer.ledger.rules import ended, ended_unclaimed
from delayer.ledger.use_cases import settle
from delayer.schedule.instants import Millis
from delayer.schedule.messages import DelayerMessage, ExecutorMessage, OutcomeMessage, encode
from delayer.schedule.schedule_id import address_of


@frozen(kw_only=True)
class Undeliverable:
    """One copy of a schedule that cannot go on, or of something that should have been a schedule."""

    body: str  # everything there is
    reason: str
    schedule_id: str = ""  # empty if unknown
    owner: str = ""
    nonce: str = ""  # empty if it was never sent
    fence: str = ""  # empty if it was never handed over
    enqueued_at: Millis = 0  # when its record left the table, if the copy tells


def undeliverable(
    body: str, reason: str, message: DelayerMessage | ExecutorMessage | OutcomeMessage | None
) -> Undeliverable:
    """The copy in `body`. `message` is what was read from it; if that is None, only the body is known."""
    if message is None:
        return Undeliverable(body=body, reason=reason)
    return Undeliverable(
        body=body,
        reason=reason,
        schedule_id=message.schedule.id,
        owner=message.schedule.owner,
        nonce=message.nonce,
        fence="" if isinstance(message, DelayerMessage) else message.fence,
        enqueued_at=message.enqueued_at if isinstance(message, DelayerMessage) else 0,
    )


class TakesDeadLetters(Protocol):
    """The use case DeadLetters, for those who hand it what cannot go on."""

    def take(self, copy: Undeliverable) -> None:
        """As DeadLetters."""
        ...

    def store_failed(self, message: ExecutorMessage, reason: str) -> str:
        """As DeadLetters."""
        ...

    def release_failed(self, key: str, current: LedgerRow) -> None:
        """As DeadLetters."""
        ...


@frozen(kw_only=True)
class DeadLetters:
    """Several functions share this: they store bodies, and write that a schedule is dead-lettered."""

    clock: Clock
    ledger: Ledger
    dead_letter_store: DeadLetterStore
    observer: Observer
    source: str  # the function's name

    def take(self, copy: Undeliverable) -> None:
        """Stores the body and writes the end. Raises Unavailable if AWS failed: then the call is to be repeated."""
        copy = _with_known_id(copy)
        letter = self._letter(Prefix.DEAD_LETTERED, copy)
        self.dead_letter_store.put(letter)
        disposition = self.mark(copy) if copy.schedule_id else Disposition.STORE
        if disposition is Disposition.DISCARD:
            self.dead_letter_store.remove(letter.key)
            self.observer.note("needless copy discarded", copy.schedule_id, reason=copy.reason)
            return
        if disposition is Disposition.MARK:
            self.dead_letter_store.put(letter)  # a redrive of the same body may have deleted it just before the mark
        self.observer.count("DeadLettered")
        self.observer.warn("dead-lettered", copy.schedule_id, reason=copy.reason, key=letter.key)

    def store_failed(self, message: ExecutorMessage, reason: str) -> str:
        """Stores the body of a schedule that is about to fail, so that it can be redriven. The key."""
        letter = self._letter(Prefix.FAILED, undeliverable(encode(message), reason, message))
        self.dead_letter_store.put(letter)
        return letter.key

    def release_failed(self, key: str, current: LedgerRow) -> None:
        """Deletes the body of a schedule that did not fail after all.

        It stays if another copy failed: the same body has the same key.
        """
        if not may_need_body(current):
            self.dead_letter_store.remove(key)

    def _letter(self, prefix: Prefix, copy: Undeliverable) -> DeadLetter:
        return DeadLetter(
            prefix=prefix,
            schedule_id=copy.schedule_id,
            owner=copy.owner,
            reason=copy.reason,
            source=self.source,
            at=self.clock.now(),
            body=copy.body,
        )

    def mark(self, copy: Undeliverable) -> Disposition:
        """Writes the end unless the ledger has another. If the lifecycle refuses it, the body is stored without."""
        try:
            outcome = settle(
                self.ledger, lambda current: self._decide(copy, current), self.ledger.read(copy.schedule_id)
            )
        except IllegalTransition as error:
            self.observer.warn("dead letter without a mark", copy.schedule_id, reason=str(error))
            return Disposition.STORE
        return Disposition.MARK if isinstance(outcome, LedgerChange) else outcome

    def _decide(self, copy: Undeliverable, current: LedgerRow | None) -> LedgerChange | Disposition:
        disposition = decide_disposition(current, copy.nonce, copy.fence)
        if disposition is not Disposition.MARK:
            return disposition
        now, state = self.clock.now(), State.DEAD_LETTERED
        row = (
            ended(current, state, now, copy.reason)
            if current
            else ended_unclaimed(copy.schedule_id, copy.owner, state, now, copy.reason)
        )
        return LedgerChange(row=evolve(row, enqueued_at=row.enqueued_at or copy.enqueued_at), over=current)


def _with_known_id(copy: Undeliverable) -> Undeliverable:
    """A text that is not an id has no ledger row, and must not be part of a key."""
    try:
        address_of(copy.schedule_id)
    except ValueError:
        return evolve(copy, schedule_id="")
    return copy
