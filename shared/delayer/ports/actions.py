"""The action types that stacks have registered."""

from collections.abc import Mapping
from typing import Protocol

from delayer.core.actions.registration import Registrations


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
