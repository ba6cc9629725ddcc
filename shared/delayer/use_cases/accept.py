"""Accepts a schedule: checks it, gives it an id, stores it. Knows nothing of the delayer period."""

import hashlib
from typing import Final

from attrs import evolve, frozen

from delayer.core.admission import admit
from delayer.core.instants import DAY, Millis
from delayer.core.request import Request
from delayer.core.withdrawing import NameTaken, is_over
from delayer.ports import (
    Clock,
    Exchange,
    Ledger,
    NameRow,
    Observer,
    Registry,
    RequestRow,
    ScheduleTable,
    Unavailable,
)
from delayer.use_cases.issue import Ids
from delayer.use_cases.naming import ROUNDS, with_name
from delayer.use_cases.quota import Quota

KEY_LIFETIME: Final[Millis] = DAY  # how long the same idempotency key brings the same answer (ADR 0049)


@frozen
class Accepted:
    """It is stored: now, or by an earlier call with the same key."""

    schedule_id: str
    point_in_time: Millis


@frozen
class KeyReused:
    """The idempotency key came with another body before."""


Answer = Accepted | NameTaken | KeyReused


@frozen(kw_only=True)
class Accept:
    """One call of the API."""

    clock: Clock
    schedules: ScheduleTable
    ledger: Ledger
    registry: Registry
    ids: Ids
    quota: Quota
    observer: Observer

    def __call__(self, body: bytes, owner: str, key: str = "") -> Answer:
        """Raises NotJson, TooLarge or Invalid for bad input, OverQuota, Unavailable if AWS failed.

        `key` is the idempotency key. It is looked up first: what was accepted stays accepted, though its point in time
        may be over by now.
        """
        digest = hashlib.sha256(body).hexdigest()
        earlier = self.registry.requested(owner, key) if key else None
        if earlier and (answer := self._repeated(earlier, digest)):
            return answer
        request = admit(body, self.clock.now())
        self.quota.make_room(owner)
        self.quota.spend(owner)
        if key or request.name or request.group:
            return self._in_one_transaction(request, owner, key, digest, earlier)
        schedule = self.ids.issue(request, owner)
        self.schedules.put(schedule)
        return self._accepted(Exchange(new=schedule))

    def _repeated(self, earlier: RequestRow, digest: str) -> Answer | None:
        if earlier.expires_at <= self.clock.now():
            return None
        if earlier.digest != digest:
            return KeyReused()
        self.observer.note("accepted before", earlier.schedule_id)
        return Accepted(earlier.schedule_id, earlier.point_in_time)

    def _in_one_transaction(
        self, request: Request, owner: str, key: str, digest: str, earlier: RequestRow | None
    ) -> Answer:
        """The record together with its name, its group and the key: none of them without the others."""
        for again in range(ROUNDS):
            exchange = Exchange(new=self.ids.issue(request, owner))
            if key:
                earlier = self.registry.requested(owner, key) if again else earlier
                if earlier and (answer := self._repeated(earlier, digest)):
                    return answer
                exchange = self._with_key(exchange, key, digest, earlier)
            if request.name:
                bearer = self.registry.named(owner, request.name)
                if bearer and self._is_live(bearer):
                    return NameTaken(bearer.schedule_id)
                exchange = with_name(exchange, request.name, bearer, self.clock.now())
            if self.registry.exchange(exchange):
                return self._accepted(exchange)
        raise Unavailable("others take the same name or key all the time; try again")

    def _is_live(self, bearer: NameRow) -> bool:
        return not is_over(bearer.schedule_id, self.ledger.read(bearer.schedule_id), self.clock.now())

    def _with_key(self, exchange: Exchange, key: str, digest: str, earlier: RequestRow | None) -> Exchange:
        row = RequestRow(
            owner=exchange.new.owner,
            key=key,
            digest=digest,
            schedule_id=exchange.new.id,
            point_in_time=exchange.new.point_in_time,
            expires_at=self.clock.now() + KEY_LIFETIME,
        )
        return evolve(exchange, request=row, request_over=earlier)

    def _accepted(self, exchange: Exchange) -> Accepted:
        new = exchange.new
        self.observer.count("Accepted")
        self.observer.note("accepted", new.id, pointInTime=new.point_in_time, action=new.action_type)
        return Accepted(new.id, new.point_in_time)
