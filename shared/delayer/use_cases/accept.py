"""Accepts a schedule: checks it, gives it an id, stores it. Knows nothing of the delayer period."""

from collections.abc import Callable

from attrs import define, field

from delayer.core.admission import Request, admit
from delayer.core.bucket import address_for
from delayer.core.instants import minute_of
from delayer.core.schedule import Schedule
from delayer.core.schedule_id import KEY_BYTES, RANDOM_BYTES, mint
from delayer.core.sweeping import Shards
from delayer.ports import Clock, Control, Observer, ScheduleTable

CLOCK_MARGIN_MINUTES = 5  # the first writer's clock may be ahead of the next one's


@define(kw_only=True)
class Accept:
    """One call of the API."""

    clock: Clock
    schedules: ScheduleTable
    control: Control
    observer: Observer
    randomness: Callable[[int], bytes]  # n secure random bytes
    pick: Callable[[int], int]  # a number below n
    shards: int  # how many shards this writer spreads over
    _key: bytes | None = field(default=None, init=False)  # read once per execution environment

    def __call__(self, body: bytes, owner: str) -> Schedule:
        """The stored schedule. Raises NotJson, TooLarge or Invalid for bad input, Unavailable if AWS failed."""
        request = admit(body, self.clock.now())
        schedule = self._schedule(request, owner)
        self.schedules.put(schedule)
        self.observer.count("Accepted")
        self.observer.note("accepted", schedule.id, pointInTime=schedule.point_in_time, action=schedule.action_type)
        return schedule

    def _schedule(self, request: Request, owner: str) -> Schedule:
        key = self._ready()
        now = self.clock.now()
        address = address_for(request.point_in_time, now, self.pick(self.shards))
        return Schedule(
            id=mint(address, owner, key=key, randomness=self.randomness(RANDOM_BYTES)),
            owner=owner,
            point_in_time=request.point_in_time,
            action_type=request.action_type,
            action=request.action,
            payload=request.payload,
            created_at=now,
        )

    def _ready(self) -> bytes:
        """The key, after the control row says that this writer's shards are in use: sweepers look there (ADR 0010)."""
        if self._key is None:
            since = minute_of(self.clock.now()) - CLOCK_MARGIN_MINUTES
            self.control.raise_shards(Shards(highest=self.shards - 1, since=since))
            self._key = self.control.id_key(self.randomness(KEY_BYTES))
        return self._key
