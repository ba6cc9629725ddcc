"""Jobs: groups that are cancelled in the background (ADR 0051)."""

from typing import Protocol

from attrs import frozen

from delayer.core.schedule.instants import Millis


@frozen(kw_only=True)
class JobRow:
    """The cancelling of a group: how far it has come, and its counts. Each change is a compare-and-set."""

    owner: str
    job_id: str
    group: str
    created_at: Millis
    revision: int = 1
    after: str = ""  # the last member that was handled
    cancelled: int = 0
    handed_over: int = 0
    ended: int = 0
    finished_at: Millis = 0
    by: str = ""  # the caller who asked for it

    @property
    def found(self) -> int:
        """All that were handled."""
        return self.cancelled + self.handed_over + self.ended


class ReadsJobs(Protocol):
    """Part of Jobs."""

    def read(self, owner: str, job_id: str) -> JobRow | None:
        """Strongly consistent."""
        ...


class StartsJobs(Protocol):
    """Part of Jobs."""

    def put(self, row: JobRow) -> None:
        """Stores a new one. A row that exists stays: a request that is repeated late must not start the job again."""
        ...


class AdvancesJobs(Protocol):
    """Part of Jobs."""

    def swap(self, old: JobRow, new: JobRow) -> bool:
        """Writes `new` if the current row has the revision of `old`; a repeat is no conflict."""
        ...


class Jobs(ReadsJobs, StartsJobs, AdvancesJobs, Protocol):
    """All of it."""
