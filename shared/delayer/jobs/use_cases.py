"""Cancels a group in the background: resumable, and exact in its counts (ADR 0051)."""

from collections.abc import Callable, Sequence
from typing import Final

from attrs import field, frozen

from delayer.accept.ports import Registry
from delayer.accept.rules.status import Expired, MayBeRunning, NotFound, TooLate, decide_cancel
from delayer.accept.use_cases.cancel import Cancel, CancelAnswer, Cancelled
from delayer.accept.use_cases.once import ROUNDS
from delayer.engines.ports import Clock, Observer, Outgoing, Parallel, Queue, ReceivedMessage, Unavailable
from delayer.jobs.ports import Jobs
from delayer.jobs.rules import Counted, JobRow, Outcome, advanced, count, is_at_the_same_place, joined, lane_of
from delayer.ledger.model import Already, IllegalTransition, LedgerRow, State
from delayer.ledger.ports import Ledger
from delayer.schedule.instants import STALE_AFTER, Malformed, Millis, UnknownVersion
from delayer.schedule.messages import GroupMessage, decode, encode
from delayer.schedule.schedule_id import FAR, address_of, is_undecided

AT_A_TIME: Final = 50  # members that are counted together
SERIES: Final = "series#"  # before the id of the last series that was handled


@frozen(kw_only=True)
class BeginCancelGroup:
    """One call of the API: joins the job of the group that runs, or starts one, and sends a message for it."""

    clock: Clock
    jobs: Jobs
    group_queue: Queue
    observer: Observer
    new_job_id: Callable[[], str]
    new_token: Callable[[], str]

    def __call__(self, group: str, owner: str, by: str = "") -> JobRow:
        """The job. `by` is the caller, if that is not simply the owner.

        Raises Unavailable if AWS failed: then nothing is promised, though the job may run.
        A message is sent for each call: the call that started the job may have died before its own.
        """
        row = self._join_or_start(group, owner, by or owner)
        if self.group_queue.send([outgoing(row, self.new_token())]):
            raise Unavailable("the job was not sent")
        self.observer.note("group to be cancelled", job=row.job_id, group=group, calls=row.calls, by=by or owner)
        return row

    def _join_or_start(self, group: str, owner: str, by: str) -> JobRow:
        now = self.clock.now()
        for _ in range(ROUNDS):
            latest = self.jobs.latest(owner, group)
            job = self.jobs.read(owner, latest) if latest else None
            if job and not job.finished_at:
                more = joined(job, now)
                if self.jobs.swap(job, more):
                    return more
            else:
                row = JobRow(owner=owner, job_id=self.new_job_id(), group=group, created_at=now, by=by)
                if self.jobs.start(row, latest):
                    return row
        raise Unavailable("others cancel this group all the time; try again")


@frozen(kw_only=True)
class GetJob:
    """One call of the API."""

    jobs: Jobs

    def __call__(self, job_id: str, owner: str) -> JobRow | None:
        """None: there is no such job of this owner. Raises Unavailable if AWS failed."""
        return self.jobs.read(owner, job_id)


@frozen(kw_only=True)
class SeriesOfPage:
    """It has the outcome of some series of a group."""

    outcomes: tuple[Outcome, ...]
    more: str  # the last of them if there are others


