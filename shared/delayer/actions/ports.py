"""The action types of a stack, and the target of an attempt."""

from collections.abc import Mapping
from typing import Protocol

from delayer.actions.rules.model import Result
from delayer.actions.rules.registration import Registrations
from delayer.schedule.messages import ExecutorMessage


class ReadsActions(Protocol):
    """For those that accept, route and mask actions."""

    def actions(self) -> Mapping[str, Registrations]:
        """All registrations, by type; those of an unknown version are left out. Raises Unavailable."""
        ...


class Actions(ReadsActions, Protocol):
    """For the function that registers them."""

    def write(self, kind: str, registrations: Registrations, over: Registrations) -> bool:
        """Writes those of one type in place of `over`; False if they are others by now. Raises Unavailable."""
        ...


class NotAttempted(Exception):
    """No attempt was made, and none can be made now. It is no failure of the target: the message waits."""


class Target(Protocol):
    """One action."""

    def __call__(self, message: ExecutorMessage) -> Result:
        """Makes one attempt. Does not raise for a failure of the target: that is a Retry or Refused.

        Raises NotAttempted.
        """
        ...
