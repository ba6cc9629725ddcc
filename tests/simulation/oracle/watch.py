"""Sees all that takes effect, and says when an invariant is broken: at that step, not at the end."""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence, Set
from typing import TYPE_CHECKING

from attrs import define, evolve, field, frozen

from delayer.accept.rules.status import is_live
from delayer.engines.ports import Outgoing
from delayer.history import model as history
from delayer.history.model import LifecycleEvent
from delayer.ledger.model import Arrival, LedgerRow, State
from delayer.schedule.instants import DAY, MINUTE, SECOND, STALE_AFTER, Millis
from delayer.schedule.messages import ExecutorMessage
from delayer.schedule.schedule import Schedule
from delayer.schedule.schedule_id import address_of, is_relaxed, is_undecided, key_of, point_in_time_of
from delayer.schedule.table_change import ChangeKind, RecordChange
from delayer.schedule.tables import RELAXED, SCHEDULES, WAITING
from tests.simulation.engine.kernel import Invocation, current
from tests.simulation.engine.remote import Service
from tests.simulation.oracle.decisions import Decisions
from tests.simulation.oracle.flow_watch import FlowWatch
from tests.simulation.oracle.invariant import ALLOWED, Broken, Invariant
from tests.simulation.oracle.journal.histories import as_read, untrue
from tests.simulation.oracle.keys import Keys
from tests.simulation.oracle.series_watch import SeriesWatch
from tests.simulation.oracle.stops import Stops
from tests.simulation.system.bodies import body_of
from tests.world import LEAD

if TYPE_CHECKING:
    from tests.simulation.system.stack import Stack

SLACK: Millis = 5 * SECOND  # between what a function and this eye take for the instant of an attempt
LATE: Millis = 2 * SECOND  # more than everything takes when nothing goes wrong
LATE_BY_A_KILLER: Millis = 20 * MINUTE  # more than it takes to separate its neighbours from it
REPEATING = frozenset({"delayer-relay", "executor-http-request", "relaxed-claimer"})
STORED = frozenset({State.DEAD_LETTERED, State.FAILED})


@define(eq=False)
class Try:
    """One attempt, as far as it got."""

    attempt: int
    at: Millis
    asked: int | None = None  # the delay that the target asked for
    may_probe: bool = False  # its circuit has named it a moment ago
    is_probe: bool = False  # and names it now
    has_reached: bool = False  # its target has answered, or has not; else it has found a defect of the executor


@frozen
class Policy:
    """The retry policy of a schedule, read once more and by hand."""

    attempts: int
    age: Millis
    first: int
    factor: float
    longest: int

    def delay_after(self, attempt: int) -> float:
        """Before it is spread, in seconds."""
        return min(self.first * self.factor ** (attempt - 1), self.longest)

    def allows(self, delay: float, attempt: int, asked: int | None) -> bool:
        """Whether the next attempt may be made after so many seconds."""
        if asked is not None:
            return delay == max(asked, 1)
        whole = self.delay_after(attempt)
        return max(1, whole * 3 / 4 - 1) <= delay <= max(1, whole + 1)


def policy_of(schedule: Schedule) -> Policy:
    """What its client wants."""
    retry = json.loads(schedule.definition.retry)
    backoff = {"first": 1, "factor": 4, "max": 900, **retry.get("backoff", {})}
    age = retry.get("maxAgeSeconds", 86_400) * SECOND
    return Policy(retry["maxAttempts"], age, backoff["first"], backoff["factor"], backoff["max"])


