"""The clock of a fake: nobody sleeps, and it is moved by hand. And what else interrupts a function."""

from delayer.engines.memory import ManualClock
from delayer.schedule.instants import Millis


class NotYet(BaseException):
    """A call that would sleep is made again when it is time. Not an Exception: no code of Delayer's may catch it."""

    def __init__(self, until: Millis) -> None:
        super().__init__(until)
        self.until = until


class TargetRaised(BaseException):
    """The function by which a test answers for its targets has raised: the error is the test's, and no
    failed attempt.
    """

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
        """Moves the clock forward to an instant; an earlier one changes nothing."""
        self.at = max(self.at, instant)
