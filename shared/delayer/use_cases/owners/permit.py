"""The owner policy, asked again just before an attempt: what was allowed at creation may be forbidden by now."""

from collections.abc import Callable

from attrs import frozen

from delayer.core.actions.action_type import ActionType
from delayer.core.actions.results import Refused
from delayer.core.owners.deciding import Forbidden, asked_by, decide
from delayer.core.schedule.messages import ExecutorMessage
from delayer.ports.owner_policies import KnowsOwnerPolicies
from delayer.ports.target import NotAttempted
from delayer.ports.unavailable import Unavailable


@frozen(kw_only=True)
class Permit:
    """For one executor. `action_of` gives what its class says, by type; None if nothing is known of it."""

    policies: KnowsOwnerPolicies
    action_of: Callable[[str], ActionType | None]

    def __call__(self, message: ExecutorMessage) -> Refused | None:
        """Why the target must not be reached; None: it may. Raises NotAttempted if nobody can tell: it waits."""
        schedule = message.schedule
        try:
            policy = self.policies.of(schedule.owner)
            if not policy.rules:
                return None
            action = self.action_of(schedule.definition.action_type)
        except Unavailable as error:
            raise NotAttempted(f"the owner policy is not known: {error}") from error
        decision = decide(policy, asked_by(schedule.definition, action))
        return Refused(decision.reason, reached=False) if isinstance(decision, Forbidden) else None
