"""Accepts a schedule: checks it, gives it an id, stores it. Knows nothing of the delayer period."""

from collections.abc import Callable

from attrs import Factory, define, field

from delayer.core.admission import admit
from delayer.core.schedule import Schedule
from delayer.ports import Clock, Control, Observer, ScheduleTable
from delayer.use_cases.issue import Ids


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
    _ids: Ids = field(default=Factory(lambda self: self.ids(), takes_self=True), init=False)

    def __call__(self, body: bytes, owner: str) -> Schedule:
        """The stored schedule. Raises NotJson, TooLarge or Invalid for bad input, Unavailable if AWS failed."""
        request = admit(body, self.clock.now())
        schedule = self._ids.issue(request, owner)
        self.schedules.put(schedule)
        self.observer.count("Accepted")
        self.observer.note("accepted", schedule.id, pointInTime=schedule.point_in_time, action=schedule.action_type)
        return schedule

    def ids(self) -> Ids:
        """The ids of its stack."""
        return Ids(
            clock=self.clock,
            control=self.control,
            randomness=self.randomness,
            pick=self.pick,
            shards=self.shards,
        )
