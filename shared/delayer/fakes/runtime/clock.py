"""A clock that stands still until it is moved."""

from attrs import define

from delayer.core.schedule.instants import Millis


@define
class ManualClock:
    """Port Clock. Sleeping moves it, so nothing ever waits."""

    at: Millis

    def now(self) -> Millis:
        return self.at

    def sleep_until(self, instant: Millis) -> None:
        self.at = max(self.at, instant)

    def move(self, by: Millis) -> None:
        """Time passes."""
        self.at += by
