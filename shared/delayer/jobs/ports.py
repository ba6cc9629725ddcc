"""Jobs: groups that are cancelled in the background (ADR 0051)."""

from typing import Protocol

from delayer.jobs.rules import JobRow


class Jobs(Protocol):
    """Keeps the jobs that cancel groups."""

    def read(self, owner: str, job_id: str) -> JobRow | None:
        """Strongly consistent."""
        ...

    def latest(self, owner: str, group: str) -> str:
        """The id of the job that was started last for a group; strongly consistent. Empty if there is none."""
        ...

    def start(self, row: JobRow, over: str) -> bool:
        """Stores a new job, and its id as the latest of its group, if that is still `over`; a repeat is no conflict."""
        ...

    def swap(self, old: JobRow, new: JobRow) -> bool:
        """Writes `new` if the current row has the revision of `old`; a repeat is no conflict."""
        ...
