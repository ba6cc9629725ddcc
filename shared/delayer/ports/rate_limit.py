"""How much an owner creates (ADR 0054)."""

from typing import Protocol

from delayer.core.schedule.instants import Millis


class RateLimit(Protocol):
    """All of it."""

    def spend(self, owner: str, window: str, at_most: int, expires_at: Millis) -> bool:
        """Counts one creation in this window of time. False, and not counted, if the window has `at_most` already."""
        ...
