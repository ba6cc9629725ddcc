"""Lists the action types that clients may schedule."""

from collections.abc import Sequence

from attrs import frozen

from delayer.core.actions.registration import Registration
from delayer.use_cases.actions.registered import RegisteredActions


@frozen(kw_only=True)
class ListActions:
    """The use case."""

    actions: RegisteredActions

    def __call__(self) -> Sequence[Registration]:
        """In the order of their names. Raises Unavailable."""
        registered = [self.actions.registration(kind) for kind in sorted(self.actions)]
        return [one for one in registered if not one.action.internal]
