"""Steps a series: puts its next occurrence after something happened to the current one (ADR 0094)."""

from collections.abc import Callable
from typing import Final, Protocol

from attrs import evolve, frozen

from delayer.core.schedule.schedule import Schedule
from delayer.core.schedule.schedule_id import Kind
from delayer.core.series.occurrence import Occurrence, definition_for
from delayer.core.series.series import Rule, SeriesDefinition, SeriesState
from delayer.core.series.stepping import Happened, Ignore, Over, ReadAgain, Step, decide_step, stepped
from delayer.ports.clock import Clock
from delayer.ports.observer import Observer
from delayer.ports.series import FindsSeries, ReadsSeries, WritesSeries
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
            self.observer.warn("a current occurrence without its series", happened.schedule_id, series=series)
            return True
        decision = decide_step(cursor, definition, self.rule_of(definition), happened, self.clock.now())
        match decision:
            case ReadAgain():
                return False
            case Ignore(reason):
                self.observer.note("no step", happened.schedule_id, series=series, reason=reason)
                return True
        put = self._issued(decision, series, definition)
        change = stepped(cursor, decision, put.id if put else "")
        transaction = self.retention.transaction(change, definition)
        if not self.series.write(evolve(transaction, put=(put,) if put else ())):
            return False
        self._report(decision, series, happened)
        return True

    def _issued(self, decision: Step | Over, series: str, definition: SeriesDefinition) -> Schedule | None:
        if isinstance(decision, Over):
            return None
        which = Occurrence(series=series, number=decision.number, time=decision.at)
        put = definition_for(definition.definition, which)
        return self.ids.issue_for(decision.at, put, definition.owner, definition.traits, Kind.OCCURRENCE)

    def _report(self, decision: Step | Over, series: str, happened: Happened) -> None:
        if isinstance(decision, Step):
            self.observer.count("SeriesStepped")
            self.observer.note("stepped", happened.schedule_id, series=series, number=decision.number, at=decision.at)
        elif decision.state is SeriesState.FAILED:
            self.observer.count("SeriesFailed")
            self.observer.warn("its rule failed: the series stops", happened.schedule_id, series=series)
        else:
            self.observer.note("nothing more to put", happened.schedule_id, series=series, state=decision.state)
