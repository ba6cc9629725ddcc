"""Waits for the last fraction of a second, claims, and hands over to the queue of the action."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final

from attrs import evolve, field, frozen

from delayer.actions.rules.message_group import message_group_of
from delayer.dead_letters.dead_letter import TakesDeadLetters, undeliverable
from delayer.engines.ports import Clock, NotBegun, Observer, Outgoing, Queue, ReceivedMessage, Unavailable
from delayer.flow.rules.block import aging_from
from delayer.flow.rules.limit import Come, seconds_before
from delayer.flow.use_cases.gate import Gate, Successors
from delayer.flow.use_cases.limits import Limits
from delayer.ledger.model import LedgerChange, LedgerRow, Refuse, RetryLater, State, UnderWay
from delayer.ledger.ports import LedgerInBatches
from delayer.ledger.rules import Claim, Verdict, decide_claim, decide_drop
from delayer.ledger.use_cases import settle_all
from delayer.relay import rules
from delayer.schedule.instants import MAX_HOLD, Malformed, Millis
from delayer.schedule.messages import WARM_UP, DelayerMessage, ExecutorMessage, decode, encode, encode_again
from delayer.schedule.misfire import Drop

CANARY: Final = "canary"  # the action of Delayer's own schedules (ADR 0075)


@frozen(kw_only=True)
class Held:
    """A message on its way through the relay."""

    received: ReceivedMessage
    message: DelayerMessage

    @property
    def name(self) -> tuple[str, str]:
        """Two messages that are alike have the same."""
        return self.message.schedule.id, self.message.nonce

    @property
    def action_type(self) -> str:
        """Which queue it is handed over to."""
        return self.message.schedule.definition.action_type


@frozen(kw_only=True)
class HandOver:
    """Claims what is due, and hands it over to the queues of the executors: what both lanes do at last."""

    clock: Clock
    ledger_in_batches: LedgerInBatches
    executor_queues: Mapping[str, Queue]  # by action type
    observer: Observer
    new_token: Callable[[], str]
    lease: Millis  # this function's timeout, shorter than the queue's visibility timeout

    def hand_over(self, ready: Sequence[Held]) -> list[str]:
        """Claims each, and sends those whose claim is this message's own. The ids of those to be delivered again."""
        return self._finish(ready, self.claim(ready))

    def drop(self, late: Sequence[tuple[Held, str]]) -> list[str]:
        """Ends what its own rule drops. What may have been handed over before is handed over again."""
        ready = [one for one, _ in late]
        return self._finish(ready, self.claim(ready, [reason for _, reason in late]))

    def claim(self, ready: Sequence[Held], drops: Sequence[str] = ()) -> list[Verdict | Exception]:
        """The claims that were written, or the ends of those that are to be dropped; or why there is none."""
        now = self.clock.now()
        claims = [Claim(message=one.message, fence=self.new_token(), now=now, lease=self.lease) for one in ready]
        decisions: list[Callable[[LedgerRow | None], Verdict]] = (
            [partial(decide_drop, claim, reason=drop) for claim, drop in zip(claims, drops, strict=True)]
            if drops
            else [partial(decide_claim, claim) for claim in claims]
        )
        outcomes = settle_all(self.ledger_in_batches, decisions)
        for one, outcome in zip(ready, outcomes, strict=True):
            self._log(one.message, outcome, now)
        return outcomes

    def _finish(self, ready: Sequence[Held], outcomes: Sequence[Verdict | Exception]) -> list[str]:
        failed: list[str] = []
        claimed: list[tuple[Held, str]] = []
        for one, outcome in zip(ready, outcomes, strict=True):
            match outcome:
                case LedgerChange() if outcome.row.state is State.CLAIMED:
                    claimed.append((one, outcome.row.fence))
                case RetryLater() | Exception():
                    failed.append(one.received.message_id)
        for action_type in sorted({one.action_type for one, _ in claimed}):
            failed += self.send(action_type, [pair for pair in claimed if pair[0].action_type == action_type])
        return failed

    def _log(self, message: DelayerMessage, outcome: Verdict | Exception, now: Millis) -> None:
        schedule = message.schedule
        match outcome:
            case LedgerChange() if outcome.row.state is State.DROPPED:
                self.observer.count("Dropped")
                self.observer.note("dropped", schedule.id, reason=outcome.row.detail)
            case LedgerChange() if outcome.row.ended:
                self.observer.note("copy refused", schedule.id, reason=f"already {outcome.row.state}")
            case LedgerChange():
                self.observer.count("Claimed")
                self.observer.note("claimed", schedule.id, early=schedule.point_in_time - now)
            case Refuse(reason):
                self.observer.note("copy refused", schedule.id, reason=reason)
            case Exception():
                self.observer.warn("not claimed", schedule.id, error=repr(outcome))

    def send(self, action_type: str, claimed: Sequence[tuple[Held, str]]) -> list[str]:
        """Hands over, each with its fencing token. The ids of the messages that are to be delivered again."""
        unsent = self.executor_queues[action_type].send([_handed_over(one.message, fence) for one, fence in claimed])
        return [claimed[position][0].received.message_id for position in unsent]


