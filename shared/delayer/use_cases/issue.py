"""Issues ids, and tells the genuine ones: what all calls of the API share."""

from collections.abc import Callable

from attrs import define, field

from delayer.core.bucket import address_for
from delayer.core.instants import minute_of
from delayer.core.request import Request
from delayer.core.schedule import Schedule
from delayer.core.schedule_id import KEY_BYTES, RANDOM_BYTES, is_genuine, mint
from delayer.core.sweeping import Shards
from delayer.ports import Clock, Control

CLOCK_MARGIN_MINUTES = 5  # the first writer's clock may be ahead of the next one's


@define(kw_only=True)
class Ids:
    """The ids of one stack. Its secret is read once per execution environment."""

    clock: Clock
    control: Control
    randomness: Callable[[int], bytes]  # n secure random bytes
    pick: Callable[[int], int]  # a number below n
    shards: int  # how many shards this writer spreads over
    _key: bytes | None = field(default=None, init=False)
    _raised: bool = field(default=False, init=False)

    def issue(self, request: Request, owner: str) -> Schedule:
        """A new schedule with an id of its own, not stored yet.

        Before that the control row says that this writer's shards are in use: sweepers look there (ADR 0010).
        """
        if not self._raised:
            since = minute_of(self.clock.now()) - CLOCK_MARGIN_MINUTES
            self.control.raise_shards(Shards(highest=self.shards - 1, since=since))
            self._raised = True
        key, now = self._secret(), self.clock.now()
        address = address_for(request.point_in_time, now, self.pick(self.shards))
        return Schedule(
            id=mint(address, owner, key=key, randomness=self.randomness(RANDOM_BYTES)),
            owner=owner,
            point_in_time=request.point_in_time,
            action_type=request.action_type,
            action=request.action,
            payload=request.payload,
            created_at=now,
            group=request.group,
            on_late=request.on_late,
            tags=request.tags,
        )

    def is_genuine(self, schedule_id: str, owner: str) -> bool:
        """Whether this stack issued it to this owner; nothing is read for it, but the secret once."""
        return is_genuine(schedule_id, owner, key=self._secret())

    def _secret(self) -> bytes:
        if self._key is None:
            self._key = self.control.id_key(self.randomness(KEY_BYTES))
        return self._key
