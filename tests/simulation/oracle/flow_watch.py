"""Schedules that wait although they are due, and why: suspensions and circuits, as an all-seeing eye has them."""

import json
from collections import defaultdict
from collections.abc import Sequence
from math import log2
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from attrs import define, field, frozen
from greenlet import getcurrent

from delayer.actions.rules.model import Retry
from delayer.flow.rules.block import Block, BlockKind, Party
from delayer.ledger.model import Arrival, LedgerRow, State
from delayer.schedule.instants import MINUTE, SECOND, Millis
from delayer.schedule.messages import ExecutorMessage
from delayer.schedule.schedule import Schedule
from tests.simulation.engine.kernel import Invocation, Thread, current
from tests.simulation.oracle.invariant import Invariant
from tests.simulation.oracle.limit_watch import LimitWatch
from tests.simulation.system.bodies import body_of
from tests.simulation.system.there import BEHIND

if TYPE_CHECKING:
    from tests.simulation.oracle.watch import Watch

VIEW: Millis = 2 * SECOND + BEHIND + 50  # how old what an environment knows may be
OLD_VIEW: Millis = 30 * SECOND + BEHIND + 50  # of circuits, while reads fail: then they count no more
AT_WORK: Millis = 85 * SECOND  # an executor that has taken an attempt before may still reach the target
LONGEST_WAIT: Millis = 900 * SECOND  # until a message asks again
LONGEST_PAUSE: Millis = 5 * MINUTE
PROBED: Millis = MINUTE  # a probe that has not come back by then is over
STEP: Millis = 10 * SECOND  # of the pace of a comeback
SLOWEST = 4_000_000  # microseconds from one attempt of a comeback to the next
FORGOTTEN: Millis = 5 * MINUTE  # a comeback of which nothing is heard for so long is over
LAST_STEP = 10  # more than a thousand a second
MANY_FAIL = 2  # in a comeback, in different environments, before it is slower
IN_A_ROW = 5  # failures that open a circuit
LATELY = 15  # results of an environment in which they must be: others of its batch may have come in between
MANY = 60  # messages that are alike, in the worst of outages
SOME: Millis = 20 * SECOND  # between a look at the clock and the effect of what was decided
ALL_KINDS = frozenset(BlockKind)
GATES = frozenset({BlockKind.SUSPENSION, BlockKind.CIRCUIT})  # a limit has a line instead


@frozen
class Answer:
    """What came of an attempt."""

    at: Millis
    nonce: str
    is_outage: bool
    environment: Any
    knows: bool  # of circuits: not if it could not be read for half a minute what there is


