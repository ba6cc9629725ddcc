"""Looks a schedule up, wherever it is: the ledger first, then the table (ADR 0040)."""

from attrs import frozen

from delayer.core.events import Event
from delayer.core.lifecycle import State
from delayer.core.whereabouts import Found, find
from delayer.core.withdrawing import Expired, NotFound
from delayer.ports import Clock, Journal, Ledger, Observer, Registry, ScheduleTable, Unavailable
from delayer.use_cases.cancel import key_of
from delayer.use_cases.issue import Ids


@frozen(kw_only=True)
class Look:
    """One call of the API."""

    clock: Clock
    ledger: Ledger
    schedules: ScheduleTable
    registry: Registry
    journal: Journal | None  # None: it is switched off
    ids: Ids
    observer: Observer

    def by_id(self, schedule_id: str, owner: str) -> Found | Expired | NotFound:
        """Raises Unavailable if AWS failed."""
        if not self.ids.is_genuine(schedule_id, owner):
            return NotFound()
        history = self._history(schedule_id)  # first, so that it is never ahead of the state
        row = self.ledger.read(schedule_id)
        record = None if row and row.state is not State.SCHEDULED else self.schedules.read(key_of(schedule_id))
        return find(schedule_id, row, record, self.clock.now(), history)

    def _history(self, schedule_id: str) -> tuple[Event, ...]:
        """A journal that does not answer makes it shorter, and nothing else."""
        try:
            return self.journal.history(schedule_id) if self.journal else ()
        except Unavailable as error:
            self.observer.warn("journal not read", schedule_id, error=str(error))
            return ()

    def by_name(self, name: str, owner: str) -> Found | Expired | NotFound:
        """The schedule that bears the name, or bore it last. Raises Unavailable if AWS failed."""
        bearer = self.registry.named(owner, name)
        return self.by_id(bearer.schedule_id, owner) if bearer else NotFound()