@frozen(kw_only=True)
class Relay(HandOver):
    """One batch of the delayer queue."""

    delayer_queue: Queue
    dead_letters: TakesDeadLetters
    lead: Millis  # how long before its point in time a schedule may be claimed and handed over
    gate: Gate
    limits: Limits
    waiting: Successors = field(factory=Successors)

    def __call__(self, batch: Sequence[ReceivedMessage]) -> list[str]:
        """Handles all; returns the ids of the messages that SQS must deliver again."""
        give_back = self.clock.now() + self.lease * 2 // 3
        failed: list[str] = []
        early: list[tuple[Held, int]] = []
        held: list[Held] = []
        late: list[tuple[Held, str]] = []
        for received in batch:
            match self.read(received):
                case Malformed() as malformed, message:
                    failed += self._dead_letter(received, malformed.reason, message)
                case rules.WaitForExecutor(reason), message:
                    self.observer.warn("waits", message.schedule.id if message else "", reason=reason)
                    failed.append(received.message_id)
                case rules.Stale(), message:
                    failed += self._dead_letter(received, "more than 29 days past its point in time", message)
                case rules.Resend(delay), DelayerMessage() as message:
                    early.append((Held(received=received, message=message), delay))
                case Drop(reason), DelayerMessage() as message:
                    late.append((Held(received=received, message=message), reason))
                case _, DelayerMessage() as message:
                    held.append(Held(received=received, message=message))
        ready, in_line, unbooked = self.lined_up(held)
        failed += unbooked + self._resend(early + in_line) + self.drop(late) + self._fire(ready, give_back)
        self._keep_warm(ready)
        return failed

    def _keep_warm(self, handed_over: Sequence[Held]) -> None:
        """One environment of each executor, with each canary: a schedule that is alone finds one that has started.

        When all of the batch is handed over. What cannot be sent is left out: nothing waits for it.
        """
        if not any(one.action_type == CANARY for one in handed_over):
            return
        try:
            others = {id(queue): queue for kind, queue in self.executor_queues.items() if kind != CANARY}
            for queue in others.values():
                queue.send([Outgoing(body=WARM_UP)])
        except Exception as error:  # noqa: BLE001 - all is handed over: whatever is raised would hand it over again
            self.observer.warn("executors are not kept warm", error=repr(error))

    def read(self, received: ReceivedMessage) -> tuple[rules.Decision | Malformed, DelayerMessage | None]:
        """Decides about a message, and returns the part of it that could be read. A message that our own code
        fails at waits.
        """
        message = None
        try:
            message = decode(received.body, DelayerMessage)
            decision = rules.decide(message, self.clock.now(), self.executor_queues, len(received.body))
            return (self.must_wait(message) or decision) if decision == rules.Hold() else decision, message
        except Malformed as error:
            return error, message
        except Exception as error:  # noqa: BLE001 - it is no fault of the message, nor of its neighbours
            return rules.WaitForExecutor(repr(error)), message

    def must_wait(self, message: DelayerMessage) -> rules.Resend | None:
        """A schedule that must wait although it is due waits unclaimed, so that it can still be cancelled (ADR 0110).

        What a circuit has kept for longer than its `maxAgeSeconds` goes on: its executor gives it up, and says so.
        """
        wait = self.gate.closed(message.schedule, message.nonce)
        if wait is None or rules.is_too_old(message, wait.block, self.clock.now()):
            return None
        block = wait.block
        self.observer.note("waits", message.schedule.id, block=block.key, delaySeconds=wait.seconds)
        return rules.Resend(wait.seconds)

    def lined_up(self, held: Sequence[Held]) -> tuple[list[Held], list[tuple[Held, int]], list[str]]:
        """Returns those that go on, those that come again for their turn, with the seconds until then, and those that
        could book none.

        What is limited books its turn here, unclaimed, with one write for the batch (ADR 0114).
        """
        now = self.clock.now()
        needless = [one for one in held if one.message.slots == () and self.waiting.has_successor(one.message)]
        asking = [one for one in held if one not in needless or not self.limits.about(one.message.schedule)]
        turns = self.limits.line_up({one.received.message_id: one.message for one in asking}, now + self.lead)
        ready: list[Held] = []
        in_line = [(one, 0) for one in held if one not in asking]
        unbooked: list[str] = []
        for one in (self._aging(one, now) if one.received.message_id in turns else one for one in asking):
            match turns.get(one.received.message_id, ()):
                case Unavailable() as error:
                    self.observer.warn("waits", one.message.schedule.id, reason=str(error))
                    unbooked.append(one.received.message_id)
                case Come() as come if rules.is_too_old(one.message, come.limit, now):
                    ready.append(one)
                case Come() as come:
                    in_line.append(self._comes_again(one, come.at, now))
                case tuple() as slots:
                    booked = evolve(one, message=evolve(one.message, slots=slots))
                    at = rules.ready_at(booked.message)
                    if at - now > MAX_HOLD:
                        in_line.append(self._comes_again(booked, at, now))
                    else:
                        ready.append(booked)
        return ready, in_line, unbooked

    def _aging(self, one: Held, now: Millis) -> Held:
        """From its first look at a limit, its age counts: not while something else has made it late."""
        return evolve(one, message=evolve(one.message, age_from=aging_from(one.message, now)))

    def _comes_again(self, one: Held, at: Millis, now: Millis) -> tuple[Held, int]:
        """Unclaimed. If it was to probe, another one may."""
        self.gate.give_back(one.message.nonce)
        seconds = seconds_before(at, now)
        self.observer.note("in line", one.message.schedule.id, at=at, delaySeconds=seconds)
        return one, seconds

    def _finish(self, ready: Sequence[Held], outcomes: Sequence[Verdict | Exception]) -> list[str]:
        """A schedule that has ended while it waited probes no target: it must not keep others from doing so."""
        for one, outcome in zip(ready, outcomes, strict=True):
            if _has_ended(outcome):
                self.gate.give_back(one.message.nonce)
        return super()._finish(ready, outcomes)

    def _resend(self, early: Sequence[tuple[Held, int]]) -> list[str]:
        """The same nonce goes back into the queue: not a new copy, only a longer wait. Once, however many there are."""
        needed = [pair for pair in early if not self.waiting.has_successor(pair[0].message)]
        again = {one.name: (one, delay) for one, delay in sorted(needed, key=lambda pair: pair[0].message.hops)}
        if not again:
            return []
        unsent = self.delayer_queue.send([_delayed(one, delay) for one, delay in again.values()])
        left = {name for position, name in enumerate(again) if position in unsent}
        for one, delay in (pair for name, pair in again.items() if name not in left):
            self.waiting.sent(one.message)
            self.observer.note("not yet, sent again", one.message.schedule.id, delaySeconds=delay)
        return [one.received.message_id for one, _ in early if one.name in left]

    def _fire(self, held: Sequence[Held], give_back: Millis) -> list[str]:
        """Group by group, each at its time."""
        failed: list[str] = []
        waiting = {id(one.message): one for one in held}
        while waiting:
            if self.clock.now() > give_back:
                # If its timeout ended this function now, it would leave claims that nobody has handed over.
                return failed + [NotBegun(one.received.message_id) for one in waiting.values()]
            group = rules.next_group([one.message for one in waiting.values()], self.lead)
            self.clock.sleep_until(group.at)
            ready = [waiting.pop(id(message)) for message in group.messages]
            failed += self.hand_over(ready)
        return failed

    def _dead_letter(self, received: ReceivedMessage, reason: str, message: DelayerMessage | None) -> list[str]:
        try:
            self.dead_letters.take(undeliverable(received.body, reason, message))
        except Unavailable:
            return [received.message_id]
        return []


def first_attempt(message: DelayerMessage, fence: str) -> ExecutorMessage:
    """A claimed schedule as it is handed over to its executor."""
    return ExecutorMessage(
        schedule=message.schedule,
        nonce=message.nonce,
        fence=fence,
        attempt=1,
        slots=message.slots,
        age_from=message.age_from,
    )


def _has_ended(outcome: Verdict | Exception) -> bool:
    """Whether it was cancelled, is dropped by its own rule, or is a copy that never fires.

    A copy of what is at its executor has the same nonce, so that the probe may be that one's.
    """
    if isinstance(outcome, Refuse):
        return not isinstance(outcome, UnderWay)
    return isinstance(outcome, LedgerChange) and outcome.row.ended


def _delayed(held: Held, seconds: int) -> Outgoing:
    message = evolve(held.message, hops=held.message.hops + 1)
    group = message_group_of(message.schedule)
    return Outgoing(body=encode_again(held.received.body, message), delay_seconds=seconds, message_group=group)


def _handed_over(message: DelayerMessage, fence: str) -> Outgoing:
    return Outgoing(body=encode(first_attempt(message, fence)), message_group=message_group_of(message.schedule))
