"""Issues ids, and recognises the genuine ones: what all calls of the API share."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from attrs import define, field

from delayer.core.schedule.bucket import Shards, address_for
from delayer.core.schedule.definition import Definition
from delayer.core.schedule.instants import Millis, minute_of
from delayer.core.schedule.schedule import Schedule
from delayer.core.schedule.schedule_id import KEY_BYTES, RANDOM_BYTES, is_genuine, mint
from delayer.ports.clock import Clock
from delayer.ports.control import HoldsIdKey, RaisesShards

if TYPE_CHECKING:
    from delayer.core.api.request import Request

CLOCK_MARGIN_MINUTES = 5  # the first writer's clock may be ahead of the next one's


@define(kw_only=True)
class IdCheck:
    """Recognises the genuine ids of one stack. Its secret is read once per execution environment."""

    control: HoldsIdKey
    randomness: Callable[[int], bytes]  # n secure random bytes
    _key: bytes | None = field(default=None, init=False)

    def is_genuine(self, schedule_id: str, owner: str) -> bool:
        """Whether this stack issued it to this owner. Nothing is read for it, except the secret once."""
        return is_genuine(schedule_id, owner, key=self.secret())

    def secret(self) -> bytes:
        """The key behind the codes of the ids."""
        if self._key is None:
            self._key = self.control.id_key(self.randomness(KEY_BYTES))
        return self._key


@define(kw_only=True)
class Ids:
    """Issues the ids of one stack."""

    clock: Clock
    control: RaisesShards
    check: IdCheck
    randomness: Callable[[int], bytes]  # n secure random bytes
    pick: Callable[[int], int]  # a number below n
    shards: int  # how many shards this writer spreads over
    _raised: bool = field(default=False, init=False)

    def issue(self, request: "Request", owner: str) -> Schedule:
        """The schedule that a request asks for."""
        return self.issue_for(request.point_in_time, request.definition, owner)

    def issue_for(self, point_in_time: Millis, definition: Definition, owner: str) -> Schedule:
        """A new schedule with an id of its own, not stored yet.

        Before the first one, this writer's shards are put into the control row, where sweepers read them (ADR 0010).
        """
        if not self._raised:
            since = minute_of(self.clock.now()) - CLOCK_MARGIN_MINUTES
            self.control.raise_shards(Shards(highest=self.shards - 1, since=since))
            self._raised = True
        key, now = self.check.secret(), self.clock.now()
        address = address_for(point_in_time, now, self.pick(self.shards))
        schedule_id = mint(
            address,
            owner,
            point_in_time=point_in_time,
            key=key,
            randomness=self.randomness(RANDOM_BYTES),
        )
        return Schedule(
            id=schedule_id,
            owner=owner,
            point_in_time=point_in_time,
            created_at=now,
            definition=definition,
        )

    def is_genuine(self, schedule_id: str, owner: str) -> bool:
        """As IdCheck."""
        return self.check.is_genuine(schedule_id, owner)
