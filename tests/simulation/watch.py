"""Sees all that takes effect, and says when an invariant is broken: at that step, not at the end."""

import json
from collections import Counter, defaultdict
from collections.abc import Callable
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from attrs import define, field

from delayer.core.bucket import Bucket
from delayer.core.enqueueing import edge_of
from delayer.core.instants import DAY, SECOND, Millis
from delayer.core.ledger import STALE_AFTER, LedgerRow
from delayer.core.lifecycle import State, may_follow
from delayer.core.schedule import Schedule
from delayer.core.schedule_id import address_of
from delayer.core.set_aside import Kept
from delayer.core.wire import ExecutorMessage
from delayer.core.withdrawing import is_live
from delayer.fakes import MemoryLedger, MemoryQueue, MemoryScheduleTable, MemorySetAsideStore
from delayer.ports import Page, RecordKey
from delayer.use_cases.cancel import key_of
from tests.simulation.bodies import body_of
from tests.simulation.kernel import Invocation, current
from tests.world import LEAD, PERIOD

if TYPE_CHECKING:
    from tests.simulation.stack import Stack

LATE: Millis = 2 * SECOND  # more than everything takes when nothing goes wrong
REPEATING = frozenset({"delayer-relay", "executor-http-request"})
KEPT = frozenset({State.SET_ASIDE, State.FAILED})


class Invariant(StrEnum):
    """What must hold."""

    NEVER_EARLY = "1 never early"
    NOTHING_LOST = "2 nothing lost"
    CANCEL_TRUTH = "3 cancel tells the truth"
    ONCE = "4 handed over once"
    COST = "5 cost follows what is due"
    HARMLESS = "6 one bad record harms only itself"
    ONE_END = "exactly one end"
    NOTHING_WAITS = "nothing waits when time has run out"
    LEGAL = "only the transitions of the lifecycle"
    ONE_NAME = "one live schedule of a name"


class Broken(AssertionError):
    """An invariant does not hold."""

    def __init__(self, invariant: Invariant, what: str) -> None:
        super().__init__(invariant, what)
        self.invariant = invariant
        self.what = what

    def __str__(self) -> str:
        return f"{self.invariant}: {self.what}"


