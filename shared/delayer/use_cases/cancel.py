"""Cancels a schedule, wherever it is: the ledger row alone answers (ADR 0040)."""

from attrs import frozen

from delayer.core.ledger import LedgerRow
from delayer.core.schedule_id import address_of
from delayer.core.withdrawing import CANCELLED, Already, Expired, NotFound, TooLate, Withdraw, decide_cancel
from delayer.ports import Clock, Ledger, Observer, RecordKey, Registry, ScheduleTable, Unavailable
from delayer.use_cases.issue import Ids
from delayer.use_cases.naming import ROUNDS


@frozen
class Cancelled:
    """It will never reach an executor; said for the first time, or again."""

    row: LedgerRow


Answer = Cancelled | TooLate | Expired | NotFound


def key_of(schedule_id: str) -> RecordKey:
    """Where its record stands. Raises ValueError if it is no id."""
    address = address_of(schedule_id)
    return RecordKey(bucket=address.bucket.key, due=address.sort_key(schedule_id))


@frozen(kw_only=True)
class Cancel:
    """One call of the API."""

    clock: Clock
    ledger: Ledger
    schedules: ScheduleTable
    registry: Registry
    ids: Ids
    observer: Observer

    def __call__(self, schedule_id: str, owner: str, detail: str = CANCELLED) -> Answer:
        """Raises Unavailable if AWS failed: then it is not known, and the call is to be repeated."""
        if not self.ids.is_genuine(schedule_id, owner):
            return NotFound()
        answer = self._decide(schedule_id, owner, detail)
        if isinstance(answer, Cancelled):
            self._delete(schedule_id)
            self.observer.count("Cancelled")
            self.observer.note("cancelled", schedule_id)
        return answer

    def by_name(self, name: str, owner: str) -> Answer:
        """The schedule that bears the name; if it was replaced just now, the one that took its place."""
        for _ in range(ROUNDS):
            bearer = self.registry.named(owner, name)
            if bearer is None:
                return NotFound()
            answer = self(bearer.schedule_id, owner)
            if not (isinstance(answer, TooLate) and answer.row.replaced_by):
                return answer
        raise Unavailable("others replace the schedule of this name all the time; try again")

    def _decide(self, schedule_id: str, owner: str, detail: str) -> Cancelled | TooLate | Expired:
        """Compare-and-set until it stands; nothing is read beforehand, as there is no row as a rule."""
        standing: LedgerRow | None = None
        while True:
            verdict = decide_cancel(schedule_id, owner, standing, self.clock.now(), detail)
            if isinstance(verdict, Already):
                return Cancelled(verdict.row)
            if not isinstance(verdict, Withdraw):
                return verdict
            standing = self._write(verdict)
            if standing is None:
                return Cancelled(verdict.row)

    def _write(self, verdict: Withdraw) -> LedgerRow | None:
        if verdict.over:
            return self.ledger.swap(verdict.over, verdict.row)
        return self.ledger.put_if_absent(verdict.row)

    def _delete(self, schedule_id: str) -> None:
        """Best effort: a record left behind moves on in its time, and its claim is refused."""
        try:
            left = self.schedules.delete([key_of(schedule_id)])
        except Unavailable:
            left = [key_of(schedule_id)]
        if left:
            self.observer.note("record of a cancelled schedule not deleted", schedule_id)
