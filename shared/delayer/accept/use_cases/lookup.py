"""Looks a schedule up, wherever it is: the ledger first, then the table (ADR 0040)."""

from attrs import evolve, frozen

from delayer.accept.ports import Registry
from delayer.accept.rules.status import Expired, NotFound, Status, is_foreign, status_of
from delayer.accept.use_cases.issue import IdCheck
from delayer.engines.ports import Clock, Observer, Unavailable
from delayer.flow.use_cases.view import Waits
from delayer.history.model import LifecycleEvent
from delayer.history.ports import Journal
from delayer.history.rules import on_its_way, whole
from delayer.ledger.model import State
from delayer.ledger.ports import Ledger
from delayer.records.ports import Records
from delayer.schedule.instants import Millis
from delayer.schedule.schedule_id import is_undecided, key_of


@frozen(kw_only=True)
class Lookup:
    """One call of the API."""

    clock: Clock
    ledger: Ledger
    records: Records
    registry: Registry
    optional_journal: Journal | None  # None: it is switched off
    ids: IdCheck
    waits: Waits
    observer: Observer
    period: Millis  # the delayer period

    def by_id(self, schedule_id: str, owner: str) -> Status | Expired | NotFound:
        """Raises Unavailable if AWS failed."""
        if not self.ids.is_genuine(schedule_id, owner):
            return NotFound()
        history = self._history(schedule_id, owner)  # first, so that it is never ahead of the state
        if is_undecided(schedule_id):
            return self._undecided(schedule_id, owner, history)
        row = self.ledger.read(schedule_id)
        record = None if row and row.state is not State.SCHEDULED else self.records.read(key_of(schedule_id))
        if is_foreign(row, owner) or (record and record.owner != owner):
            return NotFound()
        status = status_of(schedule_id, row, record, self.clock.now(), whole(schedule_id, history, row))
        return self._waiting(self._on_its_way(status), owner)

    def _on_its_way(self, status: Status | Expired) -> Status | Expired:
        """Nothing has written yet when it left the table: its history says so as well as can be known."""
        if isinstance(status, Expired) or status.state is not State.ENQUEUED or not status.history:
            return status
        return evolve(status, history=on_its_way(status.schedule_id, status.history, self.period))

    def _waiting(self, status: Status | Expired, owner: str) -> Status | Expired:
        """Says why it waits, if it is overdue or waits for an attempt. Of all else nothing is read."""
        if isinstance(status, Expired) or not (status.overdue or status.next_attempt_at):
            return status
        definition = status.original.schedule.definition if status.original else None
        return evolve(status, waiting=self.waits(owner, definition, status.next_attempt_at))

    def _undecided(
        self, schedule_id: str, owner: str, history: tuple[LifecycleEvent, ...]
    ) -> Status | Expired | NotFound:
        """A schedule that was accepted without a time, or the schedule that has its time by now (ADR 0096).

        The record first: if the decision comes in between, its row is found.
        """
        record = self.records.read(key_of(schedule_id))
        row = self.ledger.read(schedule_id)
        if is_foreign(row, owner) or (record and record.owner != owner):
            return NotFound()
        if row is None or not row.decided_as:
            return status_of(schedule_id, row, record, self.clock.now(), history)
        found = self.by_id(row.decided_as, owner)
        if not isinstance(found, Status):
            return found
        return evolve(found, schedule_id=schedule_id, decided_as=row.decided_as, history=(*history, *found.history))

    def _history(self, schedule_id: str, owner: str) -> tuple[LifecycleEvent, ...]:
        """If the journal does not answer, the history is missing, and nothing else."""
        try:
            return self.optional_journal.history(schedule_id, owner) if self.optional_journal else ()
        except Unavailable as error:
            self.observer.warn("journal not read", schedule_id, error=str(error))
            return ()

    def by_name(self, name: str, owner: str) -> Status | Expired | NotFound:
        """The schedule that has the name, or had it last. Raises Unavailable if AWS failed."""
        holder = self.registry.named(owner, name)
        return self.by_id(holder.schedule_id, owner) if holder else NotFound()
