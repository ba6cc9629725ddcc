"""Creates a series, together with its first occurrence, its name, its place in its group, and the key (ADR 0099)."""

import hashlib
from collections.abc import Callable
from typing import Final

from attrs import evolve, frozen

from delayer.accept.ports import Registry, RequestRow
from delayer.accept.rules.admission import Actions, Lanes
from delayer.accept.rules.request import KeyReused
from delayer.accept.use_cases.issue import Ids
from delayer.accept.use_cases.once import KEY_LIFETIME, ROUNDS
from delayer.connections.naming import Naming
from delayer.engines.ports import Clock, Observer, Unavailable
from delayer.http.problem import FieldError, Invalid
from delayer.owners.quota import Quota
from delayer.owners.rules import too_many_series
from delayer.schedule.instants import Millis
from delayer.schedule.schedule import NO_TRAITS
from delayer.series.ports import SeriesTable, SeriesTransaction
from delayer.series.rules.admission import admit_series, name_in
from delayer.series.rules.request import SeriesRequest
from delayer.series.rules.rules import rule_of
from delayer.series.rules.series import OVER, Cursor, SeriesState
from delayer.series.rules.stepping import Over, step_from, stepped
from delayer.series.use_cases.step import occurrence
from delayer.series.use_cases.stored import first_uses

WITH_ITS_FIRST: Final = 2  # live ones that a new series adds: itself and its current occurrence
PREFIX: Final = b"POST /series\n"  # of what the digest is made of: the keys of schedules are in the same list


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
    series: SeriesTable
    ids: Ids
    quota: Quota
    naming: Naming
    observer: Observer
    new_series_id: Callable[[], str]

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
        now, series = self.clock.now(), self.new_series_id()
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
        """The series that was written."""
        cursor = transaction.cursor
        self.observer.count("Accepted", len(transaction.put))
        self.observer.note("series created", cursor.current, series=cursor.series, state=cursor.state, at=cursor.at)
        return SeriesCreated(
            series=cursor.series,
            name=transaction.definition.name if transaction.definition else "",
            at=self.first_time(transaction),
            occurrence=cursor.current,
        )


Answer = SeriesCreated | SeriesNameTaken | KeyReused


@frozen(kw_only=True)
class CreateSeries:
    """One call of the API."""

    clock: Clock
    series: SeriesTable
    registry: Registry
    begin: Begin
    actions: Actions
    lanes: Lanes  # that the stack has
    observer: Observer
    has_events: bool  # whether lifecycle events are published

    def __call__(self, body: bytes, owner: str, key: str = "") -> Answer | NoLifecycle:
        """Raises NotJson, TooLarge or Invalid for bad input, NotAllowed, OverQuota, Unavailable if AWS failed.

        `key` is the idempotency key. It is looked up first, as it is for one schedule.
        """
        if not self.has_events:
            return NoLifecycle()
        digest = hashlib.sha256(PREFIX + body).hexdigest()
        earlier = self.registry.requested(owner, key) if key else None
        if earlier and (answer := self._repeated(earlier, digest, body)):
            return answer
        request = admit_series(body, self.clock.now(), self.actions, self.lanes)
        self.begin.make_room(request, owner)
        return self._stored(request, owner, body, key, digest, earlier)

    def _stored(
        self, request: SeriesRequest, owner: str, body: bytes, key: str, digest: str, earlier: RequestRow | None
    ) -> Answer:
        for _ in range(ROUNDS):
            transaction = self.begin.transaction(request, owner)
            if key:
                transaction = self._with_key(transaction, key, digest, earlier)
            named = self.begin.with_name(transaction, request.name) if request.name else transaction
            if not isinstance(named, SeriesNameTaken) and self.series.create(named):
                return self.begin.begun(named)
            earlier = self.registry.requested(owner, key) if key else None
            if earlier and (answer := self._repeated(earlier, digest, body)):
                return answer  # also if an equal call at the same time is who has the name now (ADR 0126)
            if isinstance(named, SeriesNameTaken):
                return named
        raise Unavailable("others take the same name or key all the time; try again")

    def _repeated(self, earlier: RequestRow, digest: str, body: bytes) -> Answer | None:
        if earlier.expires_at <= self.clock.now():
            return None
        if earlier.digest != digest:
            return KeyReused()
        self.observer.note("series created before", earlier.schedule_id, series=earlier.series)
        return SeriesCreated(
            series=earlier.series, name=name_in(body), at=earlier.point_in_time, occurrence=earlier.schedule_id
        )

    def _with_key(
        self, transaction: SeriesTransaction, key: str, digest: str, earlier: RequestRow | None
    ) -> SeriesTransaction:
        cursor = transaction.cursor
        row = RequestRow(
            owner=cursor.owner,
            key=key,
            digest=digest,
            schedule_id=cursor.current,
            point_in_time=self.begin.first_time(transaction),
            expires_at=self.clock.now() + KEY_LIFETIME,
            series=cursor.series,
        )
        return evolve(transaction, put_request=row, over_request=earlier)
