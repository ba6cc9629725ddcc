"""The limits of the door say how much a client may ask of it, and these problems answer one that asks for more."""

from typing import Final, Self

from attrs import frozen

from delayer.accept.rules.admission import MAX_BATCH_BYTES
from delayer.http.problem import Problem

MIB: Final = 1_048_576


@frozen(kw_only=True)
class DoorLimits:
    """In bytes, in seconds, and how many at a time."""

    body: int = MAX_BATCH_BYTES  # the largest body that any call of the API may have
    discarded: int = 10 * MIB  # of a body that is too large, read on so that its sender comes to read the answer
    head: int = 65_536  # request line and headers
    head_seconds: float = 10.0
    body_seconds: float = 30.0
    answer_seconds: float = 30.0  # as long as API Gateway waits for a function
    send_seconds: float = 30.0  # for a client that does not read its answer
    idle_seconds: int = 75  # that a connection is kept between two calls
    calls: int = 1_000  # that wait for their answer
    held: int = 64 * MIB  # of all bodies together
    connections: int = 1_000


class TooSlow(Problem):
    """The client has not sent its request in time."""

    status = 408
    kind = "too-slow"
    title = "The request did not come in time"

    @classmethod
    def after(cls, seconds: float, what: str) -> Self:
        """The text says what was waited for."""
        return cls(f"{what} did not come within {seconds:g} seconds.")


class HeadTooLarge(Problem):
    """Request line and headers are over the limit."""

    status = 431
    kind = "headers-too-large"
    title = "The headers are too large"

    @classmethod
    def over(cls, limits: DoorLimits) -> Self:
        """The text says what is allowed."""
        return cls(f"Request line and headers may have {limits.head:,} bytes.")


class NotNow(Problem):
    """The call was not looked at."""

    status = 503
    kind = "not-now"
    title = "The engine takes no calls at this moment"

    def __init__(self, why: str, *, after_seconds: int) -> None:
        super().__init__(f"{why} Nothing was done: make the call again.")
        self._after_seconds = after_seconds

    @property
    def retry_after_seconds(self) -> int:
        """When it may be made again."""
        return self._after_seconds
