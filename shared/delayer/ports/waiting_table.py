"""The table of what waits for its time (ADR 0096)."""

from typing import Protocol

from attrs import field, frozen

from delayer.core.schedule.instants import Millis


@frozen(kw_only=True)
class Waits:
    """One schedule that waits."""

    schedule_id: str
    when: str  # JSON: what its client asked for; empty if it cannot be read


@frozen(kw_only=True)
class WaitsPage:
    """Of one shard, in the order in which they were accepted."""

    waits: tuple[Waits, ...]
    more: str = field(default="")  # where the next page begins after; empty: this was the last


class FindsWaiting(Protocol):
    """Port WaitingTable."""

    def page(self, shard: int, since: Millis, until: Millis, after: str = "", at_most: int = 100) -> WaitsPage:
        """Those accepted from `since` on and before `until`. Strongly consistent. Raises Unavailable."""
        ...
