"""Waits for the last fraction of a second, claims, and hands over to the queue of the action."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Final, TypeVar

from attrs import define, evolve, field, frozen

from delayer.actions.rules.message_group import message_group_of
from delayer.dead_letters.dead_letter import TakesDeadLetters, Undeliverable, undeliverable
from delayer.engines.ports import Clock, NotBegun, Observer, Outgoing, Queue, ReceivedMessage, Unavailable
from delayer.enqueue.rules import MoveToDeadLetters
from delayer.flow.room import Line
from delayer.flow.rules.gate import Go, Later
from delayer.ledger.model import LedgerChange, LedgerRow, Refuse, RetryLater, State, UnderWay
from delayer.ledger.ports import LedgerInBatches
from delayer.ledger.rules import Claim, Verdict, decide_claim, decide_drop
from delayer.ledger.use_cases import settle_all
from delayer.relay import rules
from delayer.schedule.instants import Malformed, Millis
from delayer.schedule.messages import WARM_UP, DelayerMessage, ExecutorMessage, decode, encode, encode_again

REMEMBERED: Final = 10_000  # messages
CANARY: Final = "canary"  # the action of Delayer's own schedules (ADR 0075)


@frozen(kw_only=True)
class HandOver:
    """Claims what is due, and hands it over to the queues of the executors: what both lanes do at last.

    Messages go by the id of what has brought them: it is reported for what is to be delivered again.
    """

    clock: Clock
    ledger_in_batches: LedgerInBatches
    executor_queues: Mapping[str, Queue]  # by action type
    observer: Observer
    new_token: Callable[[], str]
    lease: Millis  # this function's timeout, shorter than the queue's visibility timeout

    def hand_over(self, ready: Mapping[str, rules.Ready]) -> list[str]:
        """Claims each, and sends those whose claim is this message's own. The ids of those to be delivered again.

        What its own rule drops is ended. If it may have been handed over before, it is handed over again.
        """
        failed: list[str] = []
        claimed: dict[str, dict[str, ExecutorMessage]] = {}
        for key, outcome in self.claim(ready).items():
            match outcome:
                case LedgerChange() if outcome.row.state is State.CLAIMED:
                    message = first_attempt(ready[key].message, outcome.row.fence)
                    claimed.setdefault(message.schedule.definition.action_type, {})[key] = message
                case RetryLater() | Exception():
                    failed.append(key)
        return failed + [key for action_type in sorted(claimed) for key in self.send(action_type, claimed[action_type])]

    def claim(self, ready: Mapping[str, rules.Ready]) -> dict[str, Verdict | Exception]:
        """The claims that were written, or the ends of those that are to be dropped; or why there is none."""
        now = self.clock.now()
        decisions: list[Callable[[LedgerRow | None], Verdict]] = []
        for one in ready.values():
            claim = Claim(message=one.message, fence=self.new_token(), now=now, lease=self.lease)
            reason = one.reason if isinstance(one, rules.DropLate) else ""
            decisions.append(partial(decide_drop, claim, reason=reason) if reason else partial(decide_claim, claim))
        outcomes = dict(zip(ready, settle_all(self.ledger_in_batches, decisions), strict=True))
        for key, outcome in outcomes.items():
            self._note(ready[key].message, outcome, now)
        return outcomes

    def _note(self, message: DelayerMessage, outcome: Verdict | Exception, now: Millis) -> None:
        schedule = message.schedule
        match outcome:
            case LedgerChange() if outcome.row.state is State.DROPPED:
                self.observer.count("Dropped")
                self.observer.note("dropped", schedule.id, reason=outcome.row.detail)
                self.over(message)
            case LedgerChange() if outcome.row.ended:
                self.observer.note("copy refused", schedule.id, reason=f"already {outcome.row.state}")
                self.over(message)
            case LedgerChange():
                self.observer.count("Claimed")
                self.observer.note("claimed", schedule.id, early=schedule.point_in_time - now)
            case Refuse(reason):
                self.observer.note("copy refused", schedule.id, reason=reason)
                # A copy of what is at its executor has the same nonce: the probe may be that one's.
                if not isinstance(outcome, UnderWay):
                    self.over(message)
            case Exception():
                self.observer.warn("not claimed", schedule.id, error=repr(outcome))

    def over(self, message: DelayerMessage) -> None:
        """It never fires. In the relaxed lane it has kept nobody waiting."""

    def send(self, action_type: str, claimed: Mapping[str, ExecutorMessage]) -> list[str]:
        """Hands over, each with its fencing token. The ids of those that are to be delivered again."""
        handed = [Outgoing(body=encode(o), message_group=message_group_of(o.schedule)) for o in claimed.values()]
        return _at(self.executor_queues[action_type].send(handed), claimed)


@define(kw_only=True)
class Successors:
    """How often the messages were sent again whose successors SQS has taken.

    Each time that a message is sent again it may become two: SQS repeats a delivery, or does not answer a send. None of
    them is claimed, so all would go on, and become more and more as long as their target is suspended. But a message
    counts how often it was sent again, and one that counts more than another makes it needless. So the one that counts
    most is never left out, whatever any clock says.
    """

    at_most: int = REMEMBERED
    _hops: dict[tuple[str, str], int] = field(factory=dict, init=False)

    def has_successor(self, message: DelayerMessage) -> bool:
        """Whether SQS has taken one that was sent again more often."""
        return message.hops <= self._hops.get((message.schedule.id, message.nonce), -1)

    def sent(self, message: DelayerMessage) -> None:
        """A successor of this message is in the queue. The oldest is forgotten if there are too many."""
        before = self._hops.pop((message.schedule.id, message.nonce), -1)
        self._hops[(message.schedule.id, message.nonce)] = max(before, message.hops)
        if len(self._hops) > self.at_most:
            del self._hops[next(iter(self._hops))]


Decision = rules.Ready | Later[DelayerMessage] | rules.WaitForExecutor | Undeliverable
Kind = TypeVar("Kind", bound=Decision)


@frozen(kw_only=True)
class Relay(HandOver):
    """One batch of the delayer queue."""

    delayer_queue: Queue
    dead_letters: TakesDeadLetters
    lead: Millis  # how long before its point in time a schedule may be claimed and handed over
    line: Line
    successors: Successors = field(factory=Successors)

    def __call__(self, batch: Sequence[ReceivedMessage]) -> list[str]:
        """Handles all; returns the ids of the messages that SQS must deliver again."""
        now, bodies = self.clock.now(), {one.message_id: one.body for one in batch}
        return self.carry_out(self._needed({key: self.read(body, now) for key, body in bodies.items()}), bodies, now)

    def carry_out(self, decisions: Mapping[str, Decision], bodies: Mapping[str, str], now: Millis) -> list[str]:
        """Carries out decisions, after a look at what makes schedules wait. The ids of those to be delivered again."""
        due = {key: one.message for key, one in _of(Go, decisions).items()}
        decisions = {**decisions, **self.lined_up(due, now)}
        going = _of(Go, decisions)
        failed = [
            *self._wait(_of(rules.WaitForExecutor, decisions)),
            *self._dead_letter(_of(Undeliverable, decisions)),
            *self._resend(_of(Later, decisions), bodies),
            *self.hand_over(_of(rules.DropLate, decisions)),
            *self._fire(going, give_back=now + self.lease * 2 // 3),
        ]
        self._keep_warm(going)
        return failed

    def read(self, body: str, now: Millis) -> Decision:
        """Decides about a message by itself. One that our own code fails at waits."""
        message = None
        try:
            message = decode(body, DelayerMessage)
            decision = rules.decide(message, now, self.executor_queues, len(body.encode()))
        except Malformed as error:
            return undeliverable(body, error.reason, message)
        except Exception as error:  # noqa: BLE001 - it is no fault of the message, nor of its neighbours
            return _waits(error, message)
        return undeliverable(body, decision.reason, message) if isinstance(decision, MoveToDeadLetters) else decision

    def _needed(self, decisions: Mapping[str, Decision]) -> dict[str, Decision]:
        """Of those that are alike, the one that was sent again most often, unless SQS has taken its successor."""
        alike: dict[tuple[str, str], str] = {}
        messages = {key: one.message for key, one in decisions.items() if isinstance(one, Go | Later)}
        for key, message in sorted(messages.items(), key=lambda one: -one[1].hops):
            alike.setdefault((message.schedule.id, message.nonce), key)
        needed = [key for key in alike.values() if not self.successors.has_successor(messages[key])]
        return {key: one for key, one in decisions.items() if key in needed or key not in messages}

    def lined_up(self, due: Mapping[str, DelayerMessage], now: Millis) -> dict[str, Decision]:
        """Schedules that must wait although they are due wait unclaimed: they can still be cancelled (ADR 0110, 0114).

        What has been kept for longer than its `maxAgeSeconds` goes on: its executor gives it up, and says so. One that
        our own code fails at does not keep its neighbours waiting.
        """
        answers: Mapping[str, Go[DelayerMessage] | Later[DelayerMessage] | Exception]
        try:
            answers = self.line.line_up(due, now + self.lead) if due else {}
        except Exception as error:  # noqa: BLE001 - it is no fault of the message, nor of its neighbours
            if len(due) > 1:
                return {key: one for each in due for key, one in self.lined_up({each: due[each]}, now).items()}
            answers = dict.fromkeys(due, error)
        return {key: _lined_up(answer, due[key], now) for key, answer in answers.items()}

    def _wait(self, waiting: Mapping[str, rules.WaitForExecutor]) -> list[str]:
        for one in waiting.values():
            self.observer.warn("waits", one.schedule_id, reason=one.reason)
        return list(waiting)

    def _dead_letter(self, copies: Mapping[str, Undeliverable]) -> list[str]:
        failed = []
        for key, copy in copies.items():
            try:
                self.dead_letters.take(copy)
            except Unavailable:
                failed.append(key)
        return failed

    def _resend(self, later: Mapping[str, Later[DelayerMessage]], bodies: Mapping[str, str]) -> list[str]:
        """The same nonce goes back into the queue: not a new copy, only a longer wait."""
        if not later:
            return []
        now = self.clock.now()
        again = [_again(bodies[key], one, now) for key, one in later.items()]
        left = _at(self.delayer_queue.send(again), later)
        for (key, one), sent in zip(later.items(), again, strict=True):
            if key not in left:
                self.successors.sent(one.message)
                schedule_id, delay = one.message.schedule.id, sent.delay_seconds
                if one.why:
                    self.observer.note("waits", schedule_id, block=one.why.key, delaySeconds=delay)
                else:
                    self.observer.note("not yet, sent again", schedule_id, delaySeconds=delay)
        return left

    def _fire(self, going: Mapping[str, Go[DelayerMessage]], give_back: Millis) -> list[str]:
        """Group by group, each at its time."""
        failed: list[str] = []
        waiting = dict(going)
        while waiting:
            if self.clock.now() > give_back:
                # If its timeout ended this function now, it would leave claims that nobody has handed over.
                return failed + [NotBegun(key) for key in waiting]
            at, keys = rules.next_group(waiting, self.lead)
            self.clock.sleep_until(at)
            failed += self.hand_over({key: waiting.pop(key) for key in keys})
        return failed

    def over(self, message: DelayerMessage) -> None:
        """It probes no target: it must not keep others from doing so."""
        self.line.over(message)

    def _keep_warm(self, handed_over: Mapping[str, Go[DelayerMessage]]) -> None:
        """With each canary, an environment of each executor: a schedule that is alone finds one that has started."""
        if not any(one.message.schedule.definition.action_type == CANARY for one in handed_over.values()):
            return
        try:
            for queue in {id(queue): queue for kind, queue in self.executor_queues.items() if kind != CANARY}.values():
                queue.send([Outgoing(body=WARM_UP)])
        except Exception as error:  # noqa: BLE001 - all is handed over: whatever is raised would hand it over again
            self.observer.warn("executors are not kept warm", error=repr(error))


def first_attempt(one: DelayerMessage, fence: str) -> ExecutorMessage:
    """A claimed schedule as it is handed over to its executor."""
    return ExecutorMessage(
        schedule=one.schedule,
        nonce=one.nonce,
        fence=fence,
        attempt=1,
        generation=1,
        slots=one.slots,
        age_from=one.age_from,
    )


def _lined_up(answer: Decision | Exception, message: DelayerMessage, now: Millis) -> Decision:
    """As the line has answered about this message."""
    if isinstance(answer, Exception):
        return _waits(answer, message)
    if isinstance(answer, Later) and rules.is_too_old(answer, now):
        return Go(message=answer.message, at=now)
    return answer


def _waits(error: Exception, message: DelayerMessage | None) -> rules.WaitForExecutor:
    return rules.WaitForExecutor(reason=repr(error), schedule_id=message.schedule.id if message else "")


def _of(kind: type[Kind], decisions: Mapping[str, Decision]) -> dict[str, Kind]:
    return {key: one for key, one in decisions.items() if isinstance(one, kind)}


def _at(positions: Sequence[int], keys: Iterable[str]) -> list[str]:
    known = list(keys)
    return [known[position] for position in positions]


def _again(body: str, later: Later[DelayerMessage], now: Millis) -> Outgoing:
    message = evolve(later.message, hops=later.message.hops + 1)
    group, delay = message_group_of(message.schedule), rules.delay_of(later, now)
    return Outgoing(body=encode_again(body, message), delay_seconds=delay, message_group=group)
