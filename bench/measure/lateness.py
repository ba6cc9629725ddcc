"""How late the requests arrived, and whether each schedule arrived once and never early. No input or output here."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from attrs import frozen

from bench.load.arrivals import Arrival


@frozen(kw_only=True)
class Lateness:
    """One row of the table. All times but the last are in milliseconds."""

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
        """How often something happened that must never happen."""
        return self.early + self.lost + self.doubled


class NothingArrived(Exception):
    """No schedule of a run arrived, so there are no percentiles. The text names the run."""


def summarise(name: str, due: Mapping[str, int], arrivals: Iterable[Arrival]) -> Lateness:
    """The row of a run. `due` holds the point in time (epoch ms) of each schedule.

    A schedule's first arrival counts for its lateness. Errors: NothingArrived.
    """
    mine = [arrival for arrival in arrivals if arrival.schedule_id in due]
    if not mine:
        raise NothingArrived(f"None of the {len(due)} schedules of the run {name!r} reached the receiver.")
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
    """The nearest-rank percentile: the smallest value that is not below this share of all values."""
    return ascending[max(math.ceil(len(ascending) * percent / 100), 1) - 1]
