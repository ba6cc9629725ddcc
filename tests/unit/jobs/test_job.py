"""The passes of a job that cancels a group, in every order in which its parts can happen.

A client fills the group and cancels it, twice. Either one of those at work may die, or a message is delivered twice, so
that two runners are at work. All of it in one millisecond, so that no instant tells what was first.
"""

from collections import deque
from collections.abc import Callable, Iterator
from typing import Final

import pytest
from attrs import evolve, field, frozen

from delayer.jobs import rules
from delayer.jobs.rules import Counted, JobRow, advanced, is_at_the_same_place, joined, lane_of

NOW: Final = 1_000
OWNER = "owner"


@frozen(kw_only=True)
class Caller:
    """One DELETE. `there` is what the group had when it began: that is promised with its answer."""

    at: str = "begin"  # begin, read, send, answered, dead
    there: frozenset[str] = frozenset()
    read: JobRow | None = None
    job: str = ""


@frozen(kw_only=True)
class Runner:
    """One delivery of a message."""

    job: JobRow | None = None
    page: tuple[str, ...] = ()
    more: str = ""
    at: str = "idle"  # idle, read, cancel, store


@frozen(kw_only=True)
class State:
    """Everything there is."""

    members: tuple[str, ...] = ()  # in due order, those that are written
    coming: tuple[str, ...] = ("b", "a")  # those that the client still adds, in this order
    cancelled: frozenset[str] = frozenset()
    rows: tuple[JobRow, ...] = ()
    messages: tuple[str, ...] = ()  # jobs
    callers: tuple[Caller, ...] = (Caller(), Caller())
    runners: tuple[Runner, ...] = (Runner(),)
    crashes: int = 1  # that may still happen
    history: tuple[str, ...] = field(default=(), eq=False)

    def row(self, job_id: str) -> JobRow:
        return next(row for row in self.rows if row.job_id == job_id)

    @property
    def latest(self) -> JobRow | None:
        return self.rows[-1] if self.rows else None

    def put(self, row: JobRow) -> "State":
        return evolve(self, rows=tuple(row if one.job_id == row.job_id else one for one in self.rows))


Step = tuple[str, State]


def steps(state: State) -> Iterator[Step]:
    """What can happen next."""
    if state.coming:
        first, *rest = state.coming
        yield f"{first} joins", evolve(state, members=tuple(sorted((*state.members, first))), coming=tuple(rest))
    for number, caller in enumerate(state.callers):
        for what, following in calls(state, number, caller):
            yield f"caller {number} {what}", following
    for number, runner in enumerate(state.runners):
        if runner.at != "idle" and state.crashes:
            runners = (*state.runners[:number], Runner(), *state.runners[number + 1 :])
            yield f"runner {number} dies", evolve(state, crashes=state.crashes - 1, runners=runners)
        for what, following in runs(state, number, runner):
            yield f"runner {number} {what}", following


def calls(state: State, number: int, caller: Caller) -> Iterator[Step]:
    def now(**changes: object) -> tuple[Caller, ...]:
        changed = evolve(caller, **changes)  # type: ignore[arg-type] # the fields of a caller
        return (*state.callers[:number], changed, *state.callers[number + 1 :])

    if caller.at in ("read", "send") and state.crashes:
        yield "dies", evolve(state, callers=now(at="dead"), crashes=state.crashes - 1)
    match caller.at:
        case "begin":
            there = frozenset(state.members)
            yield "reads", evolve(state, callers=now(at="read", there=there, read=state.latest))
        case "read" if caller.read != state.latest:  # the compare-and-set, or the start, is refused
            yield "reads again", evolve(state, callers=now(read=state.latest))
        case "read" if caller.read and not caller.read.finished_at:
            row = rules.joined(caller.read, NOW)
            yield "joins", evolve(state.put(row), callers=now(at="send", job=row.job_id))
        case "read":
            row = JobRow(owner=OWNER, job_id=f"j{len(state.rows)}", group="g", created_at=NOW)
            yield "starts", evolve(state, rows=(*state.rows, row), callers=now(at="send", job=row.job_id))
        case "send":
            messages = tuple(sorted((*state.messages, caller.job)))
            yield "sends", evolve(state, messages=messages, callers=now(at="answered"))


def runs(state: State, number: int, runner: Runner) -> Iterator[Step]:
    """The steps of CancelGroup, with pages of one. A message is deleted when all is done."""

    def now(given: State, changed: Runner) -> State:
        return evolve(given, runners=(*given.runners[:number], changed, *given.runners[number + 1 :]))

    job = runner.job
    if job is None:
        for job_id in sorted(set(state.messages)):
            yield f"receives {job_id}", now(state, Runner(at="read", job=state.row(job_id)))
        return
    match runner.at:
        case "read" if job.finished_at:
            yield "is done", now(acknowledged(state, job), Runner())
        case "read":
            yield "reads a page", now(state, page_of(state, job))
        case "cancel":
            cancelled = state.cancelled | set(runner.page)
            yield "cancels", now(evolve(state, cancelled=cancelled), evolve(runner, at="store"))
        case "store":
            following = stored(state.row(job.job_id), job, runner)
            yield "stores", now(state.put(following), Runner(at="read", job=following))


def page_of(state: State, job: JobRow) -> Runner:
    rest = [one for one in state.members if one > job.after]
    return Runner(job=job, at="cancel", page=tuple(rest[:1]), more=rest[0] if len(rest) > 1 else "")


def stored(current: JobRow, job: JobRow, runner: Runner) -> JobRow:
    """If another runner was faster, its row."""
    if current != job and not rules.is_at_the_same_place(current, job):
        return current
    return rules.advanced(current, Counted(cancelled=len(runner.page)), runner.more, NOW)


