"""Creates a series, together with its first occurrence, its name, its place in its group, and the key (ADR 0099)."""

import hashlib
from typing import Final

from attrs import evolve, frozen

from delayer.core.api.admission import Actions
from delayer.core.api.request import KeyReused
from delayer.core.api.series.admission import admit_series, name_in
from delayer.core.api.series.request import SeriesRequest
from delayer.ports.clock import Clock
from delayer.ports.observer import Observer
from delayer.ports.registry import ReadsRequests, RequestRow
from delayer.ports.series import CreatesSeries, SeriesTransaction
from delayer.ports.unavailable import Unavailable
from delayer.use_cases.once import KEY_LIFETIME
from delayer.use_cases.series.begin import Begin, NoLifecycle, SeriesCreated, SeriesNameTaken
from delayer.use_cases.transactions import ROUNDS

PREFIX: Final = b"POST /series\n"  # of what the digest is made of: the keys of schedules are in the same list

Answer = SeriesCreated | SeriesNameTaken | KeyReused


@frozen(kw_only=True)
class CreateSeries:
    """One call of the API."""

    clock: Clock
    series: CreatesSeries
    requests: ReadsRequests
    begin: Begin
    actions: Actions
    observer: Observer
    has_events: bool  # whether lifecycle events are published

    def __call__(self, body: bytes, owner: str, key: str = "") -> Answer | NoLifecycle:
        """Raises NotJson, TooLarge or Invalid for bad input, NotAllowed, OverQuota, Unavailable if AWS failed.

        `key` is the idempotency key. It is looked up first, as it is for one schedule.
        """
        if not self.has_events:
            return NoLifecycle()
        digest = hashlib.sha256(PREFIX + body).hexdigest()
        earlier = self.requests.requested(owner, key) if key else None
        if earlier and (answer := self._repeated(earlier, digest, body)):
            return answer
        request = admit_series(body, self.clock.now(), self.actions)
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
            earlier = self.requests.requested(owner, key) if key else None
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
