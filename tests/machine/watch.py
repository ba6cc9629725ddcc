"""Sees each commit of a machine, each answer and each attempt, and says when a promise is broken: at that moment."""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from attrs import define, field, frozen

from delayer.engines.sqlite.store import decode
from delayer.history.model import Occurrence, occurrence_of
from delayer.http.answers import Response
from delayer.ledger.model import LedgerRow, State
from delayer.ledger.repository import from_item as row_from
from delayer.records.repository import from_item as record_from
from delayer.schedule.instants import SECOND, Millis
from delayer.schedule.messages import ExecutorMessage
from delayer.schedule.schedule import Schedule
from delayer.schedule.schedule_id import is_undecided
from delayer.schedule.tables import LEDGER, SCHEDULES, WAITING
from tests.machine.disk import Seen
from tests.machine.promise import Broken, Promise
from tests.simulation.oracle.invariant import ALLOWED
from tests.simulation.system.bodies import body_of

QUEUE: Final = "queue "
OBJECTS: Final = "objects"
EXECUTORS: Final = f"{QUEUE}executor-"
AT_ITS_TARGET: Final[Millis] = 100  # an attempt that has begun may take so long to reach it
STOP_SEEN: Final[Millis] = SECOND  # a row that was read so long before an attempt may not have its stop
FINAL: Final = frozenset({State.EXECUTED, State.CANCELLED, State.REPLACED, State.DROPPED, State.DECIDED})


@frozen
class Report:
    """The world was told something about a schedule."""

    what: str
    id: str
    at: Millis  # true time
    nonce: str = ""
    attempt: int = 0


@frozen
class Reach:
    """A target was asked."""

    id: str
    attempt: int
    fence: str
    key: str
    at: Millis


