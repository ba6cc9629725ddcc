"""The table of what waits for its time (ADR 0096)."""

from typing import Protocol

from attrs import field, frozen

from delayer.schedule.instants import Millis


@frozen(kw_only=True)
class WaitingSchedule:
    """One schedule that waits."""

    schedule_id: str
    when: str  # JSON: what its client asked for; empty if it cannot be read


@frozen(kw_only=True)
class WaitsPage:
    """Of one shard, in the order in which they were accepted."""

    waits: tuple[WaitingSchedule, ...]
    more: str = field(default="")  # where the next page begins after; empty: this was the last


class WaitingTable(Protocol):
    """Finds what waits for its time."""

    def page(self, shard: int, since: Millis, until: Millis, after: str = "", at_most: int = 100) -> WaitsPage:
        """Lists the schedules accepted from `since` on and before `until`. Strongly consistent. Raises Unavailable."""
        ...
