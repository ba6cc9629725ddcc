"""Pauses a series, or ends it for good: from then on nothing of it is handed over that the answer does not name.

The cursor comes first: it is in the condition of every transaction that puts something. What it named then is cancelled
by the ledger, as any schedule is. Both can be repeated, and a repeat does what a call before may have died before.
"""

from collections.abc import Callable
from typing import Final, Protocol

from attrs import frozen

from delayer.accept.rules.status import MayBeRunning, NotFound, TooLate
from delayer.accept.use_cases.cancel import CancelAnswer, Cancelled
from delayer.engines.ports import Observer, Parallel, Unavailable
from delayer.history.model import SeriesRefuses
from delayer.jobs.rules import JobRow, Outcome
from delayer.jobs.use_cases import SeriesOfPage, detail
from delayer.ledger.model import LedgerRow
from delayer.ledger.ports import Ledger
from delayer.series.ports import SeriesEntry, SeriesTable
from delayer.series.rules.command import AlreadyClosed, decide_delete, decide_pause
from delayer.series.rules.series import Cursor, CursorChange, MayStillRun, NoSeries, SeriesState
from delayer.series.use_cases.stored import Retention

ROUNDS: Final = 10
DETAIL: Final = "its series was paused or cancelled"

Decide = Callable[[Cursor], CursorChange | AlreadyClosed | SeriesRefuses]
OVER: Final = frozenset({SeriesState.ENDED, SeriesState.FAILED, SeriesState.CANCELLED})
AT_A_TIME: Final = 10  # each of them costs as much as some schedules


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


HaltAnswer = Halted | MayStillRun | SeriesRefuses | NoSeries


@frozen(kw_only=True)
class Halt:
    """One call of the API."""

    series: SeriesTable
    cancel_of_series: CancelsSchedules
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
            cursor = decision.cursor if isinstance(decision, AlreadyClosed) else self._written(decision)
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
        answers = {one: self.cancel_of_series(one, cursor.owner, detail, by) for one in cursor.named}
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


@frozen(kw_only=True)
class EndSeriesOfGroup:
    """A page of them at a time. Those that were created after the call are left alone."""

    series: SeriesTable
    ledger: Ledger
    halt: Halt
    parallel: Parallel

    def __call__(self, job: JobRow, after: str) -> SeriesOfPage:
        """`after` is the series that the last page ended with. Raises Unavailable."""
        begin = SeriesEntry(group=job.group, series=after) if after else None
        page = self.series.listed(job.owner, job.group, begin, AT_A_TIME)
        ids = [entry.series for entry in page.entries]
        definitions, cursors = self.series.definitions(job.owner, ids), self.series.cursors(job.owner, ids)
        earlier = [one for one in ids if one in definitions and definitions[one].created_at <= job.bound]
        outcomes = self.parallel.map(lambda one: self._end(job, cursors.get(one), one), earlier)
        return SeriesOfPage(
            outcomes=tuple(_known(outcome) for outcome in outcomes), more=page.more.series if page.more else ""
        )

    def _end(self, job: JobRow, before: Cursor | None, series: str) -> Outcome | Unavailable:
        """An exception in a thread would lose the page while the others are still at work; so it is returned."""
        try:
            answer = self.halt.delete(job.owner, series, job.by, detail(job))
            if before is None or isinstance(answer, SeriesRefuses | NoSeries):
                return Outcome.ENDED
            if isinstance(answer, MayStillRun) or answer.claimed:
                return Outcome.HANDED_OVER
            if before.state in OVER and not self._is_ours(answer, detail(job)):
                return Outcome.ENDED
            return Outcome.CANCELLED
        except Unavailable as error:
            return error

    def _is_ours(self, answer: Halted, own: str) -> bool:
        """A page that is done again finds what it has cancelled itself."""
        rows = [self.ledger.read(one) for one in answer.cancelled]
        return any(row is not None and row.detail == own for row in rows)


def _known(outcome: Outcome | Unavailable) -> Outcome:
    if isinstance(outcome, Unavailable):
        raise outcome
    return outcome