@define(eq=False, kw_only=True)
class Watch:
    """An all-seeing eye. `now` is the clock of the machine, `since` the true time, which is never set back."""

    now: Callable[[], Millis]
    true_time: Callable[[], Millis]
    is_dirty: Callable[[], bool]
    commits: Callable[[], int]
    report: Callable[[Report], None] = lambda _: None
    is_loading: bool = False  # what was there before
    is_fair: bool = False  # nothing goes wrong in this story
    late: Millis = 2 * SECOND  # more than a first attempt may be late in such a story
    broken: Broken | None = None
    log: list[str] = field(factory=list)
    # what is on the disk
    records: dict[str, Schedule] = field(factory=dict)
    waiting: dict[str, Schedule] = field(factory=dict)  # for a policy to decide
    rows: dict[str, LedgerRow] = field(factory=dict)
    messages: dict[str, set[str]] = field(factory=lambda: defaultdict(set))  # by schedule: in an executor's queue
    delayed: dict[str, set[str]] = field(factory=lambda: defaultdict(set))  # in the delayer queue
    schedules: dict[str, Schedule] = field(factory=dict)  # all that ever were
    objects: set[str] = field(factory=set)  # keys
    rows_heard: list[Callable[[LedgerRow | None, LedgerRow], None]] = field(factory=list)  # told of each new one
    puts_heard: list[Callable[[Schedule], None]] = field(factory=list)  # told of each record that came
    handed: dict[str, set[str]] = field(factory=lambda: defaultdict(set))  # messages of first attempts, by claim
    claimed_at: dict[str, Millis] = field(factory=dict)  # true time of the first claim since the last redrive
    # what was said
    accepted: dict[str, Millis] = field(factory=dict)  # answered 201 or 200, when
    payloads: dict[str, set[str]] = field(factory=lambda: defaultdict(set))  # ids that have a payload
    revoked: set[str] = field(factory=set)
    stopped: dict[str, Millis] = field(factory=dict)
    halted: dict[str, Millis] = field(factory=dict)  # series, since when
    ends: list[State] = field(factory=list)  # in their order
    # attempts
    reaches: list[Reach] = field(factory=list)
    open: dict[str, Reach] = field(factory=dict)  # that were begun, and whose outcome is not on the disk
    tries: Counter[tuple[str, str, int]] = field(factory=Counter)
    allowed: Counter[tuple[str, str, int]] = field(factory=Counter)  # more than the one
    refused_at: Millis = 0  # since then each commit has failed
    _names: dict[str, str] = field(factory=dict)
    _on_disk: dict[str, int] = field(factory=dict)  # fencing tokens of rows, and with which commit they came

    def fail(self, promise: Promise, what: str) -> None:
        """Notes the first."""
        if not self.broken:
            self.broken = Broken(promise, what)
            self.say(f"BROKEN {self.broken}")

    def refused(self) -> None:
        """A commit has failed."""
        self.say("disk: is full")
        self.refused_at = self.refused_at or self.true_time()

    def name(self, schedule_id: str) -> str:
        """A short name for the story."""
        return self._names.setdefault(schedule_id, f"s{len(self._names) + 1}") if schedule_id else "?"

    def say(self, what: str) -> None:
        """A line of the story."""
        self.log.append(f"{self.true_time() / SECOND:10.3f}  {what}")

    # ------------------------------------------------------------ what is on the disk

    def committed(self, rows: Sequence[Seen]) -> None:
        """One transaction."""
        self.refused_at = 0
        before = set(self.records)
        self._objects([one for one in rows if one.place == OBJECTS])
        touched = {self._read(one) for one in rows} - {""}
        if self.is_loading:
            return
        for schedule_id in touched & self.schedules.keys():
            self._check_place(schedule_id)
        for schedule_id in self.records.keys() - before:
            for heard in self.puts_heard:
                heard(self.records[schedule_id])

    def _read(self, one: Seen) -> str:
        """The schedule that it is about; empty if none."""
        if one.place == LEDGER:
            self._row(one.id, row_from(decode(_bytes(one.new))) if one.new is not None else None)
            return one.id
        if one.place in (SCHEDULES, WAITING):
            return self._record(one)
        if one.place.startswith(EXECUTORS) or one.place == f"{QUEUE}delayer":
            return self._message(one)
        return ""

    def _objects(self, rows: Sequence[Seen]) -> None:
        for one in rows:
            if one.new is None:
                self.objects.discard(one.id)
            else:
                self.objects.add(one.id)

    def _row(self, schedule_id: str, new: LedgerRow | None) -> None:
        old = self.rows.get(schedule_id)
        if new is None:
            self.rows.pop(schedule_id, None)
            if old and old.ended:  # it has expired
                self.schedules.pop(schedule_id, None)
            return
        self.rows[schedule_id] = new
        if not self.is_loading:
            self._check_step(old, new)
            self._notes(old, new)

    def _check_step(self, old: LedgerRow | None, new: LedgerRow) -> None:
        name, before = self.name(new.schedule_id), str(old.state) if old else "nothing"
        if before != new.state:
            self.say(f"ledger: {name} is {new.state} ({new.detail or new.attempt})")
            if (before, str(new.state)) not in ALLOWED and not is_undecided(new.schedule_id):
                self.fail(Promise.LEGAL, f"{name} goes from {before} to {new.state}")
        if old and new.revision != old.revision + 1:
            self.fail(Promise.LEGAL, f"{name} has revision {new.revision} after {old.revision}")

    def _notes(self, old: LedgerRow | None, new: LedgerRow) -> None:
        one = new.schedule_id
        for heard in self.rows_heard:
            heard(old, new)
        if new.ended and not (old and old.ended):
            self.ends.append(new.state)
        if new.state is State.SCHEDULED:  # redriven: its attempts begin anew
            self.claimed_at.pop(one, None)
        if new.state is State.CLAIMED and (not old or old.state is not State.CLAIMED):
            self.claimed_at[one] = self.true_time()
        self._on_disk.setdefault(new.fence, self.commits())
        reach = self.open.get(one)
        if reach and (new.state is not State.CLAIMED or new.attempt > reach.attempt):
            del self.open[one]

    def _record(self, one: Seen) -> str:
        found = self.records if one.place == SCHEDULES else self.waiting
        if one.new is None:
            schedule = record_from(decode(_bytes(one.old)))
            assert isinstance(schedule, Schedule)
            found.pop(schedule.id, None)
            return schedule.id
        schedule = record_from(decode(_bytes(one.new)))
        assert isinstance(schedule, Schedule)
        found[schedule.id] = schedule
        self.knows(schedule)
        return schedule.id

    def knows(self, schedule: Schedule) -> None:
        """It exists, whether anybody was told or not."""
        self.schedules.setdefault(schedule.id, schedule)
        self.payloads[schedule.definition.payload].add(schedule.id)

    def _message(self, one: Seen) -> str:
        body = body_of(str(one.new if one.new is not None else one.old))
        queue = self.messages if one.place.startswith(EXECUTORS) else self.delayed
        if one.new is None:
            queue[body.id].discard(one.id)
        else:
            queue[body.id].add(one.id)
        row = self.rows.get(body.id)
        if one.new is not None and queue is self.messages and body.attempt == 1 and not body.outcome:
            first = json.loads(str(one.new))
            if not first.get("notBefore") and row and row.fence == body.fence and not row.retry_of:
                claim = f"{body.id} {first.get('nonce')}"
                self.handed[claim].add(one.id)
                if len(self.handed[claim]) > 1:
                    self.fail(Promise.ONCE, f"{self.name(body.id)} is handed over twice for one claim")
        return body.id

    def _check_place(self, schedule_id: str) -> None:
        """After each commit it is in one place: there is no moment in which a crash could lose it."""
        row, name = self.rows.get(schedule_id), self.name(schedule_id)
        is_stored = schedule_id in self.records or schedule_id in self.waiting
        if row is None or row.state is State.SCHEDULED:
            if not is_stored and not self.delayed[schedule_id]:
                self.fail(Promise.NOTHING_LOST, f"{name} is neither stored nor in a queue, and has not ended")
            return
        if is_stored:
            self.fail(Promise.ONCE, f"the record of {name} is there, although it is {row.state}")
        if row.state is State.CLAIMED and not self.messages[schedule_id]:
            self.fail(Promise.NOTHING_LOST, f"{name} is claimed, and no executor has a message of it")

    # ------------------------------------------------------------ what was said

    def answered(self, response: Response, *, changes: bool) -> None:
        """Somebody hears an answer."""
        if changes and response.status < 300 and self.is_dirty():
            self.fail(Promise.HEARD, f"an answer {response.status} is heard before it is on the disk")

    def has_accepted(self, schedule_id: str, due: Millis | None, payload: str) -> None:
        """A client was told so."""
        self.say(f"client: {self.name(schedule_id)} is accepted")
        self.accepted.setdefault(schedule_id, self.true_time())
        self.report(Report("accepted", schedule_id, self.true_time()))
        schedule = self.schedules.get(schedule_id)
        if schedule is None:
            self.fail(Promise.NOTHING_LOST, f"{self.name(schedule_id)} was accepted, and is not on the disk")
            return
        if schedule.definition.payload != payload and payload:
            self.fail(Promise.AS_ASKED, f"{self.name(schedule_id)} does not have its payload")
        if due is not None and schedule.point_in_time != due:
            self.fail(Promise.AS_ASKED, f"{self.name(schedule_id)} does not have its point in time")

    def one_key(self, payload: str) -> None:
        """All calls with this payload had one key."""
        if len(self.payloads[payload]) > 1:
            self.fail(Promise.ONE_KEY, f"{len(self.payloads[payload])} schedules of one idempotency key")

    def revoke(self, schedule_id: str, how: str) -> None:
        """A client was told that it never fires."""
        self.say(f"client: {self.name(schedule_id)} is {how}")
        self.revoked.add(schedule_id)
        self.report(Report("revoked", schedule_id, self.true_time()))
        row = self.rows.get(schedule_id)
        if row is None or row.state not in (State.CANCELLED, State.REPLACED):
            state = row.state if row else "nothing"
            self.fail(Promise.CANCEL_TRUTH, f"{self.name(schedule_id)} was {how}, and the disk says {state}")

    def too_late(self, schedule_id: str) -> None:
        """A client was told that its claim is taken."""
        row = self.rows.get(schedule_id)
        if row is None or row.state in (State.SCHEDULED, State.CANCELLED):
            state = row.state if row else "nothing"
            self.fail(Promise.CANCEL_TRUTH, f"409 for {self.name(schedule_id)}, and the disk says {state}")

    def stop(self, schedule_id: str) -> None:
        """A client was told that no further attempt begins."""
        self.say(f"client: {self.name(schedule_id)} is stopped")
        self.stopped.setdefault(schedule_id, self.true_time())
        self.report(Report("stopped", schedule_id, self.true_time()))

    # ------------------------------------------------------------ attempts

    def reached(self, message: ExecutorMessage, begun: int) -> None:
        """The target is asked. `begun`: after so many commits its attempt began."""
        schedule = message.schedule
        name, now = self.name(schedule.id), self.now()
        self.say(f"target: reached by attempt {message.attempt} of {name}")
        if now < schedule.point_in_time:
            self.fail(Promise.NEVER_EARLY, f"{name} reaches its target {schedule.point_in_time - now} ms early")
        if schedule.id in self.revoked:
            self.fail(Promise.CANCEL_TRUTH, f"{name} reaches its target after a cancel that was answered 200")
        if self.refused_at and self.true_time() - self.refused_at > AT_ITS_TARGET:
            self.fail(Promise.UNWRITABLE, f"{name} reaches its target although nothing can be written")
        self._check_claim(message, begun)
        self._check_said(schedule)
        self._count(message)
        self._check_asked(schedule)
        if self.is_fair and message.attempt == 1:
            self._check_on_time(schedule)

    def _check_claim(self, message: ExecutorMessage, begun: int) -> None:
        row, name = self.rows.get(message.schedule.id), self.name(message.schedule.id)
        if row is None or row.state is not State.CLAIMED:
            self.fail(Promise.CLAIMED_FIRST, f"{name} reaches its target, and the disk says {row and row.state}")
        elif self._on_disk.get(row.fence, 0) > begun:
            self.fail(Promise.CLAIMED_FIRST, f"the attempt of {name} began before its claim was on the disk")
        elif row.fence != message.fence or row.attempt != message.attempt:
            self.fail(Promise.ONCE, f"{name} reaches its target by a message that was overtaken")
        elif row.retry_at > self.now():
            self.fail(
                Promise.RETRIES, f"attempt {message.attempt} of {name} is made {row.retry_at - self.now()} ms early"
            )

    def _check_asked(self, schedule: Schedule) -> None:
        known = self.schedules.get(schedule.id, schedule)
        before, now = known.definition.payload, schedule.definition.payload
        if (known.point_in_time, before) != (schedule.point_in_time, now):
            self.fail(Promise.AS_ASKED, f"{self.name(schedule.id)} is not what its client sent")

    def _check_on_time(self, schedule: Schedule) -> None:
        row, now = self.rows.get(schedule.id), self.now()
        since = max(schedule.point_in_time, row.claimed_at if row else 0)
        if now - since > self.late:
            self.fail(Promise.ON_TIME, f"{self.name(schedule.id)} is {now - since} ms late, in a story without faults")

    def _check_said(self, schedule: Schedule) -> None:
        name = self.name(schedule.id)
        since = self.stopped.get(schedule.id)
        if since is not None and self.true_time() - since > STOP_SEEN:
            self.fail(Promise.STOPPED, f"{name} is attempted after a stop")
        occurrence = occurrence_of(schedule.definition)
        halted = self.halted.get(occurrence.series) if occurrence and occurrence.number else None
        if halted is not None and self.claimed_at.get(schedule.id, 0) > halted:
            self.fail(Promise.CANCEL_TRUTH, f"{name} is claimed after its series was halted")

    def _count(self, message: ExecutorMessage) -> None:
        """An attempt is made once; once more for each time its process died during it, under the same key."""
        schedule_id = message.schedule.id
        one = (schedule_id, message.nonce, message.attempt)
        self.tries[one] += 1
        if self.tries[one] > 1 + self.allowed[one]:
            self.fail(Promise.ONCE, f"attempt {message.attempt} of {self.name(schedule_id)} is made again")
        self.report(Report("reached", schedule_id, self.true_time(), message.nonce, message.attempt))
        reach = Reach(schedule_id, message.attempt, message.fence, schedule_id, self.true_time())
        self.reaches.append(reach)
        self.open[schedule_id] = reach
        self._open_key[schedule_id] = one

    _open_key: dict[str, tuple[str, str, int]] = field(factory=dict)

    def killed(self) -> None:
        """What was under way, or done and not on the disk, may be doubled."""
        for schedule_id in self.open:
            self.allowed[self._open_key[schedule_id]] += 1
        self.open.clear()
        self.refused_at = 0

    def under_way(self) -> dict[str, LedgerRow]:
        """What is claimed, and may be attempted now."""
        rows = self.rows.items()
        return {one: row for one, row in rows if row.state is State.CLAIMED and row.retry_at <= self.now()}

    def check_taken_up(self, former: Mapping[str, LedgerRow]) -> None:
        """All of them were, some seconds later."""
        for schedule_id, row in former.items():
            if self.rows.get(schedule_id) == row and schedule_id not in self.open:
                self.fail(Promise.AT_ONCE, f"{self.name(schedule_id)} is not taken up by the next life")

    # ------------------------------------------------------------ the end

    def at_the_end(self) -> None:
        """All has had the time that it needs."""
        for schedule_id in self.schedules:
            self._check_end(schedule_id)
        self._check_occurrences()
        for queue in (self.messages, self.delayed):
            for schedule_id, left in queue.items():
                if left and self._is_over(schedule_id):
                    self.fail(Promise.NOTHING_WAITS, f"a message of {self.name(schedule_id)} is left")

    def _is_over(self, schedule_id: str) -> bool:
        row = self.rows.get(schedule_id)
        return row is None or (row.ended and row.at < self.now() - 5 * SECOND)

    def _check_end(self, schedule_id: str) -> None:
        row, schedule = self.rows.get(schedule_id), self.schedules[schedule_id]
        if row and row.ended:
            return
        if not is_undecided(schedule_id) and schedule.point_in_time > self.now() - 30 * SECOND:
            return  # it is still to come
        state = row.state if row else "scheduled"
        self.fail(Promise.NOTHING_LOST, f"{self.name(schedule_id)} is still {state}")

    def _check_occurrences(self) -> None:
        seen: dict[tuple[str, int], str] = {}
        for schedule in self.schedules.values():
            occurrence = occurrence_of(schedule.definition)
            if not occurrence or not occurrence.number:
                continue
            row = self.rows.get(schedule.id)
            if row and row.state in (State.REPLACED, State.CANCELLED):
                continue
            at = (occurrence.series, occurrence.time)
            if at in seen:
                self.fail(Promise.EACH_ONCE, f"{self.name(schedule.id)} is an occurrence that was there before")
            seen[at] = schedule.id

    def occurrences(self, series: str) -> list[tuple[Occurrence, Schedule]]:
        """Of a series, in order."""
        found = [(occurrence_of(one.definition), one) for one in self.schedules.values()]
        own = [(occurrence, one) for occurrence, one in found if occurrence and occurrence.series == series]
        return sorted(own, key=lambda pair: pair[0].time)

    def check_history(self, schedule_id: str, shown: Mapping[str, Any]) -> None:
        """What GET answers is what the disk says, and its history ends with that."""
        row = self.rows.get(schedule_id)
        name = self.name(schedule_id)
        if row is None or not row.ended or row.state is State.DECIDED:  # what has its time by now is shown
            return
        if shown.get("state") != row.state:
            self.fail(Promise.HISTORY, f"{name} is {row.state}, and is shown as {shown.get('state')}")
        ends = [one for one in shown.get("history", []) if one.get("state") == row.state]
        if not ends:
            self.fail(Promise.HISTORY, f"the history of {name} does not tell that it is {row.state}")


def _bytes(text: bytes | str | None) -> bytes:
    assert text is not None
    return text.encode() if isinstance(text, str) else text
