"""The series of a group that is cancelled: each is ended for good, as by its own DELETE (ADR 0051, 0094)."""

from typing import Final

from attrs import frozen

from delayer.core.jobs.job import JobRow, Outcome
from delayer.core.series.occurrence import SeriesRefuses
from delayer.core.series.series import Cursor, NoSeries, SeriesState
from delayer.ports.clock import Parallel
from delayer.ports.ledger import ReadsLedger
from delayer.ports.series import ListsSeries, SeriesEntry
from delayer.ports.unavailable import Unavailable
from delayer.use_cases.api.cancel_group import SeriesOfPage, detail
from delayer.use_cases.series.halt import Halt, Halted, MayStillRun

OVER: Final = frozenset({SeriesState.ENDED, SeriesState.FAILED, SeriesState.CANCELLED})
AT_A_TIME: Final = 10  # each of them costs as much as some schedules


@frozen(kw_only=True)
class EndSeriesOfGroup:
    """A page of them at a time. Those that were created after the call are left alone."""

    series: ListsSeries
    ledger: ReadsLedger
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
