"""Creates the series of a name, or gives the live one of that name another definition, as PATCH does (ADR 0099)."""

from collections.abc import Callable
from typing import Protocol

from attrs import evolve, frozen

from delayer.accept.use_cases.once import NO_KEY, ROUNDS, Answered, KnownKey, Once
from delayer.engines.ports import Unavailable
from delayer.history.model import SeriesRefuses
from delayer.series.ports import SeriesTable
from delayer.series.rules.request import SeriesRequest
from delayer.series.rules.series import OVER, MayStillRun, NoSeries, SeriesDefinition
from delayer.series.use_cases.change import ChangeAnswer, SeriesChanged
from delayer.series.use_cases.create import Begin, NoLifecycle, SeriesCreated, SeriesNameTaken


class ChangesSeries(Protocol):
    """The use case ChangeSeries."""

    def __call__(
        self,
        owner: str,
        series: str,
        change: Callable[[SeriesDefinition], SeriesDefinition],
        by: str = "",
        known: KnownKey = NO_KEY,
    ) -> ChangeAnswer:
        """As there."""
        ...


PutAnswer = SeriesCreated | SeriesChanged | SeriesNameTaken | MayStillRun | Answered


@frozen(kw_only=True)
class PutSeries:
    """One call of the API."""

    series: SeriesTable
    begin: Begin
    change_series: ChangesSeries
    once: Once
    has_events: bool  # whether lifecycle events are published

    def __call__(
        self, request: SeriesRequest, owner: str, *, only_new: bool = False, by: str = "", known: KnownKey = NO_KEY
    ) -> PutAnswer | NoLifecycle:
        """Creates it, or changes it unless `only_new`. `by` is the caller, if not the owner.

        `known` is what was known of its idempotency key. Who knows an answer of it does not come here.
        Raises Invalid if its times have just passed, NotAllowed, OverQuota, Unavailable if AWS failed.
        """
        if not self.has_events:
            return NoLifecycle()
        done = (SeriesCreated, SeriesChanged)
        return self.once.settled(known, lambda: self._rounds(request, owner, known, only_new, by), *done)

    def _rounds(self, request: SeriesRequest, owner: str, known: KnownKey, only_new: bool, by: str) -> PutAnswer:
        for again in range(ROUNDS):
            if again and (known := self.once.look(known.call)).answer:
                return known.answer
            holder = self._live(owner, request.name)
            if holder and only_new:
                return SeriesNameTaken(holder)
            if holder:
                answer = self._changed(request, owner, holder, by, known)
            else:
                answer = self._created(request, owner, known)
            if answer:
                return answer
        raise Unavailable("others change the series of this name all the time; try again")

    def _live(self, owner: str, name: str) -> str:
        """The series that has the name and is not over; empty: none."""
        holder = self.series.named(owner, name)
        cursor = self.series.cursor(owner, holder) if holder else None
        return holder if cursor and cursor.state not in OVER else ""

    def _created(self, request: SeriesRequest, owner: str, known: KnownKey) -> PutAnswer | None:
        """None: somebody else was faster."""
        self.begin.make_room(request, owner)
        new = self.begin.with_name(self.begin.transaction(request, owner), request.name)
        if isinstance(new, SeriesNameTaken):
            return None
        at, cursor = self.begin.first_time(new), new.cursor
        row = self.once.row(known, schedule_id=cursor.current, point_in_time=at, series=cursor.series)
        new = evolve(new, put_request=row, over_request=known.over)
        return self.begin.begun(new) if self.series.create(new) else None

    def _changed(self, request: SeriesRequest, owner: str, series: str, by: str, known: KnownKey) -> PutAnswer | None:
        """None: it is over by now."""
        answer = self.change_series(owner, series, request.in_place_of, by, known)
        return None if isinstance(answer, SeriesRefuses | NoSeries) else answer
