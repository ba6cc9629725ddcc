"""Cancels a group in the background: resumable, and exact in its counts (ADR 0051)."""

from collections.abc import Callable, Sequence
from typing import Final, Protocol

from attrs import evolve, field, frozen

from delayer.core.api.cancellation import Expired, NotFound, TooLate
from delayer.core.ledger.lifecycle import IllegalTransition, State
from delayer.core.schedule.instants import Millis
from delayer.core.schedule.malformed import Malformed, UnknownVersion
from delayer.core.schedule.margins import STALE_AFTER
from delayer.core.schedule.messages import GroupMessage, decode, encode
from delayer.core.schedule.schedule_id import FAR
from delayer.ports.clock import Clock, Parallel
from delayer.ports.jobs import AdvancesJobs, JobRow, ReadsJobs, StartsJobs
from delayer.ports.observer import Observer
from delayer.ports.queue import Outgoing, ReceivedMessage, SendsMessages
from delayer.ports.registry import ReadsMembers
from delayer.ports.unavailable import Unavailable
from delayer.use_cases.api.cancel import Answer, Cancel, Cancelled

AT_A_TIME: Final = 50  # members that are counted together


class JobsOfCancelGroup(ReadsJobs, AdvancesJobs, Protocol):
    """What it needs from the jobs."""


@frozen(kw_only=True)
class BeginCancelGroup:
    """One call of the API: writes the job, and sends it to the queue."""

    clock: Clock
    jobs: StartsJobs
    queue: SendsMessages
    observer: Observer
    new_job: Callable[[], str]

    def __call__(self, group: str, owner: str) -> JobRow:
        """The job. Raises Unavailable if AWS failed: then there is no job, or one whose id nobody knows."""
        row = JobRow(owner=owner, job_id=self.new_job(), group=group, created_at=self.clock.now())
        self.jobs.put(row)
        if self.queue.send([outgoing(row)]):
            raise Unavailable("the job was not sent")
        self.observer.note("group to be cancelled", job=row.job_id, group=group)
        return row


@frozen(kw_only=True)
class GetJob:
    """One call of the API."""

    jobs: ReadsJobs

    def __call__(self, job_id: str, owner: str) -> JobRow | None:
        """None: there is no such job of this owner. Raises Unavailable if AWS failed."""
        return self.jobs.read(owner, job_id)


@frozen(kw_only=True)
class CancelGroup:
    """Jobs, one message each."""

    clock: Clock
    registry: ReadsMembers
    jobs: JobsOfCancelGroup
    cancel: Cancel
    queue: SendsMessages
    parallel: Parallel
    observer: Observer
    budget: Millis = field(default=30_000)  # what is left after this long goes on with the next message

    def __call__(self, batch: Sequence[ReceivedMessage]) -> list[str]:
        """Returns the ids of the messages that SQS must deliver again."""
        return [received.message_id for received in batch if not self._go_on(received)]

    def _go_on(self, received: ReceivedMessage) -> bool:
        try:
            message = decode(received.body, GroupMessage)
            job = self.jobs.read(message.owner, message.job)
            began = self.clock.now()
            while job and not job.finished_at and self.clock.now() <= began + self.budget:
                job = self._page(job)
            return not (job and not job.finished_at and self.queue.send([outgoing(job)]))
        except Malformed as error:
            self.observer.warn("not a job", reason=error.reason)
            return True
        except (Unavailable, UnknownVersion) as error:
            self.observer.warn("job interrupted", error=str(error))
            return False

    def _page(self, job: JobRow) -> JobRow | None:
        """Some members, counted together with how far it came.

        If another message of this job was faster, this one continues from there: it may be the only one that survives.
        """
        since = self.clock.now() - STALE_AFTER
        page = self.registry.members(job.owner, job.group, since, FAR, job.after, AT_A_TIME)
        earlier = [member.schedule_id for member in page.members if member.created_at <= job.created_at]
        answers = self.parallel.map(lambda member: self._cancel(member, job), earlier)
        counts = [_counted(answer, detail(job)) for answer in answers]
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

    def _cancel(self, member: str, job: JobRow) -> Answer | Unavailable | IllegalTransition:
        """An exception in a thread would lose the page while the others are still at work; so it is returned."""
        try:
            return self.cancel(member, job.owner, detail(job))
        except Unavailable as error:
            return error
        except IllegalTransition as error:  # a defect: it must not hold up the members after it
            self.observer.count("Unexpected")
            self.observer.warn("member not cancelled", member, reason=str(error))
            return error


def _counted(answer: Answer | Unavailable | IllegalTransition, own: str) -> str:
    """A page that is done again finds its own cancels, and counts them as such."""
    match answer:
        case Unavailable():
            raise answer
        case Cancelled(row):
            return "cancelled" if row.detail == own else "ended"
        case TooLate(row):
            never = row.state in (State.REPLACED, State.DROPPED) and not row.claimed_at
            return "ended" if never else "handed over"
        case IllegalTransition():
            return "handed over"  # it was not cancelled, and may still fire
        case Expired() | NotFound():
            return "ended"


def detail(job: JobRow) -> str:
    """What the ledger says about a member."""
    return f"cancelled with its group, job {job.job_id}"


def outgoing(job: JobRow) -> Outgoing:
    """The message that lets it go on."""
    return Outgoing(body=encode(GroupMessage(owner=job.owner, job=job.job_id)))
