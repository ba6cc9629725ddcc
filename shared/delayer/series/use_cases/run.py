"""Puts occurrences that are due at once: one for now, or those of a backfill, one after the other (ADR 0098)."""

from collections.abc import Callable
from typing import Final

from attrs import evolve, frozen

from delayer.accept.ports import RequestRow
from delayer.accept.rules.request import KeyReused
from delayer.accept.use_cases.issue import Ids
from delayer.accept.use_cases.once import Answered, Call, KnownKey, Once
from delayer.engines.ports import Clock, Observer, Unavailable
from delayer.history.model import SeriesRefuses
from delayer.http.problem import FieldError, Invalid
from delayer.ledger.ports import Ledger
from delayer.owners.quota import Quota
from delayer.schedule.instants import Millis
from delayer.schedule.schedule import Schedule
from delayer.series.ports import SeriesTable
from delayer.series.rules.backfill import MAX_FILLED, Filled, Range, begun, decide_backfill
from delayer.series.rules.command import decide_beside
from delayer.series.rules.rules import times_between
from delayer.series.rules.series import CursorChange, NoSeries, Rule, RuleFailed, SeriesDefinition
from delayer.series.rules.stepping import ReadAgain
from delayer.series.use_cases.halt import ROUNDS
from delayer.series.use_cases.step import occurrence
from delayer.series.use_cases.stored import Retention, Stored, over_beside, read

Planned = tuple[CursorChange, Schedule, Millis]  # what is written, what is put, and the time that it is of
RUN_NOW: Final = "run-now"
BACKFILL: Final = "backfill"
ALLOWED: Final = f"a range with 1 to {MAX_FILLED:,} times of the rule, which begins with its `from` or its creation"


@frozen(kw_only=True)
class Began:
    """An occurrence of the series was put, by this call or by an earlier one with the same key."""

    series: str
    schedule_id: str
    time: Millis  # of the occurrence


RunAnswer = Began | KeyReused | SeriesRefuses | NoSeries


@frozen(kw_only=True)
class RunSeries:
    """One call of the API."""

    clock: Clock
    series: SeriesTable
    ledger: Ledger
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
        call = Call(owner=owner, what=f"{RUN_NOW}\n{series}", body=b"", key=key)
        return self._once(call, series, self._beside)

    def backfill(self, owner: str, series: str, asked: Range, body: bytes = b"", key: str = "") -> RunAnswer:
        """The times of the rule in a range of the past. Raises as `now`, and Invalid if they are too many, or none."""
        call = Call(owner=owner, what=f"{BACKFILL}\n{series}", body=body, key=key)
        return self._once(call, series, lambda stored: self._filling(stored, asked))

    def _once(self, call: Call, series: str, plan: Callable[[Stored], Planned | SeriesRefuses | None]) -> RunAnswer:
        known = self.once.look(call)
        if known.answer:
            return _before(known.answer)
        self.quota.spend(call.owner)
        self.quota.make_room(call.owner)
        answer = self.once.settled(known, lambda: self._run(known, series, plan), Began)
        return _before(answer) if isinstance(answer, RequestRow) else answer

    def _run(
        self, known: KnownKey, series: str, plan: Callable[[Stored], Planned | SeriesRefuses | None]
    ) -> RunAnswer | RequestRow:
        for again in range(ROUNDS):
            known = self.once.look(known.call) if again else known
            stored = read(self.series, known.call.owner, series)
            if known.answer or isinstance(stored, NoSeries):
                return known.answer or NoSeries()
            planned = None if stored.is_torn else plan(stored)
            if isinstance(planned, SeriesRefuses):
                return planned
            if planned and self._write(known, stored, planned):
                return self._began(known.call, series, planned)
        raise Unavailable("others change the series all the time; try again")

    def _write(self, known: KnownKey, stored: Stored, planned: Planned) -> bool:
        change, put, time = planned
        transaction = self.retention.transaction(change, stored.definition)
        kept = self.once.row(known, schedule_id=put.id, point_in_time=time, series=stored.cursor.series)
        return self.series.step(evolve(transaction, put=(put,), put_request=kept, over_request=known.over))

    def _beside(self, stored: Stored) -> Planned | SeriesRefuses:
        cursor, now = stored.cursor, self.clock.now()
        self.quota.permit(cursor.owner, stored.definition.definition)
        put = occurrence(self.ids, stored.definition, cursor.series, 0, now, now)
        change = decide_beside(cursor, put.id, over_beside(self.ledger, cursor, now))
        return change if isinstance(change, SeriesRefuses) else (change, put, now)

    def _filling(self, stored: Stored, asked: Range) -> Planned | SeriesRefuses | None:
        cursor, definition, now = stored.cursor, stored.definition, self.clock.now()
        fill = decide_backfill(cursor, definition, self.rule_of(definition), asked)
        match fill:
            case SeriesRefuses():
                return fill
            case ReadAgain():
                return None
            case Filled():
                raise Invalid([FieldError(field="from", problem="no time of the rule", allowed=ALLOWED)])
        check_number(definition, asked)
        self.quota.permit(cursor.owner, definition.definition)
        put = occurrence(self.ids, definition, cursor.series, 0, fill.at, now)
        return begun(cursor, fill, put.id, asked), put, fill.at

    def _began(self, call: Call, series: str, planned: Planned) -> Began:
        _, put, time = planned
        self.observer.count("Accepted")
        self.observer.note("accepted", put.id, series=series, command=call.what.partition("\n")[0])
        return Began(series=series, schedule_id=put.id, time=time)


def _before(answer: Answered) -> Began | KeyReused:
    if isinstance(answer, KeyReused):
        return answer
    return Began(series=answer.series, schedule_id=answer.schedule_id, time=answer.point_in_time)


def check_number(definition: SeriesDefinition, asked: Range) -> None:
    """Raises Invalid for more times than one backfill may have."""
    try:
        number = times_between(definition, asked.since - 1, asked.until - 1)
    except RuleFailed:
        return  # the next step of the series says so
    if number > MAX_FILLED:
        raise Invalid([FieldError(field="until", problem=f"too many: {number:,} times of the rule", allowed=ALLOWED)])
