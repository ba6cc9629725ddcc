"""The commands of functions that every operator has, wherever Delayer runs."""

from functools import cached_property

from delayer_client.operator.bulk import Ask
from delayer_client.operator.dead_letters import DeadLetters
from delayer_client.operator.flow import Flow
from delayer_client.operator.owner_policies import OwnerPolicies


class Operated:
    """A stack, or an engine. On a stack each needs lambda:InvokeFunction on its function."""

    @cached_property
    def dead_letters(self) -> DeadLetters:
        """Commands for schedules that were given up, or have failed. Its function is operator-dead-letters."""
        return DeadLetters(self.function("operator-dead-letters"))

    @cached_property
    def owner_policies(self) -> OwnerPolicies:
        """Commands for what owners may do. Its function is operator-owner-policy."""
        return OwnerPolicies(self.function("operator-owner-policy"))

    @cached_property
    def flow(self) -> Flow:
        """Commands for schedules that wait although they are due. Its function is operator-flow."""
        return Flow(self.function("operator-flow"))

    def function(self, name: str) -> Ask:
        """One that carries out commands, by the name of its folder."""
        raise NotImplementedError
