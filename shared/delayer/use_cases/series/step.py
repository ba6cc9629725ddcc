"""Steps a series: puts its next occurrence after something happened to the current one (ADR 0094)."""

from collections.abc import Callable
from typing import Final, Protocol

from attrs import evolve, frozen

from delayer.core.schedule.instants import Millis
from delayer.core.schedule.schedule import Schedule
from delayer.core.schedule.schedule_id import Kind
from delayer.core.series.backfill import Fill, Filled, any_stepped, decide_any_step
from delayer.core.series.occurrence import Occurrence, definition_for
from delayer.core.series.retention import OVER
from delayer.core.series.series import Rule, SeriesDefinition, SeriesState
from delayer.core.series.stepping import Happened, Ignore, Over, ReadAgain, Step
from delayer.core.timing.window import within
from delayer.ports.clock import Clock
from delayer.ports.observer import Observer
from delayer.ports.series import FindsSeries, ReadsSeries, SeriesTransaction, WritesSeries
from delayer.ports.unavailable import Unavailable
from delayer.use_cases.api.issue import Ids
from delayer.use_cases.series.retention import Retention

ROUNDS: Final = 10  # the row changes under a step only if its owner changes the series at the same time


class SeriesOfStep(ReadsSeries, FindsSeries, WritesSeries, Protocol):
    """What it needs of the series."""


@frozen(kw_only=True)
class StepSeries:
    """One thing that happened. It is safe to repeat it: only what is the current occurrence now is a reason to step."""

    clock: Clock
    series: SeriesOfStep
    ids: Ids
    rule_of: Callable[[SeriesDefinition], Rule]
    retention: Retention
    observer: Observer

    def __call__(self, happened: Happened) -> None:
        """Raises Unavailable: then it must come again."""
        filed = self.series.filed(happened.schedule_id)
        if filed is None:
            self.observer.note("no step: it is not current", happened.schedule_id, kind=happened.kind)
            return
        for _ in range(ROUNDS):
            if self._is_settled(filed.owner, filed.series, happened):
                return
        raise Unavailable("others change the series all the time")

    def _is_settled(self, owner: str, series: str, happened: Happened) -> bool:
        """False if the series has changed meanwhile: it must be read again."""
        cursor, definition = self.series.cursor(owner, series), self.series.definition(owner, series)
        if cursor is None or definition is None:
            if cursor and cursor.state not in OVER:  # no TTL removes it: it is damage, and must not stay unseen
                raise Unavailable("a series without its definition")
            self.observer.warn("a current occurrence without its series", happened.schedule_id, series=series)
            return True
        decision = decide_any_step(cursor, definition, self.rule_of(definition), happened, self.clock.now())
        match decision:
            case ReadAgain():
                return False
            case Ignore(reason):
                self.observer.note("no step", happened.schedule_id, series=series, reason=reason)
                return True
        put = self._issued(decision, series, definition)
        change = any_stepped(cursor, decision, put.id if put else "")
        transaction = self.retention.transaction(change, definition)
        if not self.series.write(evolve(transaction, put=(put,) if put else ())):
            return False
        self._report(decision, series, happened)
        tell_if_failed(self.observer, transaction, happened.schedule_id)
        return True

    def _issued(
        self, decision: Step | Over | Fill | Filled, series: str, definition: SeriesDefinition
    ) -> Schedule | None:
        if isinstance(decision, Step):
            return occurrence(self.ids, definition, series, decision.number, decision.at, decision.at)
        if isinstance(decision, Fill):
            return occurrence(self.ids, definition, series, 0, decision.at, self.clock.now())
        return None

    def _report(self, decision: Step | Over | Fill | Filled, series: str, happened: Happened) -> None:
        if isinstance(decision, Step):
            self.observer.count("SeriesStepped")
            self.observer.note("stepped", happened.schedule_id, series=series, number=decision.number, at=decision.at)
        elif isinstance(decision, Fill):
            self.observer.note("backfilled", happened.schedule_id, series=series, at=decision.at, left=decision.left)
        elif isinstance(decision, Filled):
            self.observer.note("backfill is over", happened.schedule_id, series=series)
        else:
            self.observer.note("nothing more to put", happened.schedule_id, series=series, state=decision.state)


def tell_if_failed(observer: Observer, written: SeriesTransaction, schedule_id: str = "") -> None:
    """Of each write that stops a series: an alarm rings. One that had failed before has told so."""
    had_failed = written.over is not None and written.over.state is SeriesState.FAILED
    if written.cursor.state is SeriesState.FAILED and not had_failed:
        observer.count("SeriesFailed")
        observer.warn("its rule failed: the series stops", schedule_id, series=written.cursor.series)


def occurrence(
    ids: Ids, definition: SeriesDefinition, series: str, number: int, time: Millis, point_in_time: Millis
) -> Schedule:
    """A new occurrence, not stored yet, due at `point_in_time`. `time` is what the rule says. Raises Unavailable.

    With a window it is due within it, at the same place as all of its series. What has no number, a run-now or a
    backfill, is due at once: it is in no window, and in the precise lane.
    """
    put = definition_for(definition.definition, Occurrence(series=series, number=number, time=time))
    if not number:
        return ids.issue_for(
            point_in_time, evolve(put, window=""), definition.owner, definition.traits, Kind.OCCURRENCE
        )
    due, put = within(put, point_in_time, series.encode())
    return ids.issue_for(due, put, definition.owner, definition.traits, definition.kind)
