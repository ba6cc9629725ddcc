"""Keeps each owner within its quotas (ADR 0054, ADR 0069)."""

from collections import OrderedDict
from threading import Lock
from typing import Final

from attrs import field, frozen

from delayer.core.api.quota import Bucket, Limits, full, too_fast, too_many, window_of
from delayer.core.schedule.instants import Millis
from delayer.ports.clock import Clock
from delayer.ports.live_count import ReadsLiveCount
from delayer.ports.observer import Observer
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
    """What the calls that create schedules ask. Without limits, nothing is counted and nothing is read."""

    clock: Clock
    limits: Limits
    rate_limit: RateLimit
    live_count: ReadsLiveCount
    observer: Observer
    _buckets: Buckets = field(factory=Buckets, init=False)

    def spend(self, owner: str) -> None:
        """One creation. Raises OverQuota, or Unavailable if AWS failed."""
        now = self.clock.now()
        if self.limits.creates_per_second:
            self._buckets.take(owner, self.limits, now)
        window, at_most = window_of(now), self.limits.creates_per_minute
        if at_most and not self.rate_limit.spend(owner, window.name, at_most, window.expires_at):
            raise too_fast(self.limits, now)

    def make_room(self, owner: str, more: int = 1) -> None:
        """So many more live schedules. Raises OverQuota.

        The count comes from a view. If it cannot be read, nobody is refused.
        """
        if self.limits.live and self._live(owner) + more > self.limits.live:
            raise too_many(self.limits)

    def _live(self, owner: str) -> int:
        try:
            return self.live_count.live(owner, self.clock.now())
        except Unavailable as error:
            self.observer.count("Uncounted")
            self.observer.warn("live schedules not counted", error=str(error))
            return 0