@frozen(kw_only=True)
class CancelGroup:
    """Jobs, one message each. The queue lets the jobs of one owner run one after another."""

    clock: Clock
    registry: Registry
    ledger: Ledger
    jobs: Jobs
    cancel: Cancel
    end_series: Callable[[JobRow, str], SeriesOfPage]  # of the group, behind the one that was handled last
    group_queue: Queue
    parallel: Parallel
    observer: Observer
    new_token: Callable[[], str]
    budget: Millis = field(default=30_000)  # what is left after this long goes on behind the owner's other jobs
    at_a_time: int = field(factory=lambda: AT_A_TIME)

    def __call__(self, batch: Sequence[ReceivedMessage]) -> list[str]:
        """Returns the ids of the messages that SQS must deliver again."""
        return [received.message_id for received in batch if not self._go_on(received)]

    def _go_on(self, received: ReceivedMessage) -> bool:
        try:
            message = decode(received.body, GroupMessage)
            job = self.jobs.read(message.owner, message.job)
            until = self.clock.now() + self.budget
            while job and not job.finished_at:
                job = self._page(job)
                if self.clock.now() > until:
                    break
            return not (job and not job.finished_at and self.group_queue.send([outgoing(job, self.new_token())]))
        except Malformed as error:
            self.observer.warn("not a job", reason=error.reason)
            return True
        except (Unavailable, UnknownVersion) as error:
            self.observer.warn("job interrupted", error=str(error))
            return False

    def _page(self, job: JobRow) -> JobRow | None:
        """Some members, counted together with how far it came: schedules first, and series behind the last of them."""
        outcomes, more = ([], "") if job.after.startswith(SERIES) else self._schedules(job)
        if not more:
            page = self.end_series(job, job.after.removeprefix(SERIES) if job.after.startswith(SERIES) else "")
            outcomes, more = [*outcomes, *page.outcomes], SERIES + page.more if page.more else ""
        following = self._store(job, count(outcomes), more)
        if following and following.finished_at:
            self.observer.note("group cancelled", job=job.job_id, found=following.found, cancelled=following.cancelled)
        return following

    def _schedules(self, job: JobRow) -> tuple[list[Outcome], str]:
        """Returns the outcomes of a page of them, and its last one if there are others."""
        since = self.clock.now() - STALE_AFTER
        page = self.registry.members(job.owner, job.group, 0, FAR, job.after, self.at_a_time)
        bound = [member.schedule_id for member in page.members if member.created_at <= job.bound]
        # No margin is counted from the id of what waits for its time. Others as old have expired, or will in a day.
        earlier = [one for one in bound if is_undecided(one) or address_of(one).due >= since]
        rows = self.ledger.read_all(earlier)
        answers = self.parallel.map(lambda member: self._cancel(member, rows.get(member), job), earlier)
        counted = [
            _counted(answer, detail(job))
            for member, answer in zip(earlier, answers, strict=True)
            if not _comes_later(answer, member, page.more)
        ]
        return counted, page.more

    def _store(self, job: JobRow, counted: Counted, more: str) -> JobRow | None:
        """If another delivery was faster, this one goes on from there: it may be the only one that survives.

        If a call joined meanwhile, the page is not done again: whoever calls all the time would stop the job.
        """
        current = job
        for _ in range(ROUNDS):
            following = advanced(current, counted, more, self.clock.now())
            if self.jobs.swap(current, following):
                return following
            found = self.jobs.read(job.owner, job.job_id)
            if found is None or not is_at_the_same_place(found, job):
                return found
            current = found
        raise Unavailable("calls join this job all the time")

    def _cancel(
        self, member: str, row: LedgerRow | None, job: JobRow
    ) -> CancelAnswer | Unavailable | IllegalTransition:
        """Most members of an old group have ended: the row that was read says so, and nothing has to be written.

        An exception in a thread would lose the page while the others are still at work; so it is returned.
        """
        try:
            match decide_cancel(member, job.owner, row, self.clock.now(), detail(job)):
                case Already(current):
                    return Cancelled(current)
                case TooLate(current) if current.decided_as:
                    pass  # its time was decided since the page was read: what took its place may be on no page to come
                case TooLate() | MayBeRunning() | Expired() as answer:
                    return answer
            return self.cancel(member, job.owner, detail(job), job.by)
        except Unavailable as error:
            return error
        except IllegalTransition as error:  # a defect: the members after it must not wait for it
            self.observer.count("Unexpected")
            self.observer.warn("member not cancelled", member, reason=str(error))
            return error


def _comes_later(answer: CancelAnswer | Unavailable | IllegalTransition, member: str, more: str) -> bool:
    """Whether a member was decided since the page was read, and what took its place is counted on a page to come."""
    if not (more and isinstance(answer, Cancelled | TooLate)):
        return False
    return answer.row.schedule_id != member and _place(answer.row.schedule_id) > _place(more)


def _place(schedule_id: str) -> str:
    """By this the members of a group are in order."""
    return address_of(schedule_id).sort_key(schedule_id)


def _counted(answer: CancelAnswer | Unavailable | IllegalTransition, own: str) -> Outcome:
    """A page that is done again finds its own cancels, and counts them as such."""
    match answer:
        case Unavailable():
            raise answer
        case Cancelled(row):
            return Outcome.CANCELLED if row.detail == own else Outcome.ENDED
        case TooLate(row):
            never = row.state in (State.REPLACED, State.DROPPED) and not row.claimed_at
            return Outcome.ENDED if never else Outcome.HANDED_OVER
        case MayBeRunning() | IllegalTransition():
            return Outcome.HANDED_OVER  # it was not cancelled, and may still fire
        case Expired() | NotFound():
            return Outcome.ENDED


def detail(job: JobRow) -> str:
    """The ledger's text about a member."""
    return f"cancelled with its group, job {job.job_id}"


def outgoing(job: JobRow, token: str) -> Outgoing:
    """The message that lets it go on. `token` is another one for each: SQS must not take it for one that it had."""
    body = encode(GroupMessage(owner=job.owner, job=job.job_id))
    return Outgoing(body=body, message_group=lane_of(job.owner), once=token)
