"""Looks a series up, by its id or by its name, and says when it will be due."""

from typing import Protocol

from attrs import evolve, frozen

from delayer.core.api.status import next_attempt_at
from delayer.core.flow.waiting import Waiting
from delayer.core.ledger.lifecycle import State
from delayer.core.recurrence.zones import tz_version
from delayer.core.schedule.instants import Millis
from delayer.core.schedule.malformed import Malformed
from delayer.core.schedule.schedule_id import point_in_time_of
from delayer.core.series.retention import OVER
from delayer.core.series.rules import next_times, words_of
from delayer.core.series.series import Cursor, NoSeries, RuleFailed, SeriesDefinition, SeriesState
from delayer.core.series.stepping import passed_by
from delayer.ports.clock import Clock
from delayer.ports.ledger import ReadsManyRows
from delayer.ports.series import ReadsSeries, ReadsSeriesNames
from delayer.use_cases.flow.waits import Waits

HAS_A_NEXT = frozenset({SeriesState.ACTIVE, SeriesState.WAITING})


class SeriesOfRead(ReadsSeries, ReadsSeriesNames, Protocol):
    """What it needs of the series."""


@frozen(kw_only=True)
class SeriesFound:
    """A series as it stands."""

    cursor: Cursor
    definition: SeriesDefinition
    next_at: Millis  # 0: it has no next time, or is paused
    words: str  # its rule in English
    tz_version: str
    waiting: Waiting | None = None  # what keeps back its current occurrence, if that was asked for


@frozen(kw_only=True)
class Times:
    """The next times of a rule."""

    times: tuple[Millis, ...]
    words: str
    tz_version: str


@frozen(kw_only=True)
class ReadSeries:
    """One call of the API."""

    clock: Clock
    series: SeriesOfRead
    ledger: ReadsManyRows
    waits: Waits

    def by_id(self, series: str, owner: str) -> SeriesFound | NoSeries:
        """With what its current occurrence waits for. Raises Unavailable if AWS failed."""
        answer = self._found(series, owner)
        return answer if isinstance(answer, NoSeries) else evolve(answer, waiting=self._waiting(answer, owner))

    def _found(self, series: str, owner: str) -> SeriesFound | NoSeries:
        cursor = self.series.cursor(owner, series)
        definition = self.series.definition(owner, series) if cursor else None
        return found(cursor, definition, self.clock.now()) if cursor and definition else NoSeries()

    def _waiting(self, answer: SeriesFound, owner: str) -> Waiting | None:
        """Of an occurrence that is on time nothing is read; of one that nothing keeps back, its row is not."""
        current, now = answer.cursor.current, self.clock.now()
        if not current or point_in_time_of(current) >= now:
            return None
        definition = answer.definition.definition
        if self.waits(owner, definition) is None:
            return None
        row = self.ledger.read_all([current]).get(current)
        if row is None or row.state is State.SCHEDULED:
            return self.waits(owner, definition)
        due = next_attempt_at(row, now)
        return self.waits(owner, definition, due) if due else None

    def by_name(self, name: str, owner: str) -> SeriesFound | NoSeries:
        """The series that has the name, or had it last. Raises Unavailable if AWS failed."""
        holder = self.series.named(owner, name)
        return self.by_id(holder, owner) if holder else NoSeries()

    def times(self, series: str, owner: str, count: int) -> Times | NoSeries:
        """The next so many, from now on; none of a series that is over. Raises Unavailable if AWS failed."""
        answer = self._found(series, owner)
        if isinstance(answer, NoSeries):
            return answer
        is_over = answer.cursor.state in OVER
        times = () if is_over else _times(answer.cursor, answer.definition, self.clock.now(), count)
        return Times(times=times, words=answer.words, tz_version=answer.tz_version)


def found(cursor: Cursor, definition: SeriesDefinition, now: Millis) -> SeriesFound:
    """With what follows from both."""
    coming = _times(cursor, definition, now, 1) if cursor.state in HAS_A_NEXT else ()
    return SeriesFound(
        cursor=cursor,
        definition=definition,
        next_at=coming[0] if coming else 0,
        words=words_of(definition),
        tz_version=tz_version(),
    )


def _times(cursor: Cursor, definition: SeriesDefinition, now: Millis, count: int) -> tuple[Millis, ...]:
    """What was left behind is not named again: a time may be claimed a moment early, or be given up by its owner."""
    try:
        return next_times(definition, max(passed_by(definition, cursor.series, now), cursor.passed), count)
    except (RuleFailed, Malformed):
        return ()
