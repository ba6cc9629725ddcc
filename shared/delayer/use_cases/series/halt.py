"""Pauses a series, or ends it for good: from then on nothing of it is handed over that the answer does not name.

The cursor comes first: it is in the condition of every transaction that puts something. What it named then is cancelled
by the ledger, as any schedule is. Both can be repeated, and a repeat does what a call before may have died before.
"""

from collections.abc import Callable
from typing import Final, Protocol

from attrs import frozen

from delayer.core.api.cancellation import MayBeRunning, NotFound, TooLate
from delayer.core.ledger.row import LedgerRow
from delayer.core.schedule.instants import Millis
from delayer.core.series.command import Already, decide_delete, decide_pause
from delayer.core.series.occurrence import SeriesRefuses
from delayer.core.series.series import Cursor, CursorChange, NoSeries
from delayer.ports.observer import Observer
from delayer.ports.series import NotesSeries, ReadsSeries, ReadsSeriesNames
from delayer.ports.unavailable import Unavailable
from delayer.use_cases.api.cancel import Answer as CancelAnswer
from delayer.use_cases.api.cancel import Cancelled
from delayer.use_cases.series.retention import Retention

ROUNDS: Final = 10
DETAIL: Final = "its series was paused or cancelled"

Decide = Callable[[Cursor], CursorChange | Already | SeriesRefuses]


class SeriesOfHalt(ReadsSeries, ReadsSeriesNames, NotesSeries, Protocol):
    """What it needs of the series."""


class CancelsSchedules(Protocol):
    """The use case Cancel."""

    def __call__(self, schedule_id: str, owner: str, detail: str = "", by: str = "") -> CancelAnswer:
        """As there."""
        ...


@frozen(kw_only=True)
class Halted:
    """It is paused or cancelled, now or by an earlier call."""

    cursor: Cursor
    cancelled: tuple[str, ...]  # they will never reach an executor
    claimed: tuple[LedgerRow, ...]  # they had been claimed before, and may still be handed over; or had another end
    claimed_up_to: int  # all occurrences with this number or a lower one had been claimed or had ended before


@frozen(kw_only=True)
class MayStillRun:
    """An attempt from before they were redriven may still be under way. The call is to be repeated.

    The cursor is as it says; only these schedules are not settled.
    """

    cursor: Cursor
    schedules: tuple[str, ...]
    wait: Millis  # from now on; then no such attempt is under way


HaltAnswer = Halted | MayStillRun | SeriesRefuses | NoSeries


@frozen(kw_only=True)
class Halt:
    """One call of the API."""

    series: SeriesOfHalt
    cancel: CancelsSchedules
    retention: Retention
    observer: Observer

    def pause(self, owner: str, series: str, by: str = "") -> HaltAnswer:
        """Until it is resumed. Raises Unavailable: it may or may not be paused, and the call is to be repeated."""
        return self._halt(owner, series, decide_pause, by)

    def delete(self, owner: str, series: str, by: str = "", detail: str = DETAIL) -> HaltAnswer:
        """For good. `detail` is what the ledger says about its occurrences. Raises as `pause`."""
        return self._halt(owner, series, decide_delete, by, detail)

    def delete_by_name(self, owner: str, name: str, by: str = "") -> HaltAnswer:
        """The series that has the name, or had it last. Raises as `pause`."""
        series = self.series.named(owner, name)
        return self.delete(owner, series, by) if series else NoSeries()

    def _halt(self, owner: str, series: str, decide: Decide, by: str, detail: str = DETAIL) -> HaltAnswer:
        for _ in range(ROUNDS):
            current = self.series.cursor(owner, series)
            if current is None:
                return NoSeries()
            decision = decide(current)
            if isinstance(decision, SeriesRefuses):
                return decision
            cursor = decision.cursor if isinstance(decision, Already) else self._written(decision)
            if cursor:
                return self._end_what_it_names(cursor, by, detail)
        raise Unavailable("others change the series all the time; try again")

    def _written(self, change: CursorChange) -> Cursor | None:
        """The cursor as it stands now; None if it was changed meanwhile, and nothing was written."""
        stored = self.series.definition(change.over.owner, change.over.series)
        if stored is None:
            return None
        transaction = self.retention.transaction(change, stored)
        return transaction.cursor if self.series.note(transaction) else None

    def _end_what_it_names(self, cursor: Cursor, by: str, detail: str) -> Halted | MayStillRun:
        """The cursor goes on naming them, so that a repeat finds what this call may die before.

        One that is too old to be fired has had its end, and is in neither list. One that this stack does not know as
        its own cannot be cancelled, and nothing can be promised. Raises Unavailable.
        """
        answers = {one: self.cancel(one, cursor.owner, detail, by) for one in cursor.named}
        running = {one: answer.wait for one, answer in answers.items() if isinstance(answer, MayBeRunning)}
        if running:
            return MayStillRun(cursor=cursor, schedules=tuple(running), wait=max(running.values()))
        unknown = [one for one, answer in answers.items() if isinstance(answer, NotFound)]
        if unknown:
            raise Unavailable(f"the series is {cursor.state}, but {unknown[0]} is of another stack")
        self.observer.note("series halted", series=cursor.series, state=cursor.state, by=by)
        return Halted(
            cursor=cursor,
            cancelled=tuple(one for one, answer in answers.items() if isinstance(answer, Cancelled)),
            claimed=tuple(answer.row for answer in answers.values() if isinstance(answer, TooLate)),
            claimed_up_to=cursor.number - isinstance(answers.get(cursor.current), Cancelled),
        )
