"""What the function of a policy receives."""

from typing import Generic, TypeVar

from attrs import frozen

from delayer.core.schedule.instants import SECOND, Millis
from delayer.core.timing.window import spread_over

Fields = TypeVar("Fields")


@frozen(kw_only=True)
class Asked(Generic[Fields]):
    """One schedule that waits for its time."""

    policy: Fields  # what the client asked for
    now: Millis  # in milliseconds since 1970, UTC
    accepted_at: Millis  # when the API accepted it; long ago, if the function was broken since
    schedule_id: str  # the same each time that the question is asked
    owner: str  # whose schedule it is
    payload: str  # JSON, byte for byte as the client sent it; empty if there is none
    key: bytes  # random, and the same each time that the question is asked

    def drawn(self, seconds: float) -> Millis:
        """From 0 up to, but not including, this long: even over all schedules, and always the same for this one."""
        return spread_over(self.key, round(seconds * SECOND))