def acknowledged(state: State, job: JobRow) -> State:
    left = list(state.messages)
    if job.job_id in left:  # the twin may have been faster
        left.remove(job.job_id)
    return evolve(state, messages=tuple(left))


def wrong(state: State, is_last: bool) -> str:
    """What a client would complain about; empty if all is well."""
    for caller in state.callers:
        if caller.at == "answered":
            job = state.row(caller.job)
            if job.finished_at and not caller.there <= state.cancelled:
                return "a job is done, and has left out a member that was there when it was asked for"
            if is_last and not job.finished_at:
                return "a job that was answered is never done"
    if sum(not row.finished_at for row in state.rows) > 1:
        return "two jobs of one group run"
    for row in state.rows:
        if row.finished_at and row.cancelled > len(state.members):
            return "a member is counted twice"
    return ""


A_CRASH: Final = State()
TWO_RUNNERS: Final = State(coming=("a",), runners=(Runner(), Runner()), crashes=0)


def search(first: State) -> tuple[str, int]:
    """The first complaint with the shortest way to it, and the number of states."""
    seen, waiting = {first}, deque([first])
    while waiting:
        state = waiting.popleft()
        following = list(steps(state))
        if complaint := wrong(state, is_last=not following):
            return f"{complaint}: {', '.join(state.history)}", len(seen)
        for what, one in following:
            if one not in seen:
                seen.add(one)
                waiting.append(evolve(one, history=(*state.history, what)))
    return "", len(seen)


@pytest.mark.parametrize("first", [A_CRASH, TWO_RUNNERS], ids=["a crash", "two runners"])
def test_what_was_there_is_cancelled_when_the_job_is_done(first: State) -> None:
    complaint, states = search(first)
    assert complaint == ""
    assert states > 10_000


def _finished_by_the_instant(row: JobRow, counted: Counted, more: str, now: int) -> JobRow:
    """A call in the same millisecond as the beginning of the pass is taken for one before it."""
    is_covered = row.until <= row.bound
    return advanced(evolve(row, calls=row.covers) if is_covered else row, counted, more, now)


def _covers_whoever_joined(row: JobRow, counted: Counted, more: str, now: int) -> JobRow:
    """The pass answers calls that came after it began."""
    return advanced(evolve(row, covers=row.calls), counted, more, now)


@pytest.mark.parametrize(
    ("name", "bug", "first", "complaint"),
    [
        ("advanced", _finished_by_the_instant, A_CRASH, "has left out a member"),
        ("advanced", _covers_whoever_joined, A_CRASH, "has left out a member"),
        ("joined", lambda row, now: evolve(row, revision=row.revision + 1), A_CRASH, "has left out a member"),
        ("is_at_the_same_place", lambda row, other: True, TWO_RUNNERS, "counted twice"),
    ],
    ids=["instants", "covers", "not counted", "place"],
)
def test_each_rule_is_missed(
    monkeypatch: pytest.MonkeyPatch, name: str, bug: Callable[..., object], first: State, complaint: str
) -> None:
    monkeypatch.setattr(rules, name, bug)
    found, _ = search(first)
    assert complaint in found


def test_without_a_message_of_its_own_a_call_may_wait_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """The call that started the job died before it sent one."""
    original = calls

    def quiet(state: State, number: int, caller: Caller) -> Iterator[Step]:
        for what, following in original(state, number, caller):
            joins = caller.read and caller.at == "send" and what == "sends"
            yield what, evolve(following, messages=state.messages) if joins else following

    monkeypatch.setitem(globals(), "calls", quiet)
    assert "never done" in search(A_CRASH)[0]


# ------------------------------------------------------------ the rules alone

JOB = JobRow(owner=OWNER, job_id="j", group="g", created_at=NOW)


def test_a_job_begins_with_a_pass_that_answers_its_first_call() -> None:
    assert (JOB.calls, JOB.covers, JOB.until, JOB.bound, JOB.found) == (1, 1, NOW, NOW, 0)
    done = advanced(JOB, Counted(cancelled=2, handed_over=1, ended=3), "", NOW + 5)
    assert (done.found, done.finished_at, done.revision) == (6, NOW + 5, 2)


def test_a_later_call_makes_it_pass_again_up_to_its_own_instant() -> None:
    under_way = advanced(JOB, Counted(cancelled=50), "m50", NOW + 1)
    more = joined(joined(under_way, NOW + 9), NOW + 7)
    assert (more.calls, more.until, more.bound, more.after, more.cancelled) == (3, NOW + 9, NOW, "m50", 50)
    again = advanced(more, Counted(cancelled=10), "", NOW + 10)
    assert (again.covers, again.bound, again.after, again.found, again.finished_at) == (3, NOW + 9, "", 0, 0)
    assert advanced(again, Counted(cancelled=60), "", NOW + 11).finished_at == NOW + 11


def test_the_same_place() -> None:
    assert is_at_the_same_place(joined(JOB, NOW + 9), JOB)
    assert not is_at_the_same_place(advanced(JOB, Counted(), "m", NOW), JOB)
    assert not is_at_the_same_place(advanced(JOB, Counted(), "", NOW), JOB)
    assert not is_at_the_same_place(advanced(joined(JOB, NOW), Counted(), "", NOW), JOB)


def test_each_owner_has_a_lane() -> None:
    """A name that SQS takes, whatever the owner is called."""
    assert lane_of("a") != lane_of("b")
    assert lane_of("\u00e4" * 1024).isalnum()
    assert len(lane_of("a")) == 32
