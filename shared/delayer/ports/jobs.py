"""Jobs: groups that are cancelled in the background (ADR 0051)."""

from typing import Protocol

from delayer.core.jobs.job import JobRow


class ReadsJobs(Protocol):
    """Part of Jobs."""

    def read(self, owner: str, job_id: str) -> JobRow | None:
        """Strongly consistent."""
        ...


class StartsJobs(Protocol):
    """Part of Jobs."""

    def latest(self, owner: str, group: str) -> str:
        """The id of the job that was started last for a group; strongly consistent. Empty if there is none."""
        ...

    def start(self, row: JobRow, over: str) -> bool:
        """Stores a new job, and its id as the latest of its group, if that is still `over`; a repeat is no conflict."""
        ...


class AdvancesJobs(Protocol):
    """Part of Jobs."""

    def swap(self, old: JobRow, new: JobRow) -> bool:
        """Writes `new` if the current row has the revision of `old`; a repeat is no conflict."""
        ...


class Jobs(ReadsJobs, StartsJobs, AdvancesJobs, Protocol):
    """All of it."""
