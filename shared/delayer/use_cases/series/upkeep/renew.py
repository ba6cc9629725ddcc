"""What is done to series without an event: those that wait are woken, and those with a zone get its new times."""

from collections.abc import Callable
from typing import Final, Protocol

from attrs import evolve, frozen

from delayer.core.api.cancellation import decide_replace
from delayer.core.ledger.row import LedgerChange
from delayer.core.schedule.schedule import Schedule
from delayer.core.schedule.schedule_id import key_of
from delayer.core.series.series import Cursor, Rule, SeriesDefinition, SeriesState
from delayer.core.series.stepping import Over, ReadAgain, Step, decide_wake, stepped
from delayer.core.series.upkeep.zones import decide_recompute, recomputed
from delayer.ports.clock import Clock
from delayer.ports.ledger import ReadsLedger
from delayer.ports.observer import Observer
from delayer.ports.series import ReadsSeries, SeriesTransaction, WritesSeries
from delayer.ports.series_upkeep import SeriesKey
from delayer.ports.unavailable import Unavailable
from delayer.use_cases.api.issue import Ids
from delayer.use_cases.series.retention import Retention
from delayer.use_cases.series.step import occurrence, tell_if_failed

ROUNDS: Final = 5  # tries against others who change the same series


class SeriesOfRenew(ReadsSeries, WritesSeries, Protocol):
    """What it needs of the series."""


@frozen(kw_only=True)
class Renew:
    """One series at a time. It is safe to repeat it."""

    clock: Clock
    series: SeriesOfRenew
    ledger: ReadsLedger
    ids: Ids
    rule_of: Callable[[SeriesDefinition], Rule]
    retention: Retention
    observer: Observer

    def wake(self, key: SeriesKey) -> None:
        """Puts the next occurrence of a series that waits, if its time has come near enough. Raises Unavailable."""
        self._try(key, self._waking)

    def recompute(self, key: SeriesKey) -> None:
        """Puts the current occurrence for another time, if its rule says so now. Raises Unavailable."""
        self._try(key, self._recomputing)

    def _try(
        self, key: SeriesKey, decide: Callable[[Cursor, SeriesDefinition], SeriesTransaction | ReadAgain | None]
    ) -> None:
        for _ in range(ROUNDS):
            cursor = self.series.cursor(key.owner, key.series)
            definition = self.series.definition(key.owner, key.series)
            if cursor is None or definition is None:
                return
            decided = decide(cursor, definition)
            if decided is None:
                return
            if isinstance(decided, SeriesTransaction) and self.series.write(decided):
                self.observer.note("renewed", series=key.series, state=decided.cursor.state, at=decided.cursor.at)
                tell_if_failed(self.observer, decided)
                return
        raise Unavailable("others change the series all the time")

    def _waking(self, cursor: Cursor, definition: SeriesDefinition) -> SeriesTransaction | ReadAgain | None:
        decision = decide_wake(cursor, definition, self.rule_of(definition), self.clock.now())
        if isinstance(decision, ReadAgain):
            return decision
        if not isinstance(decision, Step | Over) or decision == Over(SeriesState.WAITING):
            return None
        put = self._issued(decision, cursor, definition) if isinstance(decision, Step) else None
        change = stepped(cursor, decision, put.id if put else "")
        return evolve(self.retention.transaction(change, definition), put=(put,) if put else ())

    def _recomputing(self, cursor: Cursor, definition: SeriesDefinition) -> SeriesTransaction | ReadAgain | None:
        row = self.ledger.read(cursor.current) if cursor.current else None
        now = self.clock.now()
        decision = decide_recompute(cursor, definition, self.rule_of(definition), row, now)
        if isinstance(decision, ReadAgain):
            return decision
        if not isinstance(decision, Step):
            return None
        put = self._issued(decision, cursor, definition)
        end = decide_replace(cursor.current, cursor.owner, row, put.id, now)
        if not isinstance(end, LedgerChange):
            return None  # it was claimed just now: the step after it goes by the new times
        change = recomputed(cursor, decision, put.id)
        return evolve(
            self.retention.transaction(change, definition), put=(put,), ends=(end,), delete=(key_of(cursor.current),)
        )

    def _issued(self, step: Step, cursor: Cursor, definition: SeriesDefinition) -> Schedule:
        return occurrence(self.ids, definition, cursor.series, step.number, step.at, step.at)
