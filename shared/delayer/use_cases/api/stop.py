"""Stops a schedule that was handed over: no further attempt of it starts (ADR 0047)."""

from attrs import frozen

from delayer.core.api.cancellation import Expired, NotFound, TooEarly, TooLate, decide_stop
from delayer.core.ledger.row import Already, LedgerChange, LedgerRow, signed
from delayer.core.schedule.schedule_id import is_undecided
from delayer.ports.clock import Clock
from delayer.ports.ledger import ReadsAndWritesLedger
from delayer.ports.observer import Observer
from delayer.use_cases.api.cancel import Forgotten
from delayer.use_cases.api.issue import IdCheck
from delayer.use_cases.compare_and_set import settle


@frozen
class Stopped:
    """No further attempt starts; one that runs may still succeed."""

    row: LedgerRow


Answer = Stopped | TooEarly | TooLate | Expired | NotFound


@frozen(kw_only=True)
class Stop:
    """One call of the API."""

    clock: Clock
    ledger: ReadsAndWritesLedger
    ids: IdCheck
    forgotten: Forgotten
    observer: Observer

    def __call__(self, schedule_id: str, owner: str, by: str = "") -> Answer:
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
