"""Cancels a schedule, wherever it is: the ledger row alone answers (ADR 0040)."""

from collections.abc import Callable
from typing import Protocol

from attrs import frozen

from delayer.accept.ports import Registry
from delayer.accept.rules.status import (
    CANCELLED,
    Expired,
    MayBeRunning,
    NotFound,
    TooEarly,
    TooLate,
    decide_cancel,
    decide_stop,
    is_of_old,
)
from delayer.accept.use_cases.issue import IdCheck
from delayer.accept.use_cases.once import ROUNDS
from delayer.engines.ports import Clock, Observer, Unavailable
from delayer.history.model import NotCurrent
from delayer.ledger.model import Already, LedgerChange, LedgerRow, signed
from delayer.ledger.ports import Ledger
from delayer.ledger.use_cases import settle
from delayer.records.ports import Records, ScheduleTable
from delayer.schedule.schedule_id import is_occurrence, is_undecided, key_of


@frozen
class Cancelled:
    """It will never reach an executor; answered for the first time, or again."""

    row: LedgerRow


Decided = LedgerChange | Already | TooLate | MayBeRunning | Expired | NotFound


class EndsOccurrences(Protocol):
    """The use case Occurrences."""

    def settle(self, schedule_id: str, decide: Callable[[LedgerRow | None], Decided]) -> Decided | NotCurrent:
        """As there."""
        ...


CancelAnswer = Cancelled | TooLate | MayBeRunning | Expired | NotFound


@frozen(kw_only=True)
class Forgotten:
    """Whether nothing is known any more of what was accepted without a time."""

    clock: Clock
    optional_waiting: ScheduleTable | None  # None: the stack has no policies, so nothing was accepted so
    ledger: Ledger

    def __call__(self, schedule_id: str) -> bool:
        """One of old that has neither a record nor a row: both, or one, as long as it lives. Raises Unavailable.

        The record first: if the decision comes in between, its row is found.
        """
        if not is_of_old(schedule_id, self.clock.now()):
            return False
        stands = self.optional_waiting and self.optional_waiting.read(key_of(schedule_id))
        return stands is None and self.ledger.read(schedule_id) is None


@frozen(kw_only=True)
class Cancel:
    """One call of the API."""

    clock: Clock
    ledger: Ledger
    records: Records
    registry: Registry
    ids: IdCheck
    observer: Observer
    forgotten: Forgotten | None  # None: for callers that meet nothing without a time
    occurrences: EndsOccurrences | None = None  # None: for callers that have written the cursor of the series before

    def __call__(self, schedule_id: str, owner: str, detail: str = CANCELLED, by: str = "") -> CancelAnswer:
        """`by` is the caller, if that is not simply the owner.

        Raises Unavailable if AWS failed: it may or may not be cancelled, and the call is to be repeated."""
        if not self.ids.is_genuine(schedule_id, owner):
            return NotFound()
        if self.forgotten and is_undecided(schedule_id) and self.forgotten(schedule_id):
            return Expired()
        answer = self._decide(schedule_id, owner, detail, by or owner)
        if isinstance(answer, TooLate) and answer.row.decided_as:
            return self(answer.row.decided_as, owner, detail, by)  # it was accepted without a time, and has one now
        if isinstance(answer, Cancelled):
            self._delete(schedule_id)
            self.observer.count("Cancelled")
            self.observer.note("cancelled", schedule_id, by=answer.row.by)
        return answer

    def by_name(self, name: str, owner: str, by: str = "") -> CancelAnswer:
        """The schedule that has the name; if it was replaced just now, the one that took its place."""
        for _ in range(ROUNDS):
            holder = self.registry.named(owner, name)
            if holder is None:
                return NotFound()
            answer = self(holder.schedule_id, owner, by=by)
            if not (isinstance(answer, TooLate) and answer.row.replaced_by):
                return answer
        raise Unavailable("others replace the schedule of this name all the time; try again")

    def _decide(self, schedule_id: str, owner: str, detail: str, by: str) -> CancelAnswer:
        """Nothing is read beforehand, because most schedules have no row yet."""

        def decide(current: LedgerRow | None) -> Decided:
            return signed(decide_cancel(schedule_id, owner, current, self.clock.now(), detail), by)

        outcome: Decided | NotCurrent = NotCurrent()
        if self.occurrences and is_occurrence(schedule_id):
            outcome = self.occurrences.settle(schedule_id, decide)
        if isinstance(outcome, NotCurrent):
            outcome = settle(self.ledger, decide)
        return Cancelled(outcome.row) if isinstance(outcome, LedgerChange | Already) else outcome

    def _delete(self, schedule_id: str) -> None:
        """Best effort: a record that stays moves on when it is due, and its claim is refused."""
        try:
            left = self.records.delete([key_of(schedule_id)])
        except Unavailable:
            left = [key_of(schedule_id)]
        if left:
            self.observer.note("record of a cancelled schedule not deleted", schedule_id)


@frozen
class Stopped:
    """No further attempt starts; one that runs may still succeed."""

    row: LedgerRow


StopAnswer = Stopped | TooEarly | TooLate | Expired | NotFound


@frozen(kw_only=True)
class Stop:
    """One call of the API."""

    clock: Clock
    ledger: Ledger
    ids: IdCheck
    forgotten: Forgotten
    observer: Observer

    def __call__(self, schedule_id: str, owner: str, by: str = "") -> StopAnswer:
        """`by` is the caller, if that is not simply the owner.

        Raises Unavailable if AWS failed: it may or may not be stopped, and the call is to be repeated."""
        if not self.ids.is_genuine(schedule_id, owner):
            return NotFound()
        outcome = settle(
            self.ledger,
            lambda current: signed(decide_stop(schedule_id, owner, current, self.clock.now()), by or owner),
            self.ledger.read(schedule_id),
        )
        if isinstance(outcome, LedgerChange):
            self._note(outcome.row)
        if isinstance(outcome, TooLate) and outcome.row.decided_as:
            return self(outcome.row.decided_as, owner, by)
        if isinstance(outcome, TooEarly) and is_undecided(schedule_id) and self.forgotten(schedule_id):
            return Expired()
        return Stopped(outcome.row) if isinstance(outcome, LedgerChange | Already) else outcome

    def _note(self, row: LedgerRow) -> None:
        if row.ended:
            self.observer.count("Dropped")
        self.observer.note("stopped" if row.ended else "to be stopped", row.schedule_id, by=row.by)
