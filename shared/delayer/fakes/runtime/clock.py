"""A clock that stands still until it is moved, and where threads meet under it."""

from threading import Condition

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


class ManualMeeting(Condition):
    """Port Meeting. While nobody moves the clock no time passes: to wait for a while is to let the others in, once."""

    def wait(self, timeout: float | None = None) -> bool:
        """Until somebody notifies, if there is no end to it; else at once."""
        return super().wait(None if timeout is None else 0)