@define(eq=False)
class Watch:
    """What has happened so far, as an all-seeing eye has it."""

    stack: "Stack"
    accepted: dict[str, Schedule] = field(factory=dict)  # answered 201, or in the place of another
    accepted_at: dict[str, Millis] = field(factory=dict)
    withdrawn: set[str] = field(factory=set)  # cancelled or replaced, and told so
    refused: dict[str, LedgerRow] = field(factory=dict)  # a cancel was answered 409, with this row
    too_late: dict[str, LedgerRow] = field(factory=dict)  # whatever a client wanted, it was answered 409, with this row
    handed: dict[str, set[str]] = field(factory=lambda: defaultdict(set))  # first deliveries in the executor's queue
    reaches: Counter[str] = field(factory=Counter)  # how often the target was reached
    retries: Counter[str] = field(factory=Counter)  # how often it did not take it
    refused_for_good: set[str] = field(factory=set)  # by the target
    asked: set[str] = field(factory=set)  # a client has asked to cancel or replace them
    asked_names: set[str] = field(factory=set)  # which they have asked to create or replace
    struck: set[str] = field(factory=set)  # a vandal has deleted their record
    discarded: set[str] = field(factory=set)  # a body of theirs was deleted after a put-back
    excuses: Counter[str] = field(factory=Counter)  # crashes, lost answers and duplicates that may repeat an attempt
    had_ended: set[str] = field(factory=set)  # put back, or replaced, after an end of another kind
    thrown_away: set[str] = field(factory=set)  # their bodies were deleted by command
    broken: Broken | None = None
    on_kept: Callable[[str], None] = field(default=lambda key: None)  # somebody sees what is kept, and acts
    _names: dict[str, str] = field(factory=dict)
    _read: dict[bytes, set[str]] = field(factory=dict)  # what is in an object of the store

    def fail(self, invariant: Invariant, what: str) -> None:
        """Notes the first; it is raised between two events, outside of the functions that catch errors."""
        self.broken = self.broken or Broken(invariant, what)

    def name(self, schedule_id: str) -> str:
        """A short name for the story."""
        return self._names.setdefault(schedule_id, f"s{len(self._names) + 1}") if schedule_id else "?"

    def unexpected(self, error: BaseException) -> None:
        """A function ended with an error that is not AWS's."""
        self.fail(Invariant.HARMLESS, f"a function raised {error!r}")

    # ------------------------------------------------------------ what happens

    def disturbed(self, invocation: Invocation) -> None:
        """What took effect, and was not told so, may be repeated: by those who hand over and attempt."""
        if invocation.function in REPEATING:
            self.excuses.update(invocation.about)

    def twinned(self, invocation: Invocation) -> None:
        """One message became two, with one nonce: when the lease has lapsed, the second is taken for a redelivery."""
        self.excuses.update(invocation.about)

    def reached(self, message: ExecutorMessage, invocation: Invocation) -> None:
        """The target is reached."""
        name, now = self.name(message.id), self.stack.kernel.now
        self.stack.tell("target", f"is reached by attempt {message.attempt} of {name}")
        early = message.point_in_time - now - invocation.skew
        if early > 0:
            self.fail(Invariant.NEVER_EARLY, f"{name} reaches the target {early} ms before its point in time")
        if message.id in self.withdrawn:
            self.fail(Invariant.CANCEL_TRUTH, f"{name} reaches the target, though it was withdrawn")
        self._check_same(name, message)
        late = now - max(message.point_in_time, self.accepted_at.get(message.id, now))
        if self.stack.weather.is_fair and message.attempt == 1 and late > LATE and message.id not in self.had_ended:
            self.fail(Invariant.HARMLESS, f"{name} is {late} ms late, in fair weather")
        self._check_read(name, message, invocation.read.get(message.id))
        self.reaches[message.id] += 1
        allowed = 1 + self.retries[message.id] + self.excuses[message.id]
        if self.reaches[message.id] > allowed:
            self.fail(Invariant.ONCE, f"{name} reaches the target {self.reaches[message.id]} times, without a reason")

    def _check_read(self, name: str, message: ExecutorMessage, row: LedgerRow | None) -> None:
        """What the executor read just before must let it go on."""
        if row is None or row.ended:
            self.fail(Invariant.ONCE, f"{name} is attempted, though its row says {row.state if row else 'nothing'}")
        elif row.delivery != message.delivery:
            self.fail(Invariant.ONCE, f"{name} is attempted by a delivery that was overtaken")

    def _check_same(self, name: str, message: ExecutorMessage) -> None:
        """It is what the client was told to have."""
        schedule = self.accepted.get(message.id)
        if schedule is None:
            return
        if message.point_in_time != schedule.point_in_time:
            self.fail(Invariant.NEVER_EARLY, f"{name} has another point in time than its client was told")
        if (message.payload, message.action) != (schedule.payload, schedule.action):
            self.fail(Invariant.NOTHING_LOST, f"{name} has another payload or action than its client sent")

    def turned_down(self, message: ExecutorMessage, *, for_good: bool) -> None:
        """The target did not take it; one more attempt may follow, unless it refused."""
        self.retries[message.id] += 1
        if for_good:
            self.refused_for_good.add(message.id)

    def sent_to_executor(self, body: str) -> None:
        """A message is in the executor's queue."""
        message = body_of(body)
        if message.attempt != 1:
            return
        self.handed[message.id].add(message.delivery)
        name = self.name(message.id)
        if message.id in self.withdrawn - self.had_ended:  # else a send of an earlier life may arrive: it is refused
            self.fail(Invariant.CANCEL_TRUTH, f"{name} is handed over, though it was withdrawn")
        if len(self.handed[message.id]) > 1 + self.excuses[message.id]:
            self.fail(Invariant.ONCE, f"{name} is handed over again, without a reason")

    def wrote(self, old: LedgerRow | None, new: LedgerRow) -> None:
        """The ledger has changed."""
        name = self.name(new.schedule_id)
        self.stack.tell("ledger", f"{name}: {old.state if old else 'no row'} → {new.state}, revision {new.revision}")
        if new.revision != (old.revision + 1 if old else 1):
            self.fail(Invariant.LEGAL, f"{name}: revision {new.revision} after {old.revision if old else 0}")
        sources = [old.state] if old and old.state is not State.SCHEDULED else [State.SCHEDULED, State.ENQUEUED]
        if new.state is State.SCHEDULED:
            if old and old.state not in (State.SCHEDULED, State.SET_ASIDE, State.FAILED):
                self.fail(Invariant.LEGAL, f"{name}: put back after {old.state}")
        elif not any(may_follow(source, new.state) for source in sources):
            self.fail(Invariant.LEGAL, f"{name}: {new.state} after {sources[0]}")
        if new.state is State.CLAIMED and not new.retry_of:
            self._claimed(name, old, new)
        if old and old.ended:
            self.had_ended.add(new.schedule_id)
        if old and old.ended and new.state is State.SCHEDULED:
            self.excuses[new.schedule_id] += 1 + old.attempt
        self._check_cause(name, new)
        self.check_bodies()

    def _check_cause(self, name: str, row: LedgerRow) -> None:
        """No end without a reason for it."""
        schedule_id = row.schedule_id
        taken = self.reaches[schedule_id] - self.retries[schedule_id]
        missing = {
            State.EXECUTED: taken < 1,
            State.FAILED: schedule_id not in self.refused_for_good and row.attempt < self._tries(row),
            State.CANCELLED: schedule_id not in self.asked,
            State.REPLACED: schedule_id not in self.asked and row.name not in self.asked_names,
            State.DROPPED: schedule_id not in self.thrown_away,
            State.SET_ASIDE: self.stack.weather.is_fair and schedule_id not in self.struck,
        }
        if schedule_id in self.accepted and missing.get(row.state):
            self.fail(Invariant.ONE_END, f"{name} is {row.state}, for no reason")

    def _tries(self, row: LedgerRow) -> int:
        """How many attempts its client wants."""
        return int(json.loads(self.accepted[row.schedule_id].action)["maxAttempts"]) if self._known(row) else 0

    def _known(self, row: LedgerRow) -> bool:
        return row.schedule_id in self.accepted

    def check_names(self) -> None:
        """One live schedule of a name."""
        live = Counter(row.name for row in self.stack.ledger.rows.values() if row.name and is_live(row))
        if twice := [name for name, number in live.items() if number > 1]:
            self.fail(Invariant.ONE_NAME, f"{live[twice[0]]} schedules of the name {twice[0]!r} are live")

    def told_too_old(self, schedule_id: str) -> None:
        """A client was told that it is more than 29 days overdue."""
        if self.stack.kernel.now - address_of(schedule_id).due < STALE_AFTER - DAY:
            self.fail(Invariant.CANCEL_TRUTH, f"{self.name(schedule_id)} is said to be too old, and is not")

    def told_too_late(self, row: LedgerRow) -> None:
        """A client was told that its claim is taken, or that it has ended."""
        self.too_late[row.schedule_id] = row
        if row.state is not State.CLAIMED and not row.ended:
            self.fail(Invariant.CANCEL_TRUTH, f"it is said to be too late for {self.name(row.schedule_id)}, and is not")

    def told_on_its_way(self, schedule_id: str) -> None:
        """A client was told that it has left the table."""
        if key_of(schedule_id) in self.stack.table.rows and schedule_id not in self.had_ended:
            self.fail(Invariant.CANCEL_TRUTH, f"{self.name(schedule_id)} is said to be on its way, and is in the table")

    def _claimed(self, name: str, old: LedgerRow | None, new: LedgerRow) -> None:
        """A cancel is possible until the lead begins: that is promised (ADR 0017). One copy claims."""
        schedule = self.accepted.get(new.schedule_id)
        if schedule and schedule.point_in_time - new.at > LEAD:
            self.fail(Invariant.CANCEL_TRUTH, f"{name} is claimed {schedule.point_in_time - new.at} ms ahead")
        if old is None or old.state is not State.CLAIMED:
            return
        if old.nonce != new.nonce:
            self.fail(Invariant.ONCE, f"a second copy of {name} claims it")
        if old.retry_of:
            self.fail(Invariant.ONCE, f"{name} is claimed anew, though attempts were made")
        if new.at < old.lease_until:
            self.fail(Invariant.ONCE, f"{name} is claimed anew, while the first relay may still be at it")

    def withdraw(self, schedule_id: str) -> None:
        """A client was told that it will never reach an executor."""
        self.withdrawn.add(schedule_id)
        if self.handed[schedule_id] and schedule_id not in self.had_ended:
            self.fail(Invariant.CANCEL_TRUTH, f"{self.name(schedule_id)} had been handed over when that was denied")

    # ------------------------------------------------------------ what is where

    def check_copies(self) -> None:
        """What has not ended is somewhere, after whatever was removed from anywhere."""
        self.check_bodies()
        self.check_names()
        waiting = {
            schedule_id
            for schedule_id in self.accepted
            if not ((row := self.stack.ledger.rows.get(schedule_id)) and row.ended)
        }
        if waiting and (lost := waiting - self.copies()):
            self.fail(Invariant.NOTHING_LOST, f"no copy of {self.name(min(lost))} is left anywhere")

    def check_bodies(self) -> None:
        """What was set aside or failed has its whole body kept."""
        for schedule_id in self.accepted.keys() - self.thrown_away:
            row = self.stack.ledger.rows.get(schedule_id)
            if row and row.state in KEPT and schedule_id not in self._kept() and not self._comes_again(schedule_id):
                self.fail(Invariant.NOTHING_LOST, f"{self.name(schedule_id)} is {row.state}, and its body is not kept")

    def _comes_again(self, schedule_id: str) -> bool:
        """Whoever marks it keeps its body once more, as a put-back may have deleted it in between (ADR 0021)."""
        return schedule_id in self.discarded and schedule_id in self.copies()

    def copies(self) -> set[str]:
        """All schedules of which there is a copy."""
        stack = self.stack
        table = {row.id for row in stack.table.rows.values() if isinstance(row, Schedule)}
        stream = {change.row.id for change in stack.stream.unread() if isinstance(change.row, Schedule)}
        queues = {body_of(message.body).id for queue in stack.queues() for message in queue.messages}
        return table | stream | queues | self._kept()

    def ids_in(self, key: str) -> set[str]:
        """The schedules in an object of the store."""
        content = self.stack.store.objects[key]
        if content not in self._read:
            self._read[content] = {message.id for message in self.stack.contents(content).messages}
        return self._read[content]

    def _kept(self) -> set[str]:
        return {schedule_id for key in self.stack.store.objects for schedule_id in self.ids_in(key)}

    # ------------------------------------------------------------ the end

    def check_end(self) -> None:
        """Time has run out."""
        for schedule_id in self.accepted:
            self._check_end_of(schedule_id, self.name(schedule_id))
        for schedule_id, row in self.stack.ledger.rows.items():
            if not row.ended:
                self.fail(Invariant.ONE_END, f"{self.name(schedule_id)} is still {row.state}")
        self.check_nothing_waits()

    def check_nothing_waits(self) -> None:
        """All has been taken up."""
        left = [queue.name for queue in self.stack.queues() if queue.messages]
        left += ["schedules"] * bool(self.stack.table.rows) + ["stream"] * bool(self.stack.stream.unread())
        if left:
            self.fail(Invariant.NOTHING_WAITS, f"something waits in: {', '.join(left)}")

    def _check_end_of(self, schedule_id: str, name: str) -> None:
        row = self.stack.ledger.rows.get(schedule_id)
        if row is None:
            self.fail(Invariant.ONE_END, f"{name} has no end in the ledger")
            return
        if schedule_id in self.withdrawn and row.state not in (State.CANCELLED, State.REPLACED):
            self.fail(Invariant.CANCEL_TRUTH, f"{name} was withdrawn, and is {row.state}")
        if schedule_id in self.refused and not (self.handed[schedule_id] or row.state in KEPT | {State.DROPPED}):
            self.fail(Invariant.CANCEL_TRUTH, f"{name} could not be cancelled, and was never handed over")


