"""Jobs in the registry: the lists `job#<owner>#<id>` and `group-job#<owner>#<group>` (ADR 0051)."""

from typing import Any, Final

from attrs import frozen

from delayer.engines.ports import Unavailable
from delayer.engines.store.mapped import NOT_READ, Mapped, as_text, check_version
from delayer.engines.store.model import Is, Item, Put, StoredItem, entry_key, lacks
from delayer.engines.store.store import Store, WriteRefused
from delayer.jobs.rules import JobRow
from delayer.schedule.instants import DAY, SECOND, Millis

VERSION: Final = 1
MAX_ID: Final = 64
LIFETIME: Final[Millis] = 30 * DAY  # of a job, from its beginning
# An earlier version had one call for each job, and none of these.
ADDED_LATER: Final = ("calls", "until", "covers", "bound")
JOB: Final[Mapped[JobRow]] = Mapped(
    JobRow,
    "a job",
    version=VERSION,
    without=("owner", "job_id"),
    kept=(
        "group",
        "created_at",
        "revision",
        "after",
        "cancelled",
        "handed_over",
        "ended",
        "finished_at",
        *ADDED_LATER,
    ),
)


@frozen(kw_only=True)
class StoredJobs:
    """Keeps jobs in the registry."""

    store: Store
    table: str

    def read(self, owner: str, job_id: str) -> JobRow | None:
        if "#" in job_id or len(job_id) > MAX_ID:
            # Made up by a client: it could lead to a job of another owner, or be too long for a key.
            return None
        item = self.store.get(self.table, entry_key(job_list(owner, job_id)))
        return from_item(owner, job_id, item) if item else None

    def latest(self, owner: str, group: str) -> str:
        item = self.store.get(self.table, entry_key(group_job_list(owner, group)))
        return latest_from(item) if item else ""

    def start(self, row: JobRow, over: str) -> bool:
        latest = latest_put(self.table, row)._replace(when=Is("jobId", over) if over else lacks("jobId"))
        try:
            self.store.transact([latest, job_put(self.table, row)])
        except WriteRefused as refused:
            return latest.item in refused.items  # an earlier try went through, and its answer was lost
        return True

    def swap(self, old: JobRow, new: JobRow) -> bool:
        put = job_put(self.table, new)._replace(when=Is("revision", old.revision))
        try:
            self.store.write(put)
        except WriteRefused as refused:
            return refused.item == put.item
        return True


def job_list(owner: str, job_id: str) -> str:
    """The list of one job. No id holds a `#`, so no two owners share a list."""
    return f"job#{owner}#{job_id}"


def group_job_list(owner: str, group: str) -> str:
    """The list of the latest job of a group. No group holds a `#`."""
    return f"group-job#{owner}#{group}"


def latest_put(table: str, row: JobRow) -> Put:
    """The write of the latest job of a group, which is kept for as long as the job."""
    values = {"v": VERSION, "jobId": row.job_id, "expiresAt": _expiry(row)}
    return Put(table, entry_key(group_job_list(row.owner, row.group)), values)


def latest_from(item: StoredItem) -> str:
    """The id of it. A row that this code cannot read says nothing: Unavailable."""
    try:
        check_version(item, VERSION)
        return as_text(item["jobId"])
    except NOT_READ as error:
        raise Unavailable(f"a latest job that cannot be read: {error!r}") from error


def job_put(table: str, row: JobRow) -> Put:
    """The write of a job."""
    return Put(table, entry_key(job_list(row.owner, row.job_id)), to_item(row))


def to_item(row: JobRow) -> Item:
    """A job as it is stored."""
    return {**JOB.item(row), "expiresAt": _expiry(row)}


def from_item(owner: str, job_id: str, item: StoredItem) -> JobRow:
    """The inverse of to_item. A row that this code cannot read says nothing: Unavailable."""
    begun: Any = item.get("createdAt")
    earlier = {"calls": 1, "until": begun, "covers": 1, "bound": begun}
    given = {name: item.get(name) or value for name, value in earlier.items()}
    return JOB.row({**item, **given}, owner=owner, job_id=job_id)


def _expiry(row: JobRow) -> int:
    return (row.created_at + LIFETIME) // SECOND
