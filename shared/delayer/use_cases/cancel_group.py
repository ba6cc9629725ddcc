"""Cancels a group in the background: resumable, and exact in its counts (ADR 0051)."""

from collections.abc import Callable, Sequence
from typing import Final

import msgspec
from attrs import evolve, field, frozen

from delayer.core.instants import Millis
from delayer.core.ledger import STALE_AFTER
from delayer.core.lifecycle import State
from delayer.core.schedule_id import FAR
from delayer.core.wire import Unreadable
from delayer.core.withdrawing import Expired, NotFound, TooLate
from delayer.ports import (
    Clock,
    Delivery,
    JobRow,
    Jobs,
    Observer,
    Outgoing,
    Parallel,
    Queue,
    Registry,
    Unavailable,
)
from delayer.use_cases.cancel import Answer, Cancel, Cancelled

VERSION: Final = 1
AT_A_TIME: Final = 50  # members that are counted together


class GroupMessage(msgspec.Struct):
    """Which job is to go on."""

    v: int
    owner: str
    job: str


@frozen(kw_only=True)
class BeginCancelGroup:
    """One call of the API: writes the job, and sends it on its way."""

    clock: Clock
    jobs: Jobs
    queue: Queue
    observer: Observer
    new_job: Callable[[], str]

    def __call__(self, group: str, owner: str) -> JobRow:
        """The job. Raises Unavailable if AWS failed: then there is none, or one that nobody knows."""
        row = JobRow(owner=owner, job_id=self.new_job(), group=group, created_at=self.clock.now())
        self.jobs.put(row)
        if self.queue.send([outgoing(row)]):
            raise Unavailable("the job was not sent")
        self.observer.note("group to be cancelled", job=row.job_id, group=group)
        return row


@frozen(kw_only=True)
class LookAtJob:
    """One call of the API."""

    jobs: Jobs

    def __call__(self, job_id: str, owner: str) -> JobRow | None:
        """None: there is no such job of this owner. Raises Unavailable if AWS failed."""
        return self.jobs.read(owner, job_id)


@frozen(kw_only=True)
class CancelGroup:
    """Jobs, one message each."""

    clock: Clock
    registry: Registry
    jobs: Jobs
    cancel: Cancel
    queue: Queue
    parallel: Parallel
    observer: Observer
    budget: Millis = field(default=30_000)  # what is left after this long goes on with the next message

    def __call__(self, deliveries: Sequence[Delivery]) -> list[str]:
        """Returns the ids of the messages that SQS must deliver again."""
        return [delivery.message_id for delivery in deliveries if not self._go_on(delivery)]

    def _go_on(self, delivery: Delivery) -> bool:
        try:
            message = read(delivery.body)
            job = self.jobs.read(message.owner, message.job)
            began = self.clock.now()
            while job and not job.finished_at and self.clock.now() <= began + self.budget:
                job = self._page(job)
            return not (job and not job.finished_at and self.queue.send([outgoing(job)]))
        except Unreadable as error:
            self.observer.warn("not a job", reason=str(error))
            return True
        except Unavailable as error:
            self.observer.warn("job interrupted", error=str(error))
            return False

    def _page(self, job: JobRow) -> JobRow | None:
        """Some members, counted together with how far it came.

        If another delivery of the job was faster, this one goes on from there: it may be the only one to survive.
        """
        since = self.clock.now() - STALE_AFTER
        page = self.registry.members(job.owner, job.group, since, FAR, job.after, AT_A_TIME)
        earlier = [member.schedule_id for member in page.members if member.created_at <= job.created_at]
        told = self.parallel.map(lambda member: self._cancel(member, job), earlier)
        counts = [_counted(answer, detail(job)) for answer in told]
        following = evolve(
            job,
            revision=job.revision + 1,
            after=page.more,
            cancelled=job.cancelled + counts.count("cancelled"),
            handed_over=job.handed_over + counts.count("handed over"),
            ended=job.ended + counts.count("ended"),
            finished_at=0 if page.more else self.clock.now(),
        )
        if not self.jobs.swap(job, following):
            return self.jobs.read(job.owner, job.job_id)
        if following.finished_at:
            self.observer.note("group cancelled", job=job.job_id, found=following.found, cancelled=following.cancelled)
        return following

    def _cancel(self, member: str, job: JobRow) -> Answer | Unavailable:
        """What a thread raises would take the page along, but only after the others."""
        try:
            return self.cancel(member, job.owner, detail(job))
        except Unavailable as error:
            return error


def _counted(answer: Answer | Unavailable, own: str) -> str:
    """A page that is done again finds its own cancels, and counts them as such."""
    match answer:
        case Unavailable():
            raise answer
        case Cancelled(row):
            return "cancelled" if row.detail == own else "ended"
        case TooLate(row):
            never = row.state in (State.REPLACED, State.DROPPED) and not row.claimed_at
            return "ended" if never else "handed over"
        case Expired() | NotFound():
            return "ended"


def detail(job: JobRow) -> str:
    """What the ledger says of a member."""
    return f"cancelled with its group, job {job.job_id}"


def outgoing(job: JobRow) -> Outgoing:
    """The message that lets it go on."""
    return Outgoing(msgspec.json.encode(GroupMessage(v=VERSION, owner=job.owner, job=job.job_id)).decode())


def read(body: str) -> GroupMessage:
    """The inverse of outgoing. Raises Unreadable."""
    try:
        message = msgspec.json.decode(body, type=GroupMessage)
    except msgspec.MsgspecError as error:
        raise Unreadable(f"not a job: {error}") from error
    if message.v != VERSION:
        raise Unreadable(f"a job of version {message.v}; this code reads version {VERSION}")
    return message
