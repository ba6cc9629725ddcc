"""How late what arrived was, and whether all of it arrived once and never early. Pure."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from attrs import frozen


@frozen
class Arrival:
    """One request at the receiver."""

    schedule_id: str
    at_ms: int  # epoch milliseconds


@frozen(kw_only=True)
class Lateness:
    """One row of the table. Times in milliseconds, but for the last."""

    name: str
    schedules: int
    p50: int
    p99: int
    worst: int
    early: int  # arrivals before their point in time
    lost: int  # schedules that never arrived
    doubled: int  # arrivals beyond the first of a schedule
    last_seconds: float  # from the first point in time to the last arrival

    @property
    def wrong(self) -> int:
        """What must not happen at all."""
        return self.early + self.lost + self.doubled


class NothingArrived(Exception):
    """There is nothing to take percentiles of."""


def summarise(name: str, due: Mapping[str, int], arrivals: Iterable[Arrival]) -> Lateness:
    """`due` holds the point in time (epoch ms) of each schedule; NothingArrived if not one of them arrived.

    A schedule's first arrival counts for its lateness.
    """
    mine = [arrival for arrival in arrivals if arrival.schedule_id in due]
    if not mine:
        raise NothingArrived(f"Not one of {len(due)} schedules of the run {name!r} reached the receiver.")
    counts = Counter(arrival.schedule_id for arrival in mine)
    first: dict[str, int] = {}
    for arrival in mine:
        first[arrival.schedule_id] = min(arrival.at_ms, first.get(arrival.schedule_id, arrival.at_ms))
    late = sorted(at_ms - due[schedule_id] for schedule_id, at_ms in first.items())
    return Lateness(
        name=name,
        schedules=len(due),
        p50=percentile(late, 50),
        p99=percentile(late, 99),
        worst=late[-1],
        early=sum(arrival.at_ms < due[arrival.schedule_id] for arrival in mine),
        lost=len(due) - len(counts),
        doubled=len(mine) - len(counts),
        last_seconds=(max(arrival.at_ms for arrival in mine) - min(due.values())) / 1000,
    )


def percentile(ascending: Sequence[int], percent: float) -> int:
    """The nearest-rank percentile: the smallest value that this share of all does not exceed."""
    return ascending[max(math.ceil(len(ascending) * percent / 100), 1) - 1]
