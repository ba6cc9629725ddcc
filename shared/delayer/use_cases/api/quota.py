"""Keeps each owner within its quotas (ADR 0054, ADR 0069), and within its policy (ADR 0107)."""

from collections import OrderedDict
from collections.abc import Mapping
from threading import Lock
from typing import Final

from attrs import field, frozen

from delayer.core.actions.action_type import ActionType
from delayer.core.api.quota import Bucket, Limits, full, too_fast, too_many, window_of
from delayer.core.owners.deciding import Forbidden, NotAllowed, asked_by, decide
from delayer.core.schedule.definition import Definition
from delayer.core.schedule.instants import Millis
from delayer.ports.clock import Clock
from delayer.ports.live_count import ReadsLiveCount
from delayer.ports.observer import Observer
from delayer.ports.owner_policies import KnowsOwnerPolicies
from delayer.ports.rate_limit import RateLimit
from delayer.ports.unavailable import Unavailable

OWNERS: Final = 1_000  # whose buckets are kept; that of another one begins full


@frozen
class Buckets:
    """The buckets of this execution environment, in its memory. The items of a batch share them, side by side."""

    owners: "OrderedDict[str, Bucket]" = field(factory=OrderedDict, init=False)  # who called last comes last
    _lock: Lock = field(factory=Lock, init=False, repr=False, eq=False)

    def take(self, owner: str, limits: Limits, now: Millis) -> None:
        """One creation. Raises OverQuota."""
        with self._lock:
            bucket = self.owners.get(owner) or Bucket(left=full(limits), at=now)
            self.owners[owner] = bucket.take(limits, now)
            self.owners.move_to_end(owner)
            if len(self.owners) > OWNERS:
                self.owners.popitem(last=False)


@frozen(kw_only=True)
class Quota:
    """What the calls that create schedules ask. Without limits, nothing is counted and nothing is read of counts."""

    clock: Clock
    limits: Limits  # of the stack
    rate_limit: RateLimit
    live_count: ReadsLiveCount
    policies: KnowsOwnerPolicies
    actions: Mapping[str, ActionType]  # by type
    observer: Observer
    _buckets: Buckets = field(factory=Buckets, init=False)

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
        now, limits = self.clock.now(), self.limits_of(owner)
        if limits.creates_per_second:
            self._buckets.take(owner, limits, now)
        window, at_most = window_of(now), limits.creates_per_minute
        if at_most and not self.rate_limit.spend(owner, window.name, at_most, window.expires_at):
            raise too_fast(limits, now)

    def make_room(self, owner: str, more: int = 1) -> None:
        """So many more live schedules. Raises OverQuota, or Unavailable if AWS failed.

        The count comes from a view. If it cannot be read, nobody is refused.
        """
        limits = self.limits_of(owner)
        if limits.live and self._live(owner) + more > limits.live:
            raise too_many(limits)

    def limits_of(self, owner: str) -> Limits:
        """What counts for an owner. Raises Unavailable if AWS failed."""
        return self.limits.of_owner(self.policies.of(owner))

    def _live(self, owner: str) -> int:
        try:
            return self.live_count.live(owner, self.clock.now())
        except Unavailable as error:
            self.observer.count("Uncounted")
            self.observer.warn("live schedules not counted", error=str(error))
            return 0
