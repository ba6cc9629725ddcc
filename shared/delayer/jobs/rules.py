"""A job that cancels a group in passes. Each call asks for a pass that begins after it; one pass may answer many calls.

Calls are counted, because instants cannot tell which of two calls in the same millisecond was first (ADR 0051).
"""

import hashlib
from collections.abc import Sequence
from enum import StrEnum

from attrs import evolve, field, frozen

from delayer.schedule.instants import Millis


@frozen(kw_only=True)
class JobRow:
    """How far a job has come, and the counts of its pass. Each change is a compare-and-set on the revision."""

    owner: str
    job_id: str
    group: str
    created_at: Millis  # of the first call
    revision: int = 1
    calls: int = 1  # that asked for this job
    until: Millis = field()  # the instant of the latest call
    covers: int = 1  # calls before the pass under way began: it answers these
    bound: Millis = field()  # this pass leaves alone what joined the group later
    after: str = ""  # the last member that this pass has handled
    cancelled: int = 0
    handed_over: int = 0
    ended: int = 0
    by: str = ""  # the caller who asked for it first
    finished_at: Millis = 0

    @until.default
    def _first_call(self) -> Millis:
        return self.created_at

    @bound.default
    def _of_the_first_pass(self) -> Millis:
        return self.created_at

    @property
    def found(self) -> int:
        """All that this pass has handled."""
        return self.cancelled + self.handed_over + self.ended


class Outcome(StrEnum):
    """A member, a schedule or a series, ends up as one of these."""

    CANCELLED = "cancelled"  # by this job
    HANDED_OVER = "handed over"  # it, or an occurrence of it, may still be handed over
    ENDED = "ended"  # before this job


@frozen(kw_only=True)
class Counted:
    """It counts some members by their outcome."""

    cancelled: int = 0
    handed_over: int = 0
    ended: int = 0


def count(outcomes: Sequence[Outcome]) -> Counted:
    """How many there are of each."""
    return Counted(
        cancelled=outcomes.count(Outcome.CANCELLED),
        handed_over=outcomes.count(Outcome.HANDED_OVER),
        ended=outcomes.count(Outcome.ENDED),
    )


def joined(row: JobRow, now: Millis) -> JobRow:
    """One more call asks for it: it passes through the group again, up to this instant."""
    return evolve(row, revision=row.revision + 1, calls=row.calls + 1, until=max(row.until, now))


def advanced(row: JobRow, counted: Counted, more: str, now: Millis) -> JobRow:
    """After some members; `more` is the last of them if there are others.

    The last page of a pass ends the job, unless a call came after the pass began. Then the next pass counts all anew.
    """
    if not more and row.calls > row.covers:
        return evolve(
            row,
            revision=row.revision + 1,
            covers=row.calls,
            bound=row.until,
            after="",
            cancelled=0,
            handed_over=0,
            ended=0,
        )
    return evolve(
        row,
        revision=row.revision + 1,
        after=more,
        cancelled=row.cancelled + counted.cancelled,
        handed_over=row.handed_over + counted.handed_over,
        ended=row.ended + counted.ended,
        finished_at=0 if more else now,
    )


def is_at_the_same_place(row: JobRow, other: JobRow) -> bool:
    """Whether only calls came in between, so that the same page is to be counted."""
    return (row.covers, row.after, row.finished_at) == (other.covers, other.after, other.finished_at)


def lane_of(owner: str) -> str:
    """The message group of the jobs of one owner, 32 characters: they run one after another."""
    return hashlib.sha256(owner.encode()).hexdigest()[:32]
