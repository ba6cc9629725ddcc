"""Changes one occurrence by its own id: its owner cancels or replaces it, an operator redrives it.

The cursor names all that a pause or a DELETE has to cancel. So the ledger row of an occurrence and the cursor change in
one transaction wherever the one makes the other untrue (ADR 0094).
"""

from collections.abc import Callable
from typing import Final, TypeVar

from attrs import evolve, frozen

from delayer.accept.ports import ScheduleTransaction
from delayer.engines.ports import Clock, Unavailable
from delayer.history.model import NotCurrent, SeriesRefuses, occurrence_of
from delayer.ledger.model import Already, LedgerChange, LedgerRow
from delayer.ledger.ports import Ledger
from delayer.schedule.instants import Malformed
from delayer.schedule.schedule import Schedule
from delayer.schedule.schedule_id import key_of
from delayer.series.ports import SeriesTable, SeriesTransaction
from delayer.series.rules.command import (
    decide_beside,
    decide_occurrence_delete,
    decide_occurrence_patch,
    gives_up,
    is_settled,
)
from delayer.series.rules.series import MAX_BESIDE, Cursor, CursorChange
from delayer.series.use_cases.stored import Retention

ROUNDS: Final = 10
GONE: Final = SeriesRefuses("its series is gone")

Outcome = TypeVar("Outcome")  # a LedgerChange that was written, or whatever else was decided


@frozen(kw_only=True)
class Occurrences:
    """The transactions that change an occurrence and the cursor of its series."""

    clock: Clock
    series: SeriesTable
    ledger: Ledger
    retention: Retention

    def settle(self, schedule_id: str, decide: Callable[[LedgerRow | None], Outcome]) -> Outcome | NotCurrent:
        """Ends the current occurrence: the change that was written, or whatever else was decided.

        The series goes on with the next one: no resume puts this time again, also if a pause has cancelled it before.
        Raises Unavailable.
        """
        filed = self.series.filed(schedule_id)
        if filed is None:
            return NotCurrent()
        for _ in range(ROUNDS):
            cursor = self.series.cursor(filed.owner, filed.series)
            change = decide_occurrence_delete(cursor, schedule_id) if cursor else None
            if change is None:
                return NotCurrent()
            outcome = decide(self.ledger.read(schedule_id))
            if not isinstance(outcome, LedgerChange) and not (isinstance(outcome, Already) and gives_up(change)):
                return outcome
            if self._write(change, ends=(outcome,) if isinstance(outcome, LedgerChange) else ()):
                return outcome
        raise _busy()

    def replace(self, old: Schedule, row: LedgerRow | None, asked: ScheduleTransaction) -> bool | SeriesRefuses:
        """Does what is `asked` for: it puts another in the place of `old`, whose row is `row`, and perhaps an
        idempotency key.

        False: something has changed meanwhile; decide again. Raises Unavailable.
        """
        cursor = self._cursor_of(old)
        if cursor is None:
            return GONE
        change = decide_occurrence_patch(cursor, old.id, asked.put.id, row, self._settled(cursor))
        if isinstance(change, SeriesRefuses):
            return change
        return self.series.write(
            evolve(
                self._transaction(change),
                put=(asked.put,),
                ends=(asked.end,) if asked.end else (),
                delete=(key_of(old.id),),
                put_request=asked.put_request,
                over_request=asked.over_request,
            )
        )

    def reopen(self, schedule: Schedule, opened: LedgerChange) -> bool | SeriesRefuses:
        """Writes the row of a redrive, and names the occurrence again. False: something has changed; decide again.

        SeriesRefuses if its series is paused or cancelled: nothing of it is handed over any more. Raises Unavailable.
        """
        cursor = self._cursor_of(schedule)
        if cursor is None:
            return GONE
        change = decide_beside(cursor, schedule.id, self._settled(cursor))
        if isinstance(change, SeriesRefuses):
            return change
        return self._write(change, ends=(opened,))

    def _write(self, change: CursorChange, ends: tuple[LedgerChange, ...]) -> bool:
        return self.series.write(evolve(self._transaction(change), ends=ends))

    def _transaction(self, change: CursorChange) -> SeriesTransaction:
        """Of a series that is over, its definition is needed, too: it may have to be kept for longer."""
        over = change.over
        stored = self.series.definition(over.owner, over.series) if over.expires_at else None
        if stored is None:
            return SeriesTransaction(cursor=change.cursor, over=over)
        return self.retention.transaction(change, stored)

    def _cursor_of(self, schedule: Schedule) -> Cursor | None:
        try:
            which = occurrence_of(schedule.definition)
        except Malformed as error:
            raise Unavailable(f"{schedule.id}: {error}") from error
        return self.series.cursor(schedule.owner, which.series) if which else None

    def _settled(self, cursor: Cursor) -> tuple[str, ...]:
        """Those beside the current one that need no place any more. They are read only when there is no place left."""
        if len(cursor.beside) < MAX_BESIDE:
            return ()
        now = self.clock.now()
        return tuple(one for one in cursor.beside if is_settled(one, self.ledger.read(one), now))


def _busy() -> Unavailable:
    return Unavailable("others change the series all the time; try again")
