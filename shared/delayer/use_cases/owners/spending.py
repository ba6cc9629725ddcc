"""How much an owner creates, or has called, in a time (ADR 0054, ADR 0069)."""

from collections import OrderedDict
from threading import Lock
from typing import Final

from attrs import field, frozen

from delayer.core.api.quota import Bucket, Limits, full, too_fast, window_of
from delayer.core.schedule.instants import Millis
from delayer.ports.clock import Clock
from delayer.ports.owner_policies import KnowsOwnerPolicies
from delayer.ports.rate_limit import RateLimit

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
class Spending:
    """For calls that create something, or reach something on behalf of an owner at once. Without limits, it is free."""

    clock: Clock
    limits: Limits  # of the stack
    rate_limit: RateLimit
    policies: KnowsOwnerPolicies
    _buckets: Buckets = field(factory=Buckets, init=False)

    def __call__(self, owner: str) -> None:
        """One creation. Raises OverQuota, or Unavailable if AWS failed."""
        now, limits = self.clock.now(), self.limits_of(owner)
        if limits.creates_per_second:
            self._buckets.take(owner, limits, now)
        window, at_most = window_of(now), limits.creates_per_minute
        if at_most and not self.rate_limit.spend(owner, window.name, at_most, window.expires_at):
            raise too_fast(limits, now)

    def limits_of(self, owner: str) -> Limits:
        """What counts for an owner. Raises Unavailable if AWS failed."""
        return self.limits.of_owner(self.policies.of(owner))
