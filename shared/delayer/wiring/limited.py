"""Around a target: an attempt that takes too long is a failed attempt."""

from typing import Final

from attrs import frozen

from delayer.aws.runtime.time_limit import TimeLimit, TookTooLong
from delayer.core.actions.results import Result, Retry
from delayer.core.schedule.messages import ExecutorMessage
from delayer.ports.target import Target

GRACE: Final = 1.0  # second: a target that ends its calls itself, as they all should, does so before


@frozen(kw_only=True)
class Limited:
    """Port Target. Nobody knows what becomes of an attempt that is left behind, so it is made again."""

    target: Target
    seconds: float
    limit: TimeLimit

    def __call__(self, message: ExecutorMessage) -> Result:
        """One attempt."""
        try:
            return self.limit.within(self.seconds + GRACE, lambda: self.target(message))
        except TookTooLong:
            return Retry(detail=f"it took longer than {self.seconds:g} s", is_outage=True)
