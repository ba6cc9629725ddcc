"""What an executor reaches. A new action begins with one of these."""

from typing import Protocol

from delayer.core.actions.results import Result
from delayer.core.schedule.messages import ExecutorMessage


class NotAttempted(Exception):
    """No attempt was made, and none can be made now. It is no failure of the target: the message waits."""


class Target(Protocol):
    """One action."""

    def __call__(self, message: ExecutorMessage) -> Result:
        """Makes one attempt. Does not raise for a failure of the target: that is a Retry or Refused.

        Raises NotAttempted.
        """
        ...
