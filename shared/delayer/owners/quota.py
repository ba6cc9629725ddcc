"""Keeps each owner within its quotas (ADR 0054, ADR 0069), and within its policy (ADR 0107)."""

from collections import OrderedDict
from collections.abc import Mapping
from threading import Lock
from typing import Final

from attrs import field, frozen

from delayer.actions.rules.model import ActionType
from delayer.engines.ports import Clock, Observer, Unavailable
from delayer.history.ports import LiveCount
from delayer.owners.model import Forbidden, NotAllowed, asked_by, decide
from delayer.owners.ports import KnowsOwnerPolicies, RateLimit
from delayer.owners.rules import Quotas, TokenBucket, full, too_fast, too_many, window_of
from delayer.schedule.instants import Millis
from delayer.schedule.schedule import Definition

OWNERS: Final = 1_000  # whose buckets are kept; that of another one begins full


@frozen
class Buckets:
    """The buckets of this execution environment, in its memory. The items of a batch share them, side by side."""

    owners: "OrderedDict[str, TokenBucket]" = field(factory=OrderedDict, init=False)  # who called last comes last
    _lock: Lock = field(factory=Lock, init=False, repr=False, eq=False)

    def take(self, owner: str, limits: Quotas, now: Millis) -> None:
        """One creation. Raises OverQuota."""
        with self._lock:
            bucket = self.owners.get(owner) or TokenBucket(left=full(limits), at=now)
            self.owners[owner] = bucket.take(limits, now)
            self.owners.move_to_end(owner)
            if len(self.owners) > OWNERS:
                self.owners.popitem(last=False)


@frozen(kw_only=True)
class Spending:
    """For calls that create something, or reach something on behalf of an owner at once. Without limits, it is free."""

    clock: Clock
    quotas: Quotas  # of the stack
    rate_limit: RateLimit
    owner_policies: KnowsOwnerPolicies
    _buckets: Buckets = field(factory=Buckets, init=False)

    def __call__(self, owner: str) -> None:
        """One creation. Raises OverQuota, or Unavailable if AWS failed."""
        now, limits = self.clock.now(), self.limits_of(owner)
        if limits.creates_per_second:
            self._buckets.take(owner, limits, now)
        window, at_most = window_of(now), limits.creates_per_minute
        if at_most and not self.rate_limit.spend(owner, window.name, at_most, window.expires_at):
            raise too_fast(limits, now)

    def limits_of(self, owner: str) -> Quotas:
        """The quotas that count for an owner. Raises Unavailable if AWS failed."""
        return self.quotas.of_owner(self.owner_policies.of(owner))


@frozen(kw_only=True)
class Quota:
    """The calls that create schedules ask this. Without limits, nothing is counted and nothing is read of counts."""

    clock: Clock
    spending: Spending
    fail_fast_live_count: LiveCount
    owner_policies: KnowsOwnerPolicies
    actions: Mapping[str, ActionType]  # by type
    observer: Observer

    def permit(self, owner: str, definition: Definition, due: Millis = 0) -> None:
        """Whether the owner may create it. Raises NotAllowed, or Unavailable if AWS failed.

        `due` is 0 if its time is not the owner's choice.
        """
        policy = self.owner_policies.of(owner)
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

    def limits_of(self, owner: str) -> Quotas:
        """The quotas that count for an owner. Raises Unavailable if AWS failed."""
        return self.spending.limits_of(owner)

    def _live(self, owner: str) -> int:
        try:
            return self.fail_fast_live_count.live(owner, self.clock.now())
        except Unavailable as error:
            self.observer.count("Uncounted")
            self.observer.warn("live schedules not counted", error=str(error))
            return 0