@define(eq=False)
class FlowWatch:
    """Every row of `flow` as it was at each moment, and what the targets said."""

    watch: "Watch"
    by_command: bool = False  # an operator is at it
    answers: dict[Party, list[Answer]] = field(factory=lambda: defaultdict(list))
    most_alike: int = 0
    limits: LimitWatch = field(init=False)
    put_off_as: set[str] = field(factory=set)  # tokens of messages that wait on: they are no new hand-over
    _history: dict[str, list[tuple[Millis, Block | None]]] = field(factory=lambda: defaultdict(list))
    _taken_at: dict[str, Millis] = field(factory=dict)  # by fencing token
    _taken_knowing: dict[str, frozenset[BlockKind]] = field(factory=dict)  # and what whoever took it goes by
    _read_at: dict[int, Millis] = field(factory=dict)  # by the id of an execution environment
    _readers: list[Any] = field(factory=list)  # those environments: the id of one that is gone would be given again

    def __attrs_post_init__(self) -> None:
        self.limits = LimitWatch(self)

    # ------------------------------------------------------------ what happens

    def changed(self, before: Block | None, after: Block) -> None:
        """A row was written."""
        self._note(after.key, after, f"{before and before.revision} → {after.revision}, until {after.until}")
        if after.kind is BlockKind.CIRCUIT:
            self._check_circuit(before, after)

    def was_read(self, by: Thread) -> None:
        """All rows, as they were when the first of them was read, or a moment before."""
        environment = by.invocation.environment
        if id(environment) not in self._read_at:
            self._readers.append(environment)
        self._read_at[id(environment)] = by.listed_at
        by.invocation.ends_blind = False

    def removed(self, before: Block) -> None:
        """A row is gone."""
        self._note(before.key, None, "gone")
        if self.by_command:
            return
        if not is_comeback(before):
            self._fail(f"the {before.kind} of {before.party.target} is gone, and what has waited comes back at once")
        elif steps_of(before) + (self._now + self._skew - before.until) // STEP + 1 < LAST_STEP:
            self._fail(f"the comeback to {before.party.target} is over before its pace is the fastest")

    def answered(self, message: ExecutorMessage, result: Any) -> None:
        """An attempt came to this, as its executor sees it."""
        is_outage = isinstance(result, Retry) and result.is_outage
        party = party_of(message.schedule)
        self._check_grows(party, is_outage=is_outage)
        by = current().invocation
        knows = BlockKind.CIRCUIT in self._known_by(by)
        self.answers[party].append(Answer(self._now, message.nonce, is_outage, by.environment, knows))

    def tried(self, message: ExecutorMessage) -> None:
        """An attempt begins."""
        self.limits.tried(message, party_of(message.schedule))

    def handed_over(self, body: str, schedule_id: str, fence: str) -> None:
        """For the first attempt."""
        if schedule := self.watch.accepted.get(schedule_id):
            self.limits.handed_over(body, fence, schedule, party_of(schedule))

    def reached(self, message: ExecutorMessage, invocation: Invocation, row: LedgerRow | None) -> None:
        """Whoever reaches a target has asked, in this invocation, or before it took the attempt."""
        since = self.asked_since(invocation)
        if row is not None and row.arrival is Arrival.TAKEN:
            since = min(since, self._taken_at.get(row.fence, since) - AT_WORK - OLD_VIEW)
        kinds = self._known_by(invocation) & self._taken_knowing.get(row.fence if row else "", GATES)
        if why := self._must_wait(party_of(message.schedule), message.nonce, since, kinds):
            self._fail(f"{self.watch.name(message.schedule.id)} reaches its target, though {why}")

    def wrote(self, old: LedgerRow | None, new: LedgerRow) -> None:
        """The ledger has changed: perhaps an attempt was put off."""
        if new.arrival is Arrival.TAKEN:
            self._taken_at.setdefault(new.fence, self._now)
            self._taken_knowing.setdefault(new.fence, self._known_here())
        is_same = old and (old.state, old.attempt, old.claimed_at) == (State.CLAIMED, new.attempt, new.claimed_at)
        if not (old and is_same and new.state is State.CLAIMED and new.retry_of):
            return
        if new.retry_at != old.retry_at:
            self._put_off(old, new)
        elif new.fence != old.fence and self._is_limited(new):
            self.put_off_as.add(new.fence)  # its turn is further away than a message can wait

    def claimed(self, row: LedgerRow, schedule: Schedule) -> None:
        """What waits, waits unclaimed: else it could not be cancelled. What a circuit kept for too long goes on."""
        self.limits.claimed(row)
        thread = getcurrent()
        if not isinstance(thread, Thread) or thread.invocation.function != "delayer-relay":
            return
        why = self._must_wait(
            party_of(schedule),
            row.nonce,
            self.asked_since(thread.invocation),
            self._known_by(thread.invocation),
            is_too_old=self.is_too_old(schedule, schedule.point_in_time),
        )
        if why:
            self._fail(f"{self.watch.name(row.schedule_id)} is claimed, though {why}")

    def sent_again(self, body: str, bodies: Sequence[str]) -> None:
        """One more message is in the delayer queue: faults make two of one, but not ever more."""
        alike = sum(name_of(one) == name_of(body) for one in bodies)
        self.most_alike = max(self.most_alike, alike)
        if alike > MANY:
            name = self.watch.name(body_of(body).id)
            self.watch.fail(Invariant.COST, f"{name} waits in {alike} messages that are alike")

    # ------------------------------------------------------------ what others ask

    def may_be_given_up(self, schedule: Schedule, first: Millis | None) -> bool:
        """Whether it has waited for a circuit or a limit until it was too old. `first`: when it was attempted first."""
        born = schedule.point_in_time if first is None else first
        party, since = party_of(schedule), self._now - AT_WORK - OLD_VIEW
        circuits = self.lately(party, since, frozenset({BlockKind.CIRCUIT}))
        return self.is_too_old(schedule, born) and bool(circuits or self.waits_in_line(schedule))

    def waits_in_line(self, schedule: Schedule) -> bool:
        """Whether there is a limit. That others stand in its line is not asked: an age may end after a crash, too."""
        return any(is_limit(block) for block in self.lately(party_of(schedule), self._now - AT_WORK - OLD_VIEW))

    def is_too_old(self, schedule: Schedule, born: Millis) -> bool:
        """Whether it may be given up, if it could not be attempted since it was born."""
        return self._now + SOME > born + age_of(schedule)

    def has_waited(self, schedule: Schedule) -> bool:
        """Whether there was anything for which it could have waited since it was due."""
        return bool(self.lately(party_of(schedule), schedule.point_in_time - MINUTE))

    def named_as_probe(self, message: ExecutorMessage) -> tuple[bool, bool]:
        """Whether its circuit has named it so lately, as some environments may still know; and whether it does now."""
        party, circuit = party_of(message.schedule), frozenset({BlockKind.CIRCUIT})
        lately = self.lately(party, self._now - AT_WORK - OLD_VIEW, circuit)
        now = [block for block in self.unchanged(party, self._now) if block.kind is BlockKind.CIRCUIT]
        return (
            any(block.probe == message.nonce for block in lately),
            any(block.probe == message.nonce and block.probe_until > self._now + self._skew for block in now),
        )

    def is_pace(self, block: Block) -> bool:
        """Whether it is a comeback that is not over: of which something was heard lately."""
        return is_comeback(block) and self._now + self._skew < block.until + FORGOTTEN

    def circuits(self) -> list[Block]:
        """Those that are there. A comeback is over by itself if nobody needs its target."""
        there = self.watch.stack.there.blocks.values()
        return [block for block in there if block.kind is BlockKind.CIRCUIT and not is_comeback(block)]

    def check_end(self) -> None:
        """All targets answer by now, and each has been reached since."""
        for block in self.circuits():
            self._fail(f"the circuit of {block.party.target} is still there, though its target answers")

    # ------------------------------------------------------------ checks

    def _check_circuit(self, before: Block | None, after: Block) -> None:
        target = after.party.target
        if after.until > self._now + LONGEST_PAUSE + self._skew:
            self._fail(f"the circuit of {target} pauses for too long")
        if before is None or before.since != after.since:
            self._check_opened(after)
        elif is_comeback(after):
            self._check_comeback(before, after)
        elif after.probe and after.probe != before.probe:
            self._check_taken(before, after)
        elif before.probe and not after.probe:
            self._check_probed(before, after)
        elif is_comeback(before) and (before.every < SLOWEST or not self._has_failed(before)):
            self._fail(f"the circuit of {target} is open again, and it had not failed at the slowest pace")

    def _has_failed(self, before: Block) -> bool:
        """Since the pace was last changed."""
        return any(one.is_outage and one.at >= before.until - STEP - self._skew for one in self.answers[before.party])

    def _check_taken(self, before: Block, after: Block) -> None:
        """By one that is to probe."""
        if before.until > self._now + self._skew:
            self._fail(f"the circuit of {after.party.target} is probed before its pause is over")
        if before.probe and before.probe_until > self._now + self._skew:
            self._fail(f"two schedules probe {after.party.target} at the same time")

    def _check_probed(self, before: Block, after: Block) -> None:
        """Its probe has failed; or it was given back with its pause as it was, since it has reached no target."""
        began = before.probe_until - PROBED - self._skew
        answers = [one for one in self.answers[after.party] if one.nonce == before.probe and one.at >= began]
        if after.until == before.until and any(one.knows for one in answers) and not self._is_lost(before.probe):
            self._fail(f"the probe of {after.party.target} is given back, and it has reached its target")
        elif after.until != before.until and not any(one.is_outage for one in answers):
            self._fail(f"the circuit of {after.party.target} is opened again, and its probe has not failed")

    def _is_lost(self, nonce: str) -> bool:
        """Whether its schedule has ended, and AWS may have failed when its answer was to be written."""
        ended = any(row.nonce == nonce and row.ended for row in self.watch.stack.there.ledger.values())
        return ended and not self.watch.stack.weather.is_fair

    def _check_comeback(self, before: Block, after: Block) -> None:
        """It begins slowly after a probe that was answered; it grows step by step, and falls by half."""
        answers = [one for one in self.answers[after.party] if one.at >= before.probe_until - PROBED - self._skew]
        target, steps = after.party.target, steps_of(after)
        if not is_comeback(before):
            if steps or not any(one.nonce == before.probe and not one.is_outage for one in answers):
                self._fail(f"what has waited for {target} comes back, and its probe was not answered")
        elif steps > steps_of(before) + max((self._now + self._skew - before.until) // STEP + 1, 0):
            self._fail(f"the pace of {target} grows by more than one step at a time")
        elif steps < steps_of(before) - 1:
            self._fail(f"the pace of {target} falls by more than half")

    def _check_grows(self, party: Party, *, is_outage: bool) -> None:
        """Of two answers after the same step, the second finds that the first has made it faster. A failure: slower."""
        if not self.watch.stack.weather.is_fair:
            return  # whoever makes it faster may have died
        for block in (one for one in self.unchanged(party, self._now) if self.is_pace(one) and one.party == party):
            changed = self._history[block.key][-1][0]
            before = [one for one in self.answers[party] if changed + VIEW < one.at < self._now - SECOND]
            if not is_outage and any(one.at > block.until + VIEW and not one.is_outage for one in before):
                self._fail(f"{party.target} answers, and what has waited for it comes back no faster")
            if is_outage and len(before) > MANY_FAIL and all(one.is_outage for one in before):
                self._fail(f"{party.target} fails, and what has waited for it comes back no slower")

    def _check_opened(self, after: Block) -> None:
        """By an environment that has seen enough failures in a row."""
        thread = getcurrent()
        if not isinstance(thread, Thread):
            return  # a straggler
        mine = [one for one in self.answers[after.party] if one.environment is thread.invocation.environment]
        in_a_row = most = 0
        for one in mine[-LATELY:]:
            in_a_row = in_a_row + 1 if one.is_outage else 0
            most = max(most, in_a_row)
        if most < IN_A_ROW:
            self._fail(f"the circuit of {after.party.target} opens after {most} failures in a row")

    def _put_off(self, old: LedgerRow, new: LedgerRow) -> None:
        name, schedule = self.watch.name(new.schedule_id), self.watch.accepted.get(new.schedule_id)
        if schedule and not self.lately(party_of(schedule), self._now - AT_WORK - OLD_VIEW - 5 * MINUTE):
            self._fail(f"{name} waits, though there is nothing to wait for")
        self.put_off_as.add(new.fence)
        if old.arrival is Arrival.TAKEN and not self._is_limited(new):
            self._fail(f"{name} is put off, though its attempt is under way")
        if new.retry_at > self._now + LONGEST_WAIT + self._skew + SECOND and not self._is_limited(new):
            self._fail(f"{name} is put off by more than a message can wait")
        if new.retry_at + self._skew < old.retry_at:
            self._fail(f"{name} is put off to before its time")

    def _is_limited(self, row: LedgerRow) -> bool:
        """Whoever has taken an attempt may miss its turn."""
        schedule, since = self.watch.accepted.get(row.schedule_id), self._now - AT_WORK - OLD_VIEW
        return schedule is None or any(is_limit(block) for block in self.lately(party_of(schedule), since))

    def _must_wait(
        self, party: Party, nonce: str, since: Millis, kinds: frozenset[BlockKind], *, is_too_old: bool = False
    ) -> str:
        """Why, if it was so at each moment since then."""
        for key in self._history:
            states = self._states(key, since)
            there = [block for block in states if block and block.kind in kinds and covers(block.party, party)]
            there = [block for block in there if not is_comeback(block)]
            if len(there) < len(states):
                continue
            if there[0].kind is BlockKind.SUSPENSION:
                return f"{'its owner' if not there[0].party.target else 'its target'} is suspended"
            is_probe = any(one.probe == nonce and one.probe_until + self._skew >= since for one in there)
            if not is_probe and not is_too_old:
                return "the circuit of its target is open, and it is not the probe"
        return ""

    def lately(self, party: Party, since: Millis, kinds: frozenset[BlockKind] = ALL_KINDS) -> list[Block]:
        """All that it could have waited for at any moment since then."""
        blocks = [block for key in self._history for block in self._states(key, since) if block is not None]
        return [block for block in blocks if block.kind in kinds and covers(block.party, party)]

    def unchanged(self, party: Party, since: Millis) -> list[Block]:
        """What has been as it is now at each moment since then."""
        states = [self._states(key, since) for key in self._history]
        blocks = [some[0] for some in states if len(some) == 1 and some[0] is not None]
        return [block for block in blocks if covers(block.party, party)]

    def _states(self, key: str, since: Millis) -> list[Block | None]:
        """Of a row, from then until now."""
        before = [block for at, block in self._history[key] if at < since]
        return [*(before[-1:] or [None]), *(block for at, block in self._history[key] if at >= since)]

    def asked_since(self, invocation: Invocation) -> Millis:
        lately = invocation.began - VIEW
        return min(lately, self._read_at.get(id(invocation.environment), lately)) if invocation.is_blind else lately

    def _known_here(self) -> frozenset[BlockKind]:
        """By whoever is running; of a straggler nobody knows."""
        thread = getcurrent()
        return self._known_by(thread.invocation) if isinstance(thread, Thread) else frozenset({BlockKind.SUSPENSION})

    def _known_by(self, invocation: Invocation) -> frozenset[BlockKind]:
        """Whoever cannot read for half a minute goes by suspensions alone."""
        read_at = self._read_at.get(id(invocation.environment), self._now)
        is_old = invocation.is_blind and self._now - read_at + self._skew > OLD_VIEW - BEHIND - SECOND
        return frozenset({BlockKind.SUSPENSION}) if is_old else GATES

    def _note(self, key: str, block: Block | None, what: str) -> None:
        self._history[key].append((self._now, block))
        self.watch.stack.log("flow", f"{key[:16]}: {what}")

    def _fail(self, what: str) -> None:
        self.watch.fail(Invariant.WAITS, what)

    @property
    def _now(self) -> Millis:
        return self.watch.stack.kernel.now

    @property
    def _skew(self) -> Millis:
        """Between two clocks."""
        return 2 * self.watch.stack.weather.skew


def is_comeback(block: Block) -> bool:
    """Whether its target answers again, and what has waited for it is let through at a pace."""
    return block.kind is BlockKind.CIRCUIT and block.every > 0


def is_limit(block: Block) -> bool:
    """Whether it says how many attempts there may be."""
    return block.kind is BlockKind.LIMIT or is_comeback(block)


def steps_of(block: Block) -> int:
    """How often the pace of a comeback has doubled since it was one in a second; less than 0 if it fell."""
    return round(log2(1_000_000 / block.every))


def name_of(body: str) -> tuple[str, str]:
    """Of a message in the delayer queue: those with the same are alike."""
    try:
        fields = json.loads(body)
        return fields["id"], fields["nonce"]
    except (ValueError, KeyError, TypeError):
        return body, ""


def party_of(schedule: Schedule) -> Party:
    """Read once more and by hand."""
    url = json.loads(schedule.definition.action)["url"]
    return Party(owner=schedule.owner, target=f"http-request {urlsplit(url).hostname}")


def age_of(schedule: Schedule) -> Millis:
    """The `maxAgeSeconds` of its owner."""
    seconds: int = json.loads(schedule.definition.retry).get("maxAgeSeconds", 86_400)
    return seconds * SECOND


def covers(block: Party, party: Party) -> bool:
    """Whether what is said about the one is said about the other: an empty name is every name."""
    return block.owner in ("", party.owner) and block.target in ("", party.target)
