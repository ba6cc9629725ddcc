"""What became of the schedules of one scheduler. No input or output here."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping

from attrs import define, field, frozen

from bench.load.arrivals import Arrival
from bench.measure.lateness import Lateness
from bench.peers.contender import CANCELLED, TOO_LATE, Memory

SECOND = 1000


@frozen(kw_only=True)
class Crash:
    """A burst in the middle of which everything that works was killed."""

    schedules: int
    before: int  # arrivals before the kill
    early: int
    lost: int  # that never come
    waiting: int  # that had not come when the measurement ended, but will
    doubled: int  # arrivals beyond the first of a schedule
    last_seconds: float  # from the point in time to the last arrival
    watched_seconds: float  # from the point in time to the end of the measurement


@frozen(kw_only=True)
class Cancels:
    """Cancels in the last second before the point in time."""

    cancelled: int  # so many were answered `cancelled`
    fired_all_the_same: int  # of these
    too_late: int  # so many were answered `too late`
    never_fired: int  # of these
    unanswered: int
    in_time: int  # so many were asked for 50 ms ahead, or earlier
    taken_in_time: int  # of these: answered `cancelled`, and have not fired

    @property
    def untrue(self) -> int:
        """Answers that were not true."""
        return self.fired_all_the_same + self.never_fired


@frozen(kw_only=True)
class Growth:
    """The memory for schedules that wait."""

    waiting: int  # so many were scheduled; fewer than wanted if it took too long
    before: Memory
    after: Memory

    def processes_mb(self, count: int) -> float:
        """The growth of the processes for this many."""
        return (self.after.processes_mb - self.before.processes_mb) * count / self.waiting

    def store_mb(self, count: int) -> float:
        """The growth of the files for this many."""
        return (self.after.store_mb - self.before.store_mb) * count / self.waiting


@define(kw_only=True)
class Outcome:
    """All that was measured of one scheduler. What was not measured stays empty."""

    name: str
    settings: str = ""
    skipped: str = ""  # why it was not measured
    cannot: Mapping[str, str] = field(factory=dict)  # measure -> why it has no such thing
    lateness: list[Lateness] = field(factory=list)
    crash: Crash | None = None
    cancels: Cancels | None = None
    growth: Growth | None = None

    @property
    def is_correct(self) -> bool:
        """Nothing early, lost or doubled but for what a crash repeats; no answer to a cancel untrue."""
        crashed = self.crash.early + self.crash.lost if self.crash else 0
        untrue = self.cancels.untrue if self.cancels else 0
        return not (crashed + untrue + sum(row.wrong for row in self.lateness) or self.skipped)


def missing(due: Mapping[str, int], arrivals: Iterable[Arrival]) -> set[str]:
    """The schedules that have not arrived."""
    return set(due) - {one.schedule_id for one in arrivals}


def crash(due: Mapping[str, int], arrivals: Iterable[Arrival], *, killed_at: int, ended_at: int, waiting: int) -> Crash:
    """The counts. `waiting` of those that are missing are still to come; times are epoch ms."""
    mine = [one for one in arrivals if one.schedule_id in due]
    waiting = min(waiting, len(missing(due, mine)))  # others have come since they were counted
    times = Counter(one.schedule_id for one in mine)
    first = min(due.values())
    return Crash(
        schedules=len(due),
        before=sum(one.at_ms <= killed_at for one in mine),
        early=sum(one.at_ms < due[one.schedule_id] for one in mine),
        lost=len(due) - len(times) - waiting,
        waiting=waiting,
        doubled=len(mine) - len(times),
        last_seconds=(max((one.at_ms for one in mine), default=first) - first) / SECOND,
        watched_seconds=(ended_at - first) / SECOND,
    )


def cancels(answers: Mapping[str, str], arrived: Collection[str], in_time: Collection[str]) -> Cancels:
    """The answer of each cancel, compared with what has arrived. Some were asked for in time."""
    said = Counter(answers.values())
    return Cancels(
        cancelled=said[CANCELLED],
        fired_all_the_same=sum(answer == CANCELLED and one in arrived for one, answer in answers.items()),
        too_late=said[TOO_LATE],
        never_fired=sum(answer == TOO_LATE and one not in arrived for one, answer in answers.items()),
        unanswered=len(answers) - said[CANCELLED] - said[TOO_LATE],
        in_time=len(in_time),
        taken_in_time=sum(answers[one] == CANCELLED and one not in arrived for one in in_time),
    )
