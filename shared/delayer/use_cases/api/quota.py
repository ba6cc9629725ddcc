"""Keeps each owner within its quotas (ADR 0054)."""

from attrs import frozen

from delayer.core.api.quota import Limits, too_fast, too_many, window_of
from delayer.ports.clock import Clock
from delayer.ports.live_count import ReadsLiveCount
from delayer.ports.observer import Observer
from delayer.ports.rate_limit import RateLimit
from delayer.ports.unavailable import Unavailable


@frozen(kw_only=True)
class Quota:
    """What the calls that create schedules ask. Without limits, nothing is counted and nothing is read."""

    clock: Clock
    limits: Limits
    rate_limit: RateLimit
    live_count: ReadsLiveCount
    observer: Observer

    def spend(self, owner: str) -> None:
        """One creation. Raises OverQuota, or Unavailable if AWS failed."""
        now = self.clock.now()
        window, at_most = window_of(now), self.limits.creates_per_minute
        if at_most and not self.rate_limit.spend(owner, window.name, at_most, window.expires_at):
            raise too_fast(self.limits, now)

    def make_room(self, owner: str) -> None:
        """One more live schedule. Raises OverQuota.

        The count comes from a view. If it cannot be read, nobody is refused.
        """
        if self.limits.live and self._live(owner) >= self.limits.live:
            raise too_many(self.limits)

    def _live(self, owner: str) -> int:
        try:
            return self.live_count.live(owner, self.clock.now())
        except Unavailable as error:
            self.observer.count("Uncounted")
            self.observer.warn("live schedules not counted", error=str(error))
            return 0
