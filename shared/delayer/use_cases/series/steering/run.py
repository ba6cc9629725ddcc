"""Puts occurrences that are due at once: one for now, or those of a backfill, one after the other (ADR 0098)."""

from collections.abc import Callable
from typing import Final, Protocol

from attrs import evolve, frozen

from delayer.core.api.request import FieldError, Invalid
from delayer.core.schedule.instants import Millis
from delayer.core.schedule.schedule import Schedule
from delayer.core.series.backfill import MAX_FILLED, Filled, Range, begun, decide_backfill
from delayer.core.series.command import decide_beside
from delayer.core.series.rules import times_between
from delayer.core.series.series import CursorChange, NoSeries, Refused, Rule, RuleFailed, SeriesDefinition
from delayer.core.series.stepping import ReadAgain
from delayer.ports.clock import Clock
from delayer.ports.ledger import ReadsManyRows
from delayer.ports.observer import Observer
from delayer.ports.registry import RequestRow
from delayer.ports.series import ReadsSeries, StepsSeries
from delayer.ports.unavailable import Unavailable
from delayer.use_cases.api.issue import Ids
from delayer.use_cases.api.quota import Quota
from delayer.use_cases.series.halt import ROUNDS
from delayer.use_cases.series.retention import Retention
from delayer.use_cases.series.steering.once import Began, Call, Once, RunAnswer
from delayer.use_cases.series.steering.stored import Stored, over_beside, read
from delayer.use_cases.series.step import occurrence

Planned = tuple[CursorChange, Schedule, Millis]  # what is written, what is put, and the time that it is of
RUN_NOW: Final = "run-now"
BACKFILL: Final = "backfill"
ALLOWED: Final = f"a range with 1 to {MAX_FILLED:,} times of the rule, which begins with its `from` or its creation"


class SeriesOfRun(ReadsSeries, StepsSeries, Protocol):
    """What it needs of the series."""


@frozen(kw_only=True)
class RunSeries:
    """One call of the API."""

    clock: Clock
    series: SeriesOfRun
    ledger: ReadsManyRows
    once: Once
    ids: Ids
    quota: Quota
    rule_of: Callable[[SeriesDefinition], Rule]
    retention: Retention
    observer: Observer

    def now(self, owner: str, series: str, key: str = "") -> RunAnswer:
        """One occurrence beside the current one, without a number in the rule.

        Raises NotAllowed, OverQuota, Unavailable: it may have been put, and the call is to be repeated.
        """
        call = Call(owner=owner, series=series, command=RUN_NOW, body=b"", key=key)
        return self._once(call, self._beside)

    def backfill(self, owner: str, series: str, asked: Range, body: bytes = b"", key: str = "") -> RunAnswer:
        """The times of the rule in a range of the past. Raises as `now`, and Invalid if they are too many, or none."""
        call = Call(owner=owner, series=series, command=BACKFILL, body=body, key=key)
        return self._once(call, lambda stored: self._filling(stored, asked))

    def _once(self, call: Call, plan: Callable[[Stored], Planned | Refused | None]) -> RunAnswer:
        answer, _ = self.once.earlier(call)
        if answer:
            return answer
        self.quota.spend(call.owner)
        self.quota.make_room(call.owner)
        for _ in range(ROUNDS):
            earlier, row = self.once.earlier(call)
            stored = read(self.series, call.owner, call.series)
            if earlier or isinstance(stored, NoSeries):
                return earlier or NoSeries()
            planned = None if stored.is_torn else plan(stored)
            if isinstance(planned, Refused):
                return planned
            if planned and self._write(call, stored, planned, row):
                return self._began(call, planned)
        raise Unavailable("others change the series all the time; try again")

    def _write(self, call: Call, stored: Stored, planned: Planned, row: RequestRow | None) -> bool:
        change, put, _ = planned
        transaction = self.retention.transaction(change, stored.definition)
        kept = self.once.row(call, _answer(call, planned))
        return self.series.step(evolve(transaction, put=(put,), put_request=kept, over_request=row if kept else None))

    def _beside(self, stored: Stored) -> Planned | Refused:
        cursor, now = stored.cursor, self.clock.now()
        self.quota.permit(cursor.owner, stored.definition.definition)
        put = occurrence(self.ids, stored.definition, cursor.series, 0, now, now)
        change = decide_beside(cursor, put.id, over_beside(self.ledger, cursor, now))
        return change if isinstance(change, Refused) else (change, put, now)

    def _filling(self, stored: Stored, asked: Range) -> Planned | Refused | None:
        cursor, definition, now = stored.cursor, stored.definition, self.clock.now()
        fill = decide_backfill(cursor, definition, self.rule_of(definition), asked)
        match fill:
            case Refused():
                return fill
            case ReadAgain():
                return None
            case Filled():
                raise Invalid([FieldError(field="from", problem="no time of the rule", allowed=ALLOWED)])
        check_number(definition, asked)
        self.quota.permit(cursor.owner, definition.definition)
        put = occurrence(self.ids, definition, cursor.series, 0, fill.at, now)
        return begun(cursor, fill, put.id, asked), put, fill.at

    def _began(self, call: Call, planned: Planned) -> Began:
        began = _answer(call, planned)
        self.observer.count("Accepted")
        self.observer.note("accepted", began.schedule_id, series=call.series, command=call.command)
        return began


def _answer(call: Call, planned: Planned) -> Began:
    _, put, time = planned
    return Began(series=call.series, schedule_id=put.id, time=time)


def check_number(definition: SeriesDefinition, asked: Range) -> None:
    """Raises Invalid for more times than one backfill may have."""
    try:
        number = times_between(definition, asked.since - 1, asked.until - 1)
    except RuleFailed:
        return  # the next step of the series says so
    if number > MAX_FILLED:
        raise Invalid([FieldError(field="until", problem=f"too many: {number:,} times of the rule", allowed=ALLOWED)])
