"""Keeps each owner within its quotas (ADR 0054, ADR 0069), and within its policy (ADR 0107)."""

from collections.abc import Mapping

from attrs import frozen

from delayer.core.actions.action_type import ActionType
from delayer.core.api.quota import Limits, too_many
from delayer.core.owners.deciding import Forbidden, NotAllowed, asked_by, decide
from delayer.core.schedule.definition import Definition
from delayer.core.schedule.instants import Millis
from delayer.ports.clock import Clock
from delayer.ports.live_count import ReadsLiveCount
from delayer.ports.observer import Observer
from delayer.ports.owner_policies import KnowsOwnerPolicies
from delayer.ports.unavailable import Unavailable
from delayer.use_cases.owners.spending import Spending


@frozen(kw_only=True)
class Quota:
    """What the calls that create schedules ask. Without limits, nothing is counted and nothing is read of counts."""

    clock: Clock
    spending: Spending
    live_count: ReadsLiveCount
    policies: KnowsOwnerPolicies
    actions: Mapping[str, ActionType]  # by type
    observer: Observer

    def permit(self, owner: str, definition: Definition, due: Millis = 0) -> None:
        """Whether the owner may create it. Raises NotAllowed, or Unavailable if AWS failed.

        `due` is 0 if its time is not the owner's choice.
        """
        policy = self.policies.of(owner)
        if not policy.rules:
            return
        ahead = max(due - self.clock.now(), 0) if due else 0
        decision = decide(policy, asked_by(definition, self.actions.get(definition.action_type), ahead))
        if isinstance(decision, Forbidden):
            raise NotAllowed(decision)

    def spend(self, owner: str) -> None:
        """One creation. Raises OverQuota, or Unavailable if AWS failed."""
        self.spending(owner)

    def make_room(self, owner: str, more: int = 1) -> None:
        """So many more live schedules. Raises OverQuota, or Unavailable if AWS failed.

        The count comes from a view. If it cannot be read, nobody is refused.
        """
        limits = self.limits_of(owner)
        if limits.live and self._live(owner) + more > limits.live:
            raise too_many(limits)

    def limits_of(self, owner: str) -> Limits:
        """What counts for an owner. Raises Unavailable if AWS failed."""
        return self.spending.limits_of(owner)

    def _live(self, owner: str) -> int:
        try:
            return self.live_count.live(owner, self.clock.now())
        except Unavailable as error:
            self.observer.count("Uncounted")
            self.observer.warn("live schedules not counted", error=str(error))
            return 0