@define
class WatchedLedger(MemoryLedger):
    """Tells of each write, and what a read may say that is not strongly consistent."""

    watch: Watch = field(kw_only=True)
    _before: dict[str, tuple[Millis, LedgerRow | None]] = field(factory=dict)  # the last write, and what it replaced

    def read_eventually(self, schedule_id: str) -> LedgerRow | None:
        """As DynamoDB without `ConsistentRead`: a replica that is a second behind. No function reads so."""
        written_at, before = self._before.get(schedule_id, (0, None))
        row = before if self.watch.stack.kernel.now - written_at < SECOND else self.rows.get(schedule_id)
        current().invocation.read[schedule_id] = row
        return row

    def read(self, schedule_id: str) -> LedgerRow | None:
        row = super().read(schedule_id)
        current().invocation.read[schedule_id] = row
        return row

    def write(self, row: LedgerRow) -> None:
        old = self.rows.get(row.schedule_id)
        super().write(row)
        self._before[row.schedule_id] = (self.watch.stack.kernel.now, old)
        self.watch.wrote(old, row)


@define
class WatchedTable(MemoryScheduleTable):
    """Tells of what is read, and wakes the stream."""

    watch: Watch = field(kw_only=True)

    def page(self, bucket: Bucket, after: RecordKey | None = None) -> Page:
        stack = self.watch.stack
        if bucket.minute > edge_of(stack.kernel.now + stack.weather.skew, PERIOD):
            self.watch.fail(Invariant.COST, f"{bucket.key} is read long before anything in it is due")
        return super().page(bucket, after)

    def _emit(self, kind: Any, row: Any) -> None:
        super()._emit(kind, row)
        self.watch.stack.aws.wake_stream()


@define
class WatchedQueue(MemoryQueue):
    """Wakes its consumer when a message can be received."""

    watch: Watch = field(kw_only=True)

    def _add(self, body: str, visible_at: Millis, tenant: str) -> None:
        super()._add(body, visible_at, tenant)
        if self.name == "http":
            self.watch.sent_to_executor(body)
        self.watch.stack.aws.wake_queue(self, visible_at)


@define
class WatchedStore(MemorySetAsideStore):
    """Tells what is kept, and whose bodies are deleted."""

    watch: Watch = field(kw_only=True)

    def keep(self, kept: Kept) -> None:
        super().keep(kept)
        self.watch.on_kept(kept.key)

    def discard(self, key: str) -> None:
        if key in self.objects:
            self.watch.discarded |= self.watch.ids_in(key)
        super().discard(key)