@define(eq=False)
class Watch:
    """What has happened so far, as an all-seeing eye has it."""

    stack: "Stack"
    accepted: dict[str, Schedule] = field(factory=dict)  # answered 201, or in the place of another
    accepted_at: dict[str, Millis] = field(factory=dict)
    revoked: set[str] = field(factory=set)  # cancelled or replaced, and told so
    refused: dict[str, LedgerRow] = field(factory=dict)  # a cancel was answered 409, with this row
    too_late: dict[str, LedgerRow] = field(factory=dict)  # whatever a client wanted, it was answered 409, with this row
    handed: dict[str, set[str]] = field(factory=lambda: defaultdict(set))  # first deliveries in the executor's queue
    reaches: Counter[str] = field(factory=Counter)  # how often the target was reached
    retries: Counter[str] = field(factory=Counter)  # how often it did not take it
    tries: dict[str, list[Try]] = field(factory=lambda: defaultdict(list))  # attempts begun since its last redrive
    tokens: set[str] = field(factory=set)  # of all messages that were to be sent to the executor
    refused_for_good: set[str] = field(factory=set)  # by the target
    asked: set[str] = field(factory=set)  # a client has asked to cancel or replace them
    asked_names: set[str] = field(factory=set)  # which they have asked to create or replace
    asked_groups: set[str] = field(factory=set)  # which they have asked to cancel
    struck: set[str] = field(factory=set)  # a vandal has deleted their record
    deleted: set[str] = field(factory=set)  # a body of theirs was deleted after a redrive
    excuses: Counter[str] = field(factory=Counter)  # crashes, lost answers and duplicates that may repeat an attempt
    had_ended: set[str] = field(factory=set)  # redriven, or replaced, after an end of another kind
    died: set[str] = field(factory=set)  # messages that a function had before it when it died, or two at the same time
    left: Counter[str] = field(factory=Counter)  # messages that a function has seen and left in their queue
    killers: dict[str, str] = field(factory=dict)  # schedules, and the function that dies of each
    discarded: set[str] = field(factory=set)  # their bodies were deleted by command
    events: dict[str, list[LifecycleEvent]] = field(
        factory=lambda: defaultdict(list)
    )  # all that a subscriber would get
    stops: Stops = field(init=False)
    keys: Keys = field(init=False)
    series: SeriesWatch = field(init=False)
    decisions: Decisions = field(init=False)
    flow: FlowWatch = field(init=False)
    broken: Broken | None = None
    on_dead_letter: Callable[[str], None] = field(default=lambda key: None)  # somebody sees what is kept, and acts
    on_claim_or_end: Callable[[str], None] = field(default=lambda schedule_id: None)  # its owner sees it, and acts
    is_checked: bool = False  # nothing was removed, put or written since all copies were looked for
    _names: dict[str, str] = field(factory=dict)
    _changes: int = 0  # of the ledger
    _read: dict[bytes, set[str]] = field(factory=dict)  # what is in an object of the store
    _kept_in: dict[str, str] = field(factory=dict)  # an object of the store in which a schedule was seen

    def __attrs_post_init__(self) -> None:
        self.stops, self.keys, self.series = Stops(self), Keys(self), SeriesWatch(self)
        self.decisions, self.flow = Decisions(self), FlowWatch(self)

    def fail(self, invariant: Invariant, what: str) -> None:
        """Notes the first; it is raised between two events, outside of the functions that catch errors."""
        self.broken = self.broken or Broken(invariant, what)
        self.stack.kernel.halt()

    def name(self, schedule_id: str) -> str:
        """A short name for the story."""
        return self._names.setdefault(schedule_id, f"s{len(self._names) + 1}") if schedule_id else "?"

    def unexpected(self, error: BaseException) -> None:
        """A function ended with an error that is not AWS's."""
        self.fail(Invariant.NO_DEFECT, f"a function raised {error!r}")

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
        schedule_id, now = message.schedule.id, self.stack.kernel.now
        name = self.name(schedule_id)
        self.stack.log("target", f"is reached by attempt {message.attempt} of {name}")
        early = message.schedule.point_in_time - now - invocation.skew
        if early > 0:
            self.fail(Invariant.NEVER_EARLY, f"{name} reaches the target {early} ms before its point in time")
        if schedule_id in self.revoked:
            self.fail(Invariant.CANCEL_TRUTH, f"{name} reaches the target, though it was cancelled or replaced")
        self._check_same(name, message)
        late = now - max(message.schedule.point_in_time, self.accepted_at.get(schedule_id, now))
        may_be = LATE_BY_A_KILLER if self.stack.weather.killers else LATE
        has_ended = schedule_id in self.had_ended or is_relaxed(schedule_id)  # of the latter nobody promises how late
        is_due = message.attempt == 1 and not has_ended and not self.flow.has_waited(message.schedule)
        if self.stack.weather.is_fair and is_due and late > may_be:
            self.fail(Invariant.HARMLESS, f"{name} is {late} ms late, in a story without faults")
        self._check_read(name, message, current().read.get(schedule_id))
        self.stops.reached(schedule_id, current().read.get(schedule_id))
        self.flow.reached(message, invocation, current().read.get(schedule_id))
        self.reaches[schedule_id] += 1
        allowed = 1 + self.retries[schedule_id] + self.excuses[schedule_id]
        if self.reaches[schedule_id] > allowed:
            self.fail(Invariant.ONCE, f"{name} reaches the target {self.reaches[schedule_id]} times, without a reason")

    def _check_read(self, name: str, message: ExecutorMessage, row: LedgerRow | None) -> None:
        """What the executor read just before must let it go on."""
        if row is None or row.ended:
            self.fail(Invariant.ONCE, f"{name} is attempted, though its row says {row.state if row else 'nothing'}")
        elif row.fence != message.fence:
            self.fail(Invariant.ONCE, f"{name} is attempted by a message that was overtaken")
        elif row.retry_at > self.stack.kernel.now + current().invocation.skew and row.arrival is not Arrival.TAKEN:
            self.fail(Invariant.RETRIES, f"attempt {message.attempt} of {name} is made before its delay is over")

    def _check_same(self, name: str, message: ExecutorMessage) -> None:
        """It is what the client was told to have."""
        schedule = self.accepted.get(message.schedule.id)
        if schedule is None:
            return
        if message.schedule.point_in_time != schedule.point_in_time:
            self.fail(Invariant.NEVER_EARLY, f"{name} has another point in time than its client was told")
        definition = schedule.definition
        if schedule.id in self.stops.redriven:  # without its rule for lateness; a copy from before may have it
            definition = evolve(definition, on_late=message.schedule.definition.on_late and definition.on_late)
        if message.schedule.definition != definition:
            self.fail(Invariant.NOTHING_LOST, f"{name} has another payload or action than its client sent")

    def answered_accepted(self, schedule: Schedule, point_in_time: Millis, payload: str) -> None:
        """What is stored is what the client asked for, also for what was overdue when it came."""
        name, self.is_checked = self.name(schedule.id), False
        if is_undecided(schedule.id):
            return
        if not schedule.point_in_time == point_in_time_of(schedule.id) == point_in_time:
            self.fail(Invariant.AS_ASKED, f"{name} does not have the point in time that its client asked for")
        if schedule.definition.payload != payload:
            self.fail(Invariant.AS_ASKED, f"{name} does not have the payload that its client sent")

    def tried(self, message: ExecutorMessage) -> None:
        """An attempt begins. It may not get as far as the target."""
        may_probe, is_probe = self.flow.named_as_probe(message)
        one = Try(message.attempt, self.stack.kernel.now, may_probe=may_probe, is_probe=is_probe)
        self.tries[message.schedule.id].append(one)
        self.flow.tried(message)

    def turned_down(self, message: ExecutorMessage, *, for_good: bool, asked: int | None, reached: bool = True) -> None:
        """The target did not take it; one more attempt may follow, unless it refused."""
        self.retries[message.schedule.id] += 1
        for one in self.tries[message.schedule.id][::-1]:
            if one.attempt == message.attempt and one.asked is None:
                one.asked, one.has_reached = asked, reached
                break
        if for_good:
            self.refused_for_good.add(message.schedule.id)

    def sending(self, messages: Sequence[Outgoing]) -> None:
        """A function is about to send: each message to the executor has a fencing token of its own."""
        for message in map(body_of, (one.body for one in messages)):
            if not message.fence or message.outcome:
                continue
            if message.fence in self.tokens:
                self.fail(Invariant.ONCE, f"two messages of {self.name(message.id)} are sent with one fencing token")
            self.tokens.add(message.fence)

    def suspected(self, body: str) -> None:
        """It is handled alone. If the end of a run cannot be noted, nobody knows that it had one."""
        weather = self.stack.weather
        is_noted = not weather.rate and not any(one.service is Service.DYNAMODB for one in weather.outages)
        if is_noted and body not in self.died:
            self.fail(Invariant.UNSUSPECTED, f"{self.name(body_of(body).id)} is a suspect, and has killed nobody")

    def came_back(self, bodies: Sequence[str]) -> None:
        """A function has seen them, and left them in their queue."""
        self.left.update(bodies)
        for body in bodies if self.stack.weather.is_fair and not self.killers else ():
            if self.left[body] >= 3 and (schedule_id := body_of(body).id):
                self.fail(
                    Invariant.HARMLESS, f"{self.name(schedule_id)} is left three times, in a story without faults"
                )

    def sent_to_executor(self, body: str) -> None:
        """A message is in the executor's queue."""
        message = body_of(body)
        if message.attempt != 1 or message.fence in self.flow.put_off_as:
            return
        self.handed[message.id].add(message.fence)
        name = self.name(message.id)
        self.series.handed_over(message.id)
        self.flow.handed_over(body, message.id, message.fence)
        if message.id in self.revoked - self.had_ended:  # else a send of an earlier life may arrive: it is refused
            self.fail(Invariant.CANCEL_TRUTH, f"{name} is handed over, though it was cancelled or replaced")
        if len(self.handed[message.id]) > 1 + self.excuses[message.id]:
            self.fail(Invariant.ONCE, f"{name} is handed over again, without a reason")

    def wrote(self, old: LedgerRow | None, new: LedgerRow) -> None:
        """The ledger has changed."""
        self.is_checked = False
        name = self.name(new.schedule_id)
        self.stack.log("ledger", f"{name}: {old.state if old else 'no row'} → {new.state}, revision {new.revision}")
        if new.revision != (old.revision + 1 if old else 1):
            self.fail(Invariant.LEGAL, f"{name}: revision {new.revision} after {old.revision if old else 0}")
        before = str(old.state) if old else "nothing"
        if (before, str(new.state)) not in ALLOWED and not (old and is_note(old, new)):
            self.fail(Invariant.LEGAL, f"{name}: {new.state} after {before}")
        self._ledger_changed(old, new)
        self.series.ledger_wrote(old, new)
        self.stops.wrote(old, new)
        self.flow.wrote(old, new)
        self.keys.wrote(new)
        self.decisions.wrote(new)
        if is_claim(old, new):
            self._claimed(name, old, new)
        if old and old.ended and not is_note(old, new):
            self._had_ended(old, new)
        if old and new.state is old.state is State.CLAIMED and new.attempt > old.attempt:
            self._check_retry(name, old, new)
        self._check_cause(name, new)
        self.check_bodies()
        if new.claimed_at and not new.stopped_at:
            self.on_claim_or_end(new.schedule_id)

    def _had_ended(self, old: LedgerRow, new: LedgerRow) -> None:
        """It is opened again, or has another end now."""
        self.had_ended.add(new.schedule_id)
        if new.state is State.SCHEDULED:
            self.excuses[new.schedule_id] += 1 + old.attempt
            self.tries.pop(new.schedule_id, None)

    def _ledger_changed(self, old: LedgerRow | None, new: LedgerRow) -> None:
        """The event of the change, as stream-lifecycle makes it; what all of them add up to is the state."""
        self._changes += 1
        events = self.events[new.schedule_id]
        if event := history.of_row(old, new, f"row {self._changes}"):
            events.append(event)
            self.stack.aws.publish(event)
        self._check_fold(new, events)
        self._check_history(new)

    def table_changed(self, change: RecordChange) -> None:
        """The other two events come from the table."""
        self.is_checked = False
        if isinstance(change.row, Schedule):
            if change.kind is ChangeKind.INSERT:
                self.keys.stored(change.row)
                self.decisions.stored(change.row)
            at = self.stack.kernel.now // SECOND * SECOND
            if event := history.of_record(change.kind, change.row, change.sequence, at, expired=change.expired):
                self.events[change.row.id].append(event)

    def _check_fold(self, row: LedgerRow, events: Sequence[LifecycleEvent]) -> None:
        """Events may come twice, and in any order."""
        state = history.fold([*reversed(events), *events])
        if row.state is not State.SCHEDULED:
            expected: set[State | None] = {row.state}
        else:  # the row does not tell whether its record has left the table, nor the first one whether it is there
            expected = {State.SCHEDULED, State.ENQUEUED} | ({None} if row.revision == 1 else set())
        if state not in expected:
            name = self.name(row.schedule_id)
            self.fail(Invariant.FOLD, f"the events of {name} add up to {state}, and its row says {row.state}")

    def _check_history(self, row: LedgerRow, *, is_over: bool = False) -> None:
        # Else its function dies before it can note anything, or no relay has ever received it.
        is_read = row.schedule_id not in self.killers.keys() | self.discarded
        if problem := untrue(row, self.events[row.schedule_id], is_over=is_over and is_read):
            self.fail(Invariant.HISTORY, f"the history of {self.name(row.schedule_id)} {problem}")

    def _check_cause(self, name: str, row: LedgerRow) -> None:
        """No end without a reason for it."""
        schedule_id = row.schedule_id
        taken = self.reaches[schedule_id] - self.retries[schedule_id]
        missing = {
            State.EXECUTED: taken < 1,
            State.FAILED: schedule_id not in self.refused_for_good and not self._is_over(row),
            State.CANCELLED: not self._was_asked(schedule_id) and self._group_of(schedule_id) not in self.asked_groups,
            State.REPLACED: not self._was_asked(schedule_id) and row.name not in self.asked_names,
            State.DROPPED: schedule_id not in self.discarded and not self._may_be_dropped(row),
            State.DEAD_LETTERED: self.stack.weather.is_fair and schedule_id not in self.struck | self.killers.keys(),
        }
        if schedule_id in self.accepted and missing.get(row.state):
            self.fail(Invariant.ONE_END, f"{name} is {row.state}, for no reason")

    def _was_asked(self, schedule_id: str) -> bool:
        return schedule_id in self.asked or self.series.was_steered(schedule_id)

    def _group_of(self, schedule_id: str) -> str:
        """A series may be ended with its group before its client has heard that it is there."""
        own = self.accepted[schedule_id].definition.group if schedule_id in self.accepted else ""
        return own or self.series.group_of(schedule_id)

    def _may_be_dropped(self, row: LedgerRow) -> bool:
        return row.schedule_id not in self.accepted or self.stops.may_be_dropped(row)

    def _is_over(self, row: LedgerRow) -> bool:
        """Its attempts are used up, or the next one would come too long after the first."""
        if row.schedule_id not in self.accepted:
            return True
        policy, tries = policy_of(self.accepted[row.schedule_id]), self.tries[row.schedule_id]
        last = [one for one in tries if one.attempt == row.attempt]
        schedule = self.accepted[row.schedule_id]
        # Its age begins with its first attempt. Of one whose function died nobody knows: it waits since it was due.
        known = [one.at for one in tries if one.attempt == 1 and row.age_from]
        first = min(known, default=None)
        if self.flow.may_be_given_up(schedule, first):
            return True  # if there was a last attempt, nobody knows what came of it, and it had to wait once more
        if not last:
            return False
        counted = row.attempt - row.probes
        if counted >= policy.attempts:
            return True
        delay = max([policy.delay_after(max(counted, 1)), *(one.asked or 0 for one in last)])
        return last[-1].at + delay * SECOND + SLACK > tries[0].at + policy.age

    def _check_probe(self, name: str, old: LedgerRow, row: LedgerRow, made: Sequence[Try]) -> bool:
        """Whether what was made is a probe: that uses up no attempt, and it waits as all others do."""
        is_probe = row.probes > old.probes
        if is_probe and not any(one.may_probe for one in made):
            self.fail(Invariant.RETRIES, f"attempt {row.attempt - 1} of {name} is a probe, and no circuit was open")
        if not is_probe and self._has_probed_in_vain(row, made):
            self.fail(Invariant.RETRIES, f"attempt {row.attempt - 1} of {name} was a probe, and is counted")
        return is_probe

    def _has_probed_in_vain(self, row: LedgerRow, made: Sequence[Try]) -> bool:
        """Without faults it is known to everybody who probes. What never came to its target has not probed."""
        return self.stack.weather.is_fair and all(one.is_probe and one.has_reached for one in made)

    def _check_retry(self, name: str, old: LedgerRow, row: LedgerRow) -> None:
        """An attempt was made, and the next one is planned: after the right delay, and in time."""
        if row.schedule_id not in self.accepted:
            return
        policy, tries, attempt = policy_of(self.accepted[row.schedule_id]), self.tries[row.schedule_id], row.attempt - 1
        delay, made = (row.retry_at - row.at) / SECOND, [one for one in tries if one.attempt == attempt]
        if not made:
            self.fail(Invariant.RETRIES, f"attempt {attempt} of {name} is counted, and was not made")
            return
        if self._check_probe(name, old, row, made):
            return
        first = max([one.at for one in tries if one.attempt == 1], default=made[0].at)
        left = {id(one): (first + policy.age - one.at) / SECOND for one in made}  # until the last moment
        cut = any(one.asked is not None and one.asked > left[id(one)] >= delay > left[id(one)] - 2 for one in made)
        counted = attempt - row.probes
        unheard = (
            set() if self.stack.weather.is_fair else {None}
        )  # of what it asked for: the call failed after its effect
        if not cut and not any(policy.allows(delay, counted, asked) for one in made for asked in {one.asked} | unheard):
            self.fail(Invariant.RETRIES, f"attempt {row.attempt} of {name} is planned after {delay:.0f} s")
        if made[0].at + delay * SECOND > first + policy.age + SLACK:
            self.fail(Invariant.RETRIES, f"attempt {row.attempt} of {name} is planned beyond its age")

    def check_names(self) -> None:
        """One live schedule of a name."""
        live = Counter(row.name for row in self.stack.there.ledger.values() if row.name and is_live(row))
        if twice := [name for name, number in live.items() if number > 1]:
            self.fail(Invariant.ONE_NAME, f"{live[twice[0]]} schedules of the name {twice[0]!r} are live")

    def answered_too_old(self, schedule_id: str) -> None:
        """A client was told that it is more than 29 days overdue."""
        if self.stack.kernel.now - address_of(schedule_id).due < STALE_AFTER - DAY:
            self.fail(Invariant.CANCEL_TRUTH, f"{self.name(schedule_id)} is reported as too old, and is not")

    def answered_too_late(self, row: LedgerRow) -> None:
        """A client was told that its claim is taken, or that it has ended."""
        self.too_late[row.schedule_id] = row
        if row.state is not State.CLAIMED and not row.ended:
            self.fail(Invariant.CANCEL_TRUTH, f"{self.name(row.schedule_id)} is reported as too late, and is not")

    def answered_on_its_way(self, schedule_id: str) -> None:
        """A client was told that it has left the table."""
        if self.stack.there.record(key_of(schedule_id)) is not None and schedule_id not in self.had_ended:
            self.fail(Invariant.CANCEL_TRUTH, f"{self.name(schedule_id)} is reported as on its way: it is in the table")

    def _claimed(self, name: str, old: LedgerRow | None, new: LedgerRow) -> None:
        """A cancel is possible until the lead begins: that is promised (ADR 0016). One copy claims."""
        schedule = self.accepted.get(new.schedule_id)
        if schedule and schedule.point_in_time - new.at > LEAD:
            self.fail(Invariant.CANCEL_TRUTH, f"{name} is claimed {schedule.point_in_time - new.at} ms ahead")
        if old is None or old.state is not State.CLAIMED:
            self.stops.claimed(new)
            if schedule:
                self.flow.claimed(new, schedule)
            return
        if old.nonce != new.nonce:
            self.fail(Invariant.ONCE, f"a second copy of {name} claims it")
        if old.retry_of:
            self.fail(Invariant.ONCE, f"{name} is claimed again, though attempts were made")
        if new.at < old.lease_until:
            self.fail(Invariant.ONCE, f"{name} is claimed again, while the first relay may still be at work")

    def answered_name_taken(self, schedule_id: str) -> None:
        """A client was told that a live schedule has the name."""
        if not is_live(self.stack.there.ledger.get(schedule_id)):
            self.fail(Invariant.ONE_NAME, f"{self.name(schedule_id)} is reported as live under its name, and is not")

    def answered_group_cancelled(self, members: Set[str]) -> None:
        """A client sees that the group is cancelled: of these, which were in it before, none is handed over any more,
        unless it was claimed. What was accepted without a time goes on as the schedule that has it.
        """
        rows = self.stack.there.ledger
        followed = {row.decided_as if (row := rows.get(one)) and row.decided_as else one for one in members}
        for schedule_id in sorted(followed - self.had_ended):
            row = rows.get(schedule_id)
            if row is None or row.state is State.SCHEDULED:
                self.fail(Invariant.CANCEL_TRUTH, f"{self.name(schedule_id)} is left of a group that is cancelled")
            elif row.state is State.CANCELLED:
                self.revoke(schedule_id)

    def revoke(self, schedule_id: str) -> None:
        """A client was told that it will never reach an executor."""
        self.revoked.add(schedule_id)
        if self.handed[schedule_id] and schedule_id not in self.had_ended:
            self.fail(Invariant.CANCEL_TRUTH, f"{self.name(schedule_id)} had been handed over when that was denied")

    # ------------------------------------------------------------ what is where

    def check_copies(self) -> None:
        """What has not ended is somewhere, after whatever was removed from anywhere."""
        if self.is_checked:
            return
        self.is_checked = True
        self.check_bodies()
        self.check_names()
        waiting = {
            schedule_id
            for schedule_id in self.accepted
            if not ((row := self.stack.there.ledger.get(schedule_id)) and row.ended)
        }
        elsewhere = waiting - self._in_tables_and_queues() if waiting else waiting
        lost = {schedule_id for schedule_id in elsewhere if not self._is_kept(schedule_id)}
        self._leave_out_unread(lost)
        if lost:
            self.fail(Invariant.NOTHING_LOST, f"no copy of {self.name(min(lost))} is left anywhere")

    def check_bodies(self) -> None:
        """What was dead-lettered or failed has its whole body kept."""
        for schedule_id in self.accepted:
            if schedule_id in self.discarded:
                continue
            row = self.stack.there.ledger.get(schedule_id)
            if row is None or row.state not in STORED:
                continue
            if not self._is_kept(schedule_id) and not self._comes_again(schedule_id):
                self.fail(
                    Invariant.NOTHING_LOST, f"{self.name(schedule_id)} is {row.state}, and its body is not stored"
                )

    def _comes_again(self, schedule_id: str) -> bool:
        """Whoever marks it keeps its body once more, as a redrive may have deleted it in between (ADR 0021)."""
        if schedule_id not in self.deleted:
            return False
        left = {schedule_id} - self._in_tables_and_queues()
        self._leave_out_unread(left)
        return not left

    def _leave_out_unread(self, schedule_ids: set[str]) -> None:
        """Those that are in a stream. There may be thousands of records in it; what is looked for comes early."""
        if not schedule_ids:
            return
        for change in (*self.stack.streams[SCHEDULES].unread(), *self.stack.streams[RELAXED].unread()):
            if isinstance(row := change.row, Schedule):
                schedule_ids.discard(row.id)
                if not schedule_ids:
                    return

    def _in_tables_and_queues(self) -> set[str]:
        """All schedules of which there is a copy there."""
        stack = self.stack
        rows = (row for records in stack.there.records.values() for row in records.values())
        table = {row.id for row in rows if isinstance(row, Schedule)}
        queues = {body_of(message.body).id for queue in stack.queues_of_schedules() for message in queue.messages}
        return table | queues

    def ids_in(self, key: str) -> set[str]:
        """The schedules in an object of the store."""
        content = self.stack.store.objects[key]
        if content not in self._read:
            self._read[content] = {schedule.id for schedule in self.stack.read_dead_letter(content).schedules}
        return self._read[content]

    def _is_kept(self, schedule_id: str) -> bool:
        """In an object of the store; most often in the one it was seen in before. There may be thousands."""
        objects, known = self.stack.store.objects, self._kept_in.get(schedule_id)
        if known and known in objects and schedule_id in self.ids_in(known):
            return True
        for key in objects:
            if schedule_id in self.ids_in(key):
                self._kept_in[schedule_id] = key
                return True
        return False

    # ------------------------------------------------------------ the end

    def check_end(self) -> None:
        """Time has run out."""
        for schedule_id in self.accepted:
            self._check_end_of(schedule_id, self.name(schedule_id))
        for schedule_id, row in self.stack.there.ledger.items():
            if not row.ended:
                self.fail(Invariant.ONE_END, f"{self.name(schedule_id)} is still {row.state}")
            self._check_fold(row, [as_read(event) for event in self.events[schedule_id]])
            self._check_history(row, is_over=True)
        self.series.check_end()
        self.flow.check_end()
        self.check_nothing_waits()

    def check_nothing_waits(self) -> None:
        """All has been taken up."""
        left = [queue.name for queue in self.stack.queues_of_schedules() if queue.messages]
        left += [queue.name for queue in self.stack.other_queues() if queue.messages]
        left += ["the store, to be brought back"] * self.stack.has_waiting()
        there = self.stack.there
        left += ["schedules"] * bool(there.schedules) + ["stream"] * bool(self.stack.streams[SCHEDULES].unread())
        left += ["what has no time yet"] * bool(there.waiting or self.stack.streams[WAITING].unread())
        left += ["the relaxed lane"] * bool(there.relaxed or self.stack.streams[RELAXED].unread())
        if left:
            self.fail(Invariant.NOTHING_WAITS, f"something waits in: {', '.join(left)}")

    def _check_end_of(self, schedule_id: str, name: str) -> None:
        row = self.stack.there.ledger.get(schedule_id)
        if row is None:
            self.fail(Invariant.ONE_END, f"{name} has no end in the ledger")
            return
        self.stops.ended(schedule_id, row)
        excused = schedule_id in self.struck or schedule_id in self.killers
        if self.stack.weather.alone and row.state is State.DEAD_LETTERED and not excused:
            self.fail(Invariant.NOBODY_NEEDED, f"{name} waits for an operator: {row.detail}")
        if schedule_id in self.revoked and row.state not in (State.CANCELLED, State.REPLACED):
            self.fail(Invariant.CANCEL_TRUTH, f"{name} was cancelled or replaced, and is {row.state}")
        if schedule_id in self.refused and not (self.handed[schedule_id] or self._was_given_up(row)):
            self.fail(Invariant.CANCEL_TRUTH, f"{name} could not be cancelled, and was never handed over")

    def _was_given_up(self, row: LedgerRow) -> bool:
        """After a claim, or before the cancel that was refused: by an operator, its owner, or the rule of its owner."""
        if row.state in STORED or self.refused[row.schedule_id].state is State.DROPPED:
            return True
        return row.state is State.DROPPED and self.stops.may_be_dropped(row)


def is_claim(old: LedgerRow | None, new: LedgerRow) -> bool:
    """Whether this is the first claim, or one that is repeated because nobody knows what came of it."""
    was_stopped = old is not None and new.stopped_at != old.stopped_at
    taken = new.arrival is Arrival.TAKEN
    return new.state is State.CLAIMED and not new.retry_of and not taken and not was_stopped


def is_note(old: LedgerRow, new: LedgerRow) -> bool:
    """Whether it has the end that it had: all that is new is when it was enqueued."""
    return new == evolve(old, revision=new.revision, enqueued_at=new.enqueued_at) and not old.enqueued_at
