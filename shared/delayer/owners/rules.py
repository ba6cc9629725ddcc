"""How much one owner may have and create (ADR 0054), and how that is counted."""

from typing import Final

from attrs import evolve, frozen

from delayer.http.problem import Problem
from delayer.owners.model import OwnerPolicy
from delayer.schedule.instants import HOUR, SECOND, Millis, format_minute, minute_of, start_of

BURST_SECONDS: Final = 60  # what an owner has not created in a minute, it may create at once
RECOUNT: Final[Millis] = 60 * SECOND  # when to ask again, if there are too many live schedules


@frozen(kw_only=True)
class Quotas:
    """Of each owner; 0 is no limit."""

    creates_per_second: int = 0  # in one execution environment: it costs nothing, and is not exact (ADR 0069)
    creates_per_minute: int = 0
    live: int = 0
    series: int | None = None  # live ones; None is no limit. Only an owner policy has one

    def of_owner(self, policy: OwnerPolicy) -> "Quotas":
        """The quotas that count for an owner: the numbers of its policy are in the place of the stack's (ADR 0107).

        A number in a minute is exact, so the rougher one in a second is not asked besides. What is live is counted only
        if the stack has a limit, too.
        """
        if not policy.rules and self.series is None:
            return self  # as nearly always
        per_minute, live = policy.at_most("createsPerMinute"), policy.at_most("liveSchedules")
        changed = self if per_minute is None else evolve(self, creates_per_second=0, creates_per_minute=per_minute)
        changed = changed if live is None or not self.live else evolve(changed, live=live)
        return evolve(changed, series=policy.at_most("series"))


class OverQuota(Problem):
    """The owner has used up a quota."""

    status = 429
    kind = "over-quota"
    title = "A quota is used up"

    def __init__(self, detail: str, retry_after: Millis) -> None:
        super().__init__(detail)
        self.retry_after = retry_after

    @property
    def retry_after_seconds(self) -> int:
        """Rounded up."""
        return -(-self.retry_after // SECOND)


@frozen(kw_only=True)
class TokenBucket:
    """The number that one owner may still create at once, in thousandths of a schedule: a token bucket."""

    left: int
    at: Millis

    def take(self, limits: Quotas, now: Millis) -> "TokenBucket":
        """The bucket after one creation. Raises OverQuota."""
        left = min(self.left + max(now - self.at, 0) * limits.creates_per_second, full(limits))
        if left < ONE:
            detail = f"At most {limits.creates_per_second:,} schedules may be created in a second."
            raise OverQuota(detail, -(-(ONE - left) // limits.creates_per_second))
        return TokenBucket(left=left - ONE, at=now)


ONE: Final = 1_000  # thousandths: a limit of n a second is n of them in a millisecond


def full(limits: Quotas) -> int:
    """The content of a full bucket."""
    return limits.creates_per_second * BURST_SECONDS * ONE


@frozen(kw_only=True)
class Window:
    """A minute of the clock, in which creations are counted."""

    name: str
    ends_at: Millis
    expires_at: Millis  # when its count may be forgotten


def window_of(now: Millis) -> Window:
    """The window that is running."""
    minute = minute_of(now)
    end = start_of(minute + 1)
    return Window(name=format_minute(minute), ends_at=end, expires_at=end + HOUR)


def too_fast(limits: Quotas, now: Millis) -> OverQuota:
    """The answer to a creation beyond the rate."""
    per = limits.creates_per_minute
    return OverQuota(f"At most {per:,} schedules may be created in a minute.", window_of(now).ends_at - now)


def too_many(limits: Quotas) -> OverQuota:
    """The answer to a creation beyond the number of live schedules."""
    detail = f"At most {limits.live:,} schedules may be live at a time. Cancel some, or wait until some have ended."
    return OverQuota(detail, RECOUNT)


def too_many_series(limits: Quotas) -> OverQuota:
    """The answer to a series beyond the number of live ones."""
    return OverQuota(f"At most {limits.series or 0:,} series may be live at a time. Cancel some.", RECOUNT)
