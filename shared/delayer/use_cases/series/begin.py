"""The transaction with which a series begins, for POST and for PUT by name (ADR 0099)."""

from collections.abc import Callable
from typing import Final, Protocol

from attrs import evolve, frozen

from delayer.core.api.problem import FieldError, Invalid
from delayer.core.api.quota import too_many_series
from delayer.core.api.series.request import SeriesRequest
from delayer.core.schedule.instants import Millis
from delayer.core.schedule.schedule import NO_TRAITS
from delayer.core.series.retention import OVER
from delayer.core.series.rules import rule_of
from delayer.core.series.series import Cursor, SeriesState
from delayer.core.series.stepping import Over, step_from, stepped
from delayer.ports.clock import Clock
from delayer.ports.observer import Observer
from delayer.ports.series import CountsSeries, ReadsSeries, ReadsSeriesNames, SeriesTransaction
from delayer.use_cases.api.issue import Ids
from delayer.use_cases.api.quota import Quota
from delayer.use_cases.connections.naming import Naming
from delayer.use_cases.series.step import occurrence
from delayer.use_cases.series.uses import first_uses

WITH_ITS_FIRST: Final = 2  # live ones that a new series adds: itself and its current occurrence


class SeriesOfBegin(ReadsSeries, ReadsSeriesNames, CountsSeries, Protocol):
    """What it needs of the series."""


@frozen(kw_only=True)
class SeriesCreated:
    """It is stored: now, or by an earlier call with the same key."""

    series: str
    name: str
    at: Millis  # its first time
    occurrence: str  # the id of its first occurrence; empty if it waits, as its first time is too far ahead


@frozen
class SeriesNameTaken:
    """A live series has the name."""

    series: str


@frozen
class NoLifecycle:
    """The stack publishes no lifecycle events, by which series are stepped."""


@frozen(kw_only=True)
class Begin:
    """Makes the transaction; somebody else writes it."""

    clock: Clock
    series: SeriesOfBegin
    ids: Ids
    quota: Quota
    naming: Naming
    observer: Observer
    new_id: Callable[[], str]

    def make_room(self, request: SeriesRequest, owner: str) -> None:
        """For one more series and its current occurrence. Raises NotAllowed, OverQuota, or Unavailable if AWS failed.

        The series that are live count as much as schedules do: whoever has as many as are allowed creates no more.
        """
        now = self.clock.now()
        begins = rule_of(request.asked_for(owner, now, NO_TRAITS)).next_after(now)
        self.quota.permit(owner, request.definition, begins or 0)
        limits = self.quota.limits_of(owner)
        counted = max(limits.live, limits.series or 0)
        live = self.series.live(owner, counted) if counted else 0
        if limits.series is not None and live >= limits.series:
            raise too_many_series(limits)
        self.quota.make_room(owner, live + WITH_ITS_FIRST)
        self.quota.spend(owner)

    def transaction(self, request: SeriesRequest, owner: str) -> SeriesTransaction:
        """Of a series under a new id, with its first occurrence.

        Raises Invalid if its times have just passed, or if its connection cannot be named.
        """
        self.naming(owner, request.definition)
        now, series = self.clock.now(), self.new_id()
        definition = request.asked_for(owner, now, self.ids.traits(request.definition))
        uses = first_uses(definition)
        nothing = Cursor(series=series, owner=owner, state=SeriesState.ACTIVE)
        decision = step_from(nothing, rule_of(definition), now, now)
        if isinstance(decision, Over):
            if decision.state is not SeriesState.WAITING:
                raise Invalid([FieldError(field="repeat", problem="its times are over", allowed="a time to come")])
            cursor = stepped(nothing, decision, "").cursor
            return SeriesTransaction(cursor=evolve(cursor, revision=1), over=None, definition=definition, uses=uses)
        put = occurrence(self.ids, definition, series, decision.number, decision.at, decision.at)
        cursor = stepped(nothing, decision, put.id).cursor
        cursor = evolve(cursor, revision=1)
        return SeriesTransaction(cursor=cursor, over=None, put=(put,), definition=definition, uses=uses)

    def with_name(self, transaction: SeriesTransaction, name: str) -> SeriesTransaction | SeriesNameTaken:
        """The new series takes the name from one that is over, if there is one."""
        owner = transaction.cursor.owner
        holder = self.series.named(owner, name)
        cursor = self.series.cursor(owner, holder) if holder else None
        if cursor and cursor.state not in OVER:
            return SeriesNameTaken(holder)
        return evolve(transaction, over_name=holder, unchanged=cursor)

    def first_time(self, transaction: SeriesTransaction) -> Millis:
        """Also of one that waits for it."""
        cursor, definition = transaction.cursor, transaction.definition
        return cursor.at or (definition and rule_of(definition).next_after(self.clock.now())) or 0

    def begun(self, transaction: SeriesTransaction) -> SeriesCreated:
        """What was written."""
        cursor = transaction.cursor
        self.observer.count("Accepted", len(transaction.put))
        self.observer.note("series created", cursor.current, series=cursor.series, state=cursor.state, at=cursor.at)
        return SeriesCreated(
            series=cursor.series,
            name=transaction.definition.name if transaction.definition else "",
            at=self.first_time(transaction),
            occurrence=cursor.current,
        )
