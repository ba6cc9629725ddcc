"""Stops a schedule that was handed over: no further attempt of it starts (ADR 0047)."""

from attrs import frozen

from delayer.core.ledger import LedgerRow
from delayer.core.withdrawing import Already, Expired, NotFound, TooEarly, TooLate, Withdraw, decide_stop
from delayer.ports import Clock, Ledger, Observer, Vanished
from delayer.use_cases.issue import Ids


@frozen
class Stopped:
    """No further attempt starts; one that runs may still succeed."""

    row: LedgerRow


Answer = Stopped | TooEarly | TooLate | Expired | NotFound


@frozen(kw_only=True)
class Stop:
    """One call of the API."""

    clock: Clock
    ledger: Ledger
    ids: Ids
    observer: Observer

    def __call__(self, schedule_id: str, owner: str) -> Answer:
        """Raises Unavailable if AWS failed: then it is not known, and the call is to be repeated."""
        if not self.ids.is_genuine(schedule_id, owner):
            return NotFound()
        standing = self.ledger.read(schedule_id)
        while True:
            verdict = decide_stop(schedule_id, standing, self.clock.now())
            if isinstance(verdict, Already):
                return Stopped(verdict.row)
            if not isinstance(verdict, Withdraw):
                return verdict
            standing = self._write(verdict)
            if standing is None:
                self.observer.note("to be stopped", schedule_id)
                return Stopped(verdict.row)

    def _write(self, verdict: Withdraw) -> LedgerRow | None:
        if verdict.over is None:
            raise Vanished("there is no row to be stopped")
        return self.ledger.swap(verdict.over, verdict.row)
