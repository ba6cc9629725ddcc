"""What the function of an action receives."""

from typing import Final, Generic, TypeVar

from attrs import frozen

from delayer.core.schedule.instants import Millis, format_instant

LONGEST_ATTEMPT: Final = 30.0  # seconds
Fields = TypeVar("Fields")


@frozen(kw_only=True)
class Message(Generic[Fields]):
    """One attempt that is to be made."""

    action: Fields  # what the client asked for
    payload: str  # JSON, byte for byte as the client sent it; empty if there is none
    schedule_id: str  # the same at each attempt: it is the idempotency key
    owner: str  # whose schedule it is
    point_in_time: Millis  # when it was due, in milliseconds since 1970, UTC
    attempt: int  # 1 for the first
    seconds_left: float = LONGEST_ATTEMPT  # the attempt must end within them

    @property
    def due(self) -> str:
        """Its point in time as a text, such as 2026-11-21T09:00:00.250Z."""
        return format_instant(self.point_in_time)
