"""Resumes a series: a new occurrence under a new id, for the first time that is still to come (ADR 0094, 0098)."""

from collections.abc import Callable
from typing import Final

from attrs import evolve, frozen

from delayer.accept.rules.status import MayBeRunning
from delayer.accept.use_cases.issue import Ids
from delayer.engines.ports import Clock, Observer, Unavailable
from delayer.history.model import SeriesRefuses
from delayer.ledger.model import LedgerRow
from delayer.ledger.ports import Ledger
from delayer.schedule.instants import Malformed, Millis
from delayer.schedule.schedule import Schedule
from delayer.series.ports import SeriesTable
from delayer.series.rules.backfill import Fill, Filled, decide_backfill_resume, filled
from delayer.series.rules.command import Await, CancelFirst, decide_resume, resumed, was_used
from delayer.series.rules.rules import times_between
from delayer.series.rules.series import Cursor, MayStillRun, NoSeries, Rule, RuleFailed, SeriesDefinition, SeriesState
from delayer.series.rules.stepping import Over, ReadAgain, Step, passed_by
from delayer.series.use_cases.halt import DETAIL, ROUNDS, CancelsSchedules
from delayer.series.use_cases.step import occurrence, tell_if_failed
from delayer.series.use_cases.stored import Retention, Stored, read

RUNNING: Final = frozenset({SeriesState.ACTIVE, SeriesState.WAITING, SeriesState.ENDED})  # what a resume leads to


@frozen(kw_only=True)
class Resumed:
    """It is not paused: since this call, or an earlier one."""

    cursor: Cursor
    missed: int = 0  # times of the pause, which are not made up


@frozen(kw_only=True)
class Resume:
    """One call of the API."""

    clock: Clock
    series: SeriesTable
    ledger: Ledger
    cancel_of_series: CancelsSchedules
    ids: Ids
    rule_of: Callable[[SeriesDefinition], Rule]
    retention: Retention
    observer: Observer

    def __call__(self, owner: str, series: str, by: str = "") -> Resumed | SeriesRefuses | MayStillRun | NoSeries:
        """`by` is the caller, if not the owner.

        Raises Unavailable: it may or may not be resumed, and the call is to be repeated.
        """
        for _ in range(ROUNDS):
            stored = read(self.series, owner, series)
            if isinstance(stored, NoSeries):
                return stored
            if stored.cursor.state in RUNNING:
                return Resumed(cursor=stored.cursor)
            answer = self._resume(stored, by)
            if answer:
                return answer
        raise Unavailable("others change the series all the time; try again")

    def _resume(self, stored: Stored, by: str) -> Resumed | SeriesRefuses | MayStillRun | None:
        """None: it must be read again."""
        cursor, definition, now = stored.cursor, stored.definition, self.clock.now()
        rule, row = self.rule_of(definition), self._row(cursor.current)
        decision = decide_resume(cursor, definition, rule, row, now)
        if isinstance(decision, SeriesRefuses):
            return decision
        backfill = cursor.backfill.current if cursor.backfill else ""
        fill = decide_backfill_resume(cursor, rule, self._row(backfill), now)
        if isinstance(decision, CancelFirst):
            return self._cancel(cursor, cursor.current, by)
        if isinstance(fill, CancelFirst):
            return self._cancel(cursor, backfill, by)
        if isinstance(decision, ReadAgain):
            return None
        return self._write(stored, decision, fill, row, by)

    def _row(self, schedule_id: str) -> LedgerRow | None:
        return self.ledger.read(schedule_id) if schedule_id else None

    def _cancel(self, cursor: Cursor, schedule_id: str, by: str) -> MayStillRun | None:
        """The pause may have died before it did so."""
        answer = self.cancel_of_series(schedule_id, cursor.owner, DETAIL, by)
        if isinstance(answer, MayBeRunning):
            return MayStillRun(cursor=cursor, schedules=(schedule_id,), wait=answer.wait)
        return None

    def _write(
        self, stored: Stored, decision: Step | Over | Await, fill: Fill | Filled | None, row: LedgerRow | None, by: str
    ) -> Resumed | None:
        cursor, definition, now = stored.cursor, stored.definition, self.clock.now()
        put = self._step(stored, decision)
        change = resumed(cursor, decision, row, put.id if put else "")
        backfilled = self._fill(stored, fill, now)
        if fill:
            change = evolve(change, cursor=filled(change.cursor, fill, backfilled.id if backfilled else ""))
        transaction = self.retention.transaction(change, definition)
        transaction = evolve(transaction, put=tuple(one for one in (put, backfilled) if one))
        if not self.series.step(transaction):
            return None
        missed = missed_until(definition, cursor, row, now)
        self.observer.note("series resumed", series=cursor.series, by=by, state=change.cursor.state, missed=missed)
        tell_if_failed(self.observer, transaction)
        return Resumed(cursor=transaction.cursor, missed=missed)

    def _step(self, stored: Stored, decision: Step | Over | Await) -> Schedule | None:
        if not isinstance(decision, Step):
            return None
        series, at = stored.cursor.series, decision.at
        return occurrence(self.ids, stored.definition, series, decision.number, at, at)

    def _fill(self, stored: Stored, fill: Fill | Filled | None, now: Millis) -> Schedule | None:
        if not isinstance(fill, Fill):
            return None
        return occurrence(self.ids, stored.definition, stored.cursor.series, 0, fill.at, now)


def missed_until(definition: SeriesDefinition, cursor: Cursor, row: LedgerRow | None, now: Millis) -> int:
    """How many times have passed since the last one that was used; `row` is that of the current one."""
    last = max(cursor.passed, cursor.at if was_used(row) else 0, definition.created_at)
    try:
        return times_between(definition, last, passed_by(definition, cursor.series, now))
    except (RuleFailed, Malformed):
        return 0
