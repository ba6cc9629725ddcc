"""The clock of a fake: nobody sleeps, and it is moved by hand. And what else interrupts a function."""

from delayer.core.schedule.instants import Millis
from delayer.fakes.runtime.clock import ManualClock


class NotYet(BaseException):
    """Whoever would sleep is called again when it is time. Not an Exception: no code of Delayer's may catch it."""

    def __init__(self, until: Millis) -> None:
        super().__init__(until)
        self.until = until


class TargetRaised(BaseException):
    """What a test answers for its targets has raised: it is the test's, and no failed attempt."""

    def __init__(self, error: Exception) -> None:
        super().__init__(repr(error))
        self.error = error


class HandClock(ManualClock):
    """Port Clock. Who would wait for an instant gives way to all that happens before it."""

    def sleep_until(self, instant: Millis) -> None:
        """Raises NotYet."""
        if instant > self.at:
            raise NotYet(instant)

    def jump(self, instant: Millis) -> None:
        """It is never set back."""
        self.at = max(self.at, instant)
