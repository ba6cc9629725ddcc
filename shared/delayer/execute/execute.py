"""Makes the attempts at a target, and writes how each ended. The same for every action.

What is done about one message is a course of the desk (ADR 0180): due, room, row, attempt, outcome, and last the
message is deleted.
"""

import traceback
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

from attrs import define, evolve, frozen

from delayer.actions.ports import NotAttempted, Target
from delayer.actions.rules.message_group import message_group_of
from delayer.actions.rules.model import Done, Refused, Result, Retry
from delayer.dead_letters.dead_letter import TakesDeadLetters, undeliverable
from delayer.engines.ports import Clock, NotBegun, Observer, Outgoing, Queue, ReceivedMessage, Unavailable, Workers
from delayer.execute import rules
from delayer.execute.desk import Apart, Course, Desk, SharedRequest, TookTooLong, Until
from delayer.flow.room import Room
from delayer.flow.rules.gate import Go, Later
from delayer.ledger.model import Arrival, LedgerChange, LedgerRow, Refuse, RetryLater, State
from delayer.ledger.ports import Conflict, LedgerInBatches
from delayer.ledger.rules import contested, ended, hopped, may_end, retried, taken
from delayer.schedule import retrying
from delayer.schedule.instants import MAX_HOLD, SECOND, Malformed, Millis
from delayer.schedule.messages import ExecutorMessage, OutcomeMessage, WarmUp, decode_for_executor, encode
from delayer.schedule.schedule import Schedule

Going = Go[ExecutorMessage]
Waiting = Later[ExecutorMessage]

GRACE: Final = 1.0  # second: a target that ends its calls itself, as they all should, does so before
NO_CLAIM: Final = "the ledger has no claim for it"
HELD_AT_MOST: Final[Millis] = 5 * SECOND  # until it has room, those included in which it is not due yet
FRESH: Final[Millis] = SECOND // 2  # an attempt begins so soon after its row was read, or taken
ROUNDS: Final = 5  # times that one message may find its room gone; then it comes again
MOMENT: Final[Millis] = 3  # for outcomes, as targets answer one after the other


@frozen(kw_only=True)
class LineUp:
    """Asks for room."""

    message: ExecutorMessage
    receipt: str


@frozen
class Read:
    """Asks for a row of the ledger. Begun after it was asked for: what was written before is seen."""

    schedule_id: str


@frozen
class Write:
    """Asks for a change of the ledger. The answer is the row that is in the way, if there is one."""

    change: LedgerChange


@frozen
class SendOn:
    """Asks for a message in the action's own queue. The answer is whether it is known to be there."""

    outgoing: Outgoing


@define(eq=False, kw_only=True)
class Held:
    """A message on its way through an executor."""

    received: ReceivedMessage
    message: ExecutorMessage
    in_room: bool = False  # or waits to be: that is to be given back
    known_at: Millis = 0  # when its row was asked for, or its attempt taken
    lateness: Millis = 0  # of its attempt
    reached_at: Millis = 0  # when it began; 0: its target is not being reached
    left_at: Millis = 0  # when it has taken too long; 0: it may take as long as it does
    is_left: bool = False  # it has taken too long

    @property
    def receipt(self) -> str:
        """It tells a delivery of a message from another one of the same, as far as its queue does."""
        return self.received.receipt or self.received.message_id


class TooLateToBegin(NotAttempted):
    """An attempt that begins now could not be brought to its end."""


@frozen(kw_only=True)
class Execute:
    """One batch of an action's queue."""

    clock: Clock
    ledger_in_batches: LedgerInBatches
    own_queue: Queue  # the action's own: retries go back into it
    target: Target
    dead_letters: TakesDeadLetters
    observer: Observer
    workers: Workers
    new_token: Callable[[], str]
    room: Room
    decode: Callable[[str], ExecutorMessage | OutcomeMessage | WarmUp] = decode_for_executor
    seconds: float = 0  # that an attempt may take; 0: it ends by itself
    check: Callable[[ExecutorMessage], None] = lambda _: None  # raises Malformed for an action that it can never do
    permit: Callable[[ExecutorMessage], Refused | None] = lambda _: None  # by the policy of its owner
    is_sure: bool = False  # its queue knows whether it has a message already, and takes it once
    has_time: Callable[[], bool] = lambda: True  # whether an attempt that begins now can end, with its outcome written

    def __call__(
        self, batch: Sequence[ReceivedMessage], beside: Callable[[Desk, "Execute"], Course] | None = None
    ) -> list[str]:
        """Handles all, side by side; returns the ids of the messages that SQS must deliver again.

        `beside` is a course that brings more. What it has of seats is given back at last: a function that is frozen
        would keep them from others.
        """
        self.workers.begin()
        done: dict[str, bool | None] = {}
        desk = Desk(clock=self.clock, workers=self.workers, requests=self.requests())
        try:
            for received in batch:
                desk.begin(self.settle(received), partial(_note, done, received.message_id))
            if beside:
                desk.begin(beside(desk, self), lambda _: None)
            desk.run()
        finally:
            self.room.give_back()
        left = {key: NotBegun(key) if is_done is None else key for key, is_done in done.items() if not is_done}
        return [left[received.message_id] for received in batch if received.message_id in left]

    # ------------------------------------------------------------ what courses ask for

    def requests(self) -> dict[type, SharedRequest]:
        """The requests that its courses make of a desk, in this order."""
        return {
            LineUp: SharedRequest(do=self.line_up),
            Read: SharedRequest(do=self.read),
            SendOn: SharedRequest(do=self.send_all),
            Write: SharedRequest(do=self.write, key_of=lambda asked: asked.change.row.schedule_id, moment=MOMENT),
        }

    def line_up(self, asked: Sequence[LineUp]) -> Sequence[Going | Waiting | Exception]:
        """One look at what makes schedules wait, for all of them."""
        try:
            found = self.room.line_up({one.receipt: one.message for one in asked})
        except Exception as error:  # noqa: BLE001 - a defect of ours harms the message alone that it is about
            if len(asked) == 1:
                return [error]
            return [answer for one in asked for answer in self.line_up([one])]
        return [found[one.receipt] for one in asked]

    def read(self, asked: Sequence[Read]) -> Sequence[LedgerRow | Unavailable | None]:
        """One request."""
        rows = self.ledger_in_batches.read_each([one.schedule_id for one in asked])
        return [rows.get(one.schedule_id) for one in asked]

    def write(self, asked: Sequence[Write]) -> Sequence[LedgerRow | Unavailable | None]:
        """One request."""
        results = self.ledger_in_batches.write([one.change for one in asked])
        return [
            result.current if isinstance(result, Conflict) else result if isinstance(result, Unavailable) else None
            for result in results
        ]

    def send_all(self, asked: Sequence[SendOn]) -> Sequence[bool]:
        """In as few requests as may be."""
        unsent = self.own_queue.send([one.outgoing for one in asked])
        return [position not in unsent for position in range(len(asked))]

    # ------------------------------------------------------------ a message, until its attempt

    def settle(self, received: ReceivedMessage) -> Course:
        """Whether the message may be deleted. What is no fault of the message keeps it: it comes again.

        None: nothing was begun, for want of time, and another function may at once.
        """
        message: ExecutorMessage | OutcomeMessage | None = None
        held: Held | None = None
        try:
            read = self.decode(received.body)
            if isinstance(read, WarmUp):
                return True
            message = read
            if isinstance(message, OutcomeMessage):
                return (yield from self._write_down(rules.made_of(message)))
            self.check(message)
            _ = retrying.policy_of(message.schedule.definition)
            held = Held(received=received, message=message)
            is_done = yield from self.go(held)
        except Malformed as error:
            is_done = yield Apart(partial(self._dead_letter, received, error.reason, message))
        except NotAttempted as error:
            self._warn("not attempted: it comes again", message, reason=str(error))
            is_done = None if isinstance(error, TooLateToBegin) else False
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever is wrong with one message, its neighbours are handled
            self._warn("not settled", message, error=repr(error))
            is_done = False
        if held:
            yield from self._leave(held)
        return is_done

    def go(self, held: Held) -> Course:
        """The ledger is read once there is room for the attempt: before that, a stop would be missed."""
        now = self.clock.now()
        if (early := rules.decide_wait(held.message, now)) and early.at - now > MAX_HOLD:
            self.observer.warn("far too early: it comes again", held.message.schedule.id)
            return False
        for _ in range(ROUNDS):
            later = yield from self._find_room(held)
            held.known_at = self.clock.now()
            row = yield Read(held.message.schedule.id)
            is_done = yield from self._by_row(held, row, later)
            while isinstance(is_done, LedgerRow):  # it was in the way
                is_done = yield from self._by_row(held, is_done, later)
            if is_done is not None:
                return is_done
        self.observer.note("its room was gone each time: it comes again", held.message.schedule.id)
        return False

    def _find_room(self, held: Held) -> Course:
        """Returns None as soon as there is room; what it waits for, if that takes longer than it is held here.

        A turn may be missed again and again, if its line answers slowly: then another message waits on, too.
        """
        kept_since, began = 0, self.clock.now()
        held.in_room = True  # its relay may have named it as a probe
        while True:
            self._check_time()
            due = rules.due_of(held.message)
            if due - self.clock.now() > MAX_HOLD:
                return Later(message=held.message, at=due, why=None)
            answer: Going | Waiting = yield LineUp(message=held.message, receipt=held.receipt)
            held.message = answer.message
            if isinstance(answer, Go):
                return None
            now = self.clock.now()
            if answer.at - now > MAX_HOLD or now - began > HELD_AT_MOST:
                return evolve(answer, at=max(answer.at, now + HELD_AT_MOST))
            kept_since = (kept_since or now) if answer.message.slots else 0  # for its turn, and not for room
            yield Until(answer.at, kept_since=kept_since, for_room=answer.at - now <= self.room.step)

    def _by_row(self, held: Held, row: LedgerRow | None, later: Waiting | None) -> Course:
        """Whether the message may be deleted; or the row that is in the way; None: room is to be found again."""
        message = held.message
        match rules.decide_attempt(message, row):
            case rules.Attempt() | rules.Take() as decision if row:
                if later := rules.decide_later(message, row, later, self.clock.now()):
                    return (yield from self.put_off(held, row, later))
                if isinstance(decision, rules.Take):
                    return (yield from self.take(held, row))
                return (yield from self.attempt(held, row))
            case rules.SendNext() if row:
                return (yield from self._send_next(message, row))
            case rules.DropStopped() if row:
                return (yield from self._stop(message, evolve(row, attempt=message.attempt - 1)))
            case Refuse(reason):
                self.observer.note("copy refused", message.schedule.id, reason=reason)
                return True
            case RetryLater():
                self.observer.note("overtaken by a new claim, read again later", message.schedule.id)
                return False
            case _:
                return (yield Apart(partial(self._dead_letter, held.received, NO_CLAIM, message)))

    def put_off(self, held: Held, row: LedgerRow, later: Waiting) -> Course:
        """It is held here, or another message waits on: no attempt is used up, but its age goes on.

        A long delay takes several messages, one after the other (ADR 0087). The ledger first, with a token of its own
        for the one that waits on: after a crash before its send, and if nobody knows whether it was sent, this one
        comes back and finds its token in `retry_of`.
        """
        yield from self._leave(held)
        held.message = message = later.message
        now, at = self.clock.now(), later.at
        if at - now <= MAX_HOLD:
            yield Until(at)
            return None
        if block := later.why:
            policy = retrying.policy_of(message.schedule.definition)
            if reason := rules.decide_too_old(message, row, block, policy, now):
                lateness = row.lateness if row.was_attempted else rules.lateness(message, now)
                unattempted = evolve(row, lateness=lateness, answer="", attempted_at=0)
                return (yield from self.fail(message, unattempted, reason))
            at = rules.at_last(message, row, later, policy, now)
            self.observer.note("waits", message.schedule.id, block=block.key, delaySeconds=(at - now) // SECOND)
        following = hopped(row, self.new_token(), now, after=message.fence, retry_at=at)
        current = yield Write(LedgerChange(row=following, over=row))
        if current is not None:
            return current
        now = self.clock.now()
        delay = rules.hop_seconds(message, following.retry_at, now)
        self.observer.note("too early for its attempt, sent again", message.schedule.id, delaySeconds=delay)
        due = rules.not_before(following.retry_at, now)
        again = evolve(message, fence=following.fence, not_before=due, generation=following.generation)
        return (yield from self.send(again, delay))

    def take(self, held: Held, row: LedgerRow) -> Course:
        """The gate, and then the ledger: no other message makes this attempt from now on."""
        self._check_time()
        entered = yield Apart(partial(self.enter, held, row))
        if isinstance(entered, Later):
            return (yield from self.put_off(held, row, entered))
        following, held.known_at = taken(row, held.message.fence), self.clock.now()
        current = yield Write(LedgerChange(row=following, over=row))
        if current is not None:
            return current
        return (yield from self.attempt(held, following))

    # ------------------------------------------------------------ its attempt

    def attempt(self, held: Held, row: LedgerRow) -> Course:
        """In a thread of its own, which is left behind if it takes too long; and then its outcome."""
        attempt = Apart(
            partial(self.make, held, row),
            left_at=lambda: held.left_at,
            kept_since=lambda: held.reached_at,
        )
        try:
            made = yield attempt
            while isinstance(made, Go):  # its turn is near
                if made.at - self.clock.now() > MAX_HOLD:
                    self._warn("far too early: it comes again", held.message)
                    return False
                yield Until(made.at, kept_since=self.clock.now())
                made = yield attempt
        except TookTooLong:
            held.is_left = True
            late = Retry(detail=f"it took longer than {self.seconds:g} s", is_outage=True)
            made = yield Apart(partial(self._made, held, late, is_probe=False))
        if isinstance(made, Later):
            return (yield from self.put_off(held, row, made))
        try:
            return (yield from self.record(made, row))
        except Exception as error:  # noqa: BLE001 - whatever it is, the attempt was made, and must not be made again
            self._warn("the outcome could not be written", made.message, error=repr(error))
            return (yield from self.carry(made))

    def enter(self, held: Held, row: LedgerRow) -> Going | Waiting:
        """The last look of the room, which may take it in anew. Raises Unavailable."""
        held.in_room = True
        entered = self.room.enter(held.message, held.receipt, is_taken=row.arrival is Arrival.TAKEN)
        held.message = entered.message
        return entered

    def make(self, held: Held, row: LedgerRow) -> rules.Made | Going | Waiting | None:
        """In a thread of its own: the last look, the attempt, and what is told of it. Go: its turn is to come.

        Raises NotAttempted, or Unavailable, before the target was reached.
        """
        self._check_time()
        if early := rules.decide_wait(held.message, self.clock.now()):
            return Go(message=held.message, at=early.at)
        refused, is_probe = self.permit(held.message), False
        if refused is None:
            entered = self.enter(held, row)
            if isinstance(entered, Later) or entered.at > self.clock.now():
                return entered
            is_probe = entered.is_probe
        self._check_time()
        now = self.clock.now()
        if not 0 <= now - held.known_at <= FRESH:
            return Later(message=held.message, at=now, why=None)  # a stop may have come: its row is read again
        held.lateness = rules.lateness(held.message, now)
        held.reached_at = now
        held.left_at = now + round((self.seconds + GRACE) * SECOND) if self.seconds else 0
        result = refused or self.reach(held.message)
        held.reached_at = held.left_at = 0  # what is told of it now is no part of the attempt
        return None if held.is_left else self._made(held, result, is_probe=is_probe)

    def _made(self, held: Held, result: Result, *, is_probe: bool) -> rules.Made:
        """It was made: whatever is raised here, it must not be made again. Its room is others' from now on.

        A schedule that has probed in vain waits as all others do: its own delays are for attempts that count.
        """
        message, lateness = held.message, held.lateness
        is_probe = is_probe and (isinstance(result, Done) or result.reached)
        try:
            held.in_room = False
            self.room.made(message, held.receipt, result)
            if is_probe and isinstance(result, Retry):
                result = evolve(result, after_seconds=max(result.after_seconds or 0, self.room.pause(message)))
        except Exception as error:  # noqa: BLE001 - see above
            self._warn("what waits was not told of an attempt", message, error=repr(error))
        if message.attempt == 1:
            self._measure(message.schedule, lateness)
        return rules.Made(message=message, result=result, lateness=lateness, is_probe=is_probe)

    def reach(self, message: ExecutorMessage) -> Result:
        """One attempt. A target that raises has a defect; that counts as an attempt like any other.

        So does one that returns no result: what is not counted would be repeated for ever. Raises NotAttempted.
        """
        return reached(self.target, message, self.observer)

    def _check_time(self) -> None:
        if not self.has_time():
            raise TooLateToBegin("no time left for an attempt")

    def _leave(self, held: Held) -> Course:
        """It makes no attempt now: what it has of room, and the probe, are others'."""
        if held.in_room:
            held.in_room = False
            yield Apart(partial(self.room.over, held.message, held.receipt))

    def _measure(self, schedule: Schedule, lateness: Millis) -> None:
        """A relaxed schedule is late by nature: what is alarmed about the others does not see it (ADR 0097)."""
        self.observer.measure_lateness(lateness, "RelaxedLateness" if schedule.is_relaxed else "Lateness")
        if lateness >= rules.LATE and not schedule.is_relaxed:
            self.observer.count("Late")

    # ------------------------------------------------------------ its outcome

    def record(self, made: rules.Made, row: LedgerRow) -> Course:
        """Writes what came of an attempt, over the row that was read. Whether its message may be deleted."""
        message = made.message
        lateness = made.lateness if message.attempt == 1 else row.lateness
        row = evolve(row, answer=made.result.answer, attempted_at=rules.attempted_at(made), lateness=lateness)
        if isinstance(made.result, Done):
            return (yield from self._executed(made, row, made.result))
        row = evolve(row, age_from=rules.age_from(made, row))
        policy = retrying.policy_of(message.schedule.definition)
        match rules.decide_next(made, made.result, policy, row.age_from, row.probes):
            case rules.TryAgain(delay):
                return (yield from self._try_again(made, row, delay))
            case rules.GiveUp(reason):
                return (yield from self.fail(message, row, reason))

    def carry(self, made: rules.Made) -> Course:
        """A message that carries the outcome takes the place of the attempt's own. Whether it is known to be sent."""
        return (yield self._put(rules.carried(made), rules.CARRIED_SECONDS))

    def _write_down(self, made: rules.Made) -> Course:
        """The attempt was made before. Whether the message may be deleted: until then it comes again."""
        message = made.message
        row: LedgerRow | None = yield Read(message.schedule.id)
        if row is None:
            self._warn("its row has expired before its outcome was written", message)
            return True
        if isinstance(made.result, Done):
            if may_end(row, message.nonce, message.fence, message.attempt, State.EXECUTED):
                return (yield from self.record(made, row))
            self._warn("ended otherwise", message, wanted="executed", current=row.state)
            return True
        match rules.decide_attempt(message, row):
            case rules.Attempt() | rules.Take() | rules.DropStopped():
                return (yield from self.record(made, row))
            case rules.SendNext():
                return (yield from self._send_next(message, row))
            case RetryLater():
                return False
            case _:
                self.observer.note("copy refused", message.schedule.id, reason="overtaken after its attempt")
                return True

    def _executed(self, made: rules.Made, row: LedgerRow, result: Done) -> Course:
        message = made.message
        if (yield from self.end(message, row, State.EXECUTED, result.detail)) is None:
            self.observer.count("Executed")
            facts = {"attempt": message.attempt, "latenessMs": made.lateness, "detail": result.detail}
            self.observer.note("executed", message.schedule.id, **facts)
        return True

    def _try_again(self, made: rules.Made, row: LedgerRow, delay: int) -> Course:
        """The ledger first: after a crash before the send, the message comes back and finds its token in `retry_of`."""
        message, detail = made.message, made.result.detail
        while True:
            now = self.clock.now()
            following = retried(
                row,
                self.new_token(),
                now,
                detail,
                retry_at=now + delay * SECOND,
                after=message.fence,
                answer=row.answer,
                attempted_at=row.attempted_at,
                is_probe=made.is_probe,
            )
            current = yield Write(LedgerChange(row=following, over=row))
            if current is None:
                break
            is_own = may_end(current, message.nonce, message.fence, message.attempt, State.FAILED)
            if not is_own or current.stopped_at:
                return (yield from self._overtaken(message, rules.with_attempt(current, row, detail)))
            row = rules.with_attempt(current, row, detail)  # still its own: contested meanwhile
        self.observer.count("Retried")
        what = "probe failed" if made.is_probe else "attempt failed"
        facts = {"attempt": message.attempt, "retrySeconds": delay, "detail": detail}
        self.observer.note(what, message.schedule.id, **facts)
        return (yield from self.send_for(message, following, now))

    def _overtaken(self, message: ExecutorMessage, current: LedgerRow) -> Course:
        """Another copy of this message was faster, whatever became of this attempt. The current row decides."""
        decision = rules.decide_attempt(message, current)
        if isinstance(decision, rules.SendNext):
            return (yield from self._send_next(message, current))
        if isinstance(decision, rules.DropStopped):
            return (yield from self._stop(message, current))
        self.observer.note("copy refused", message.schedule.id, reason="overtaken during its attempt")
        return isinstance(decision, Refuse)

    def _stop(self, message: ExecutorMessage, row: LedgerRow) -> Course:
        """Its owner asked for no further attempt. `row` has the last that is known to have been made."""
        last = f"; before that: {row.detail}" if row.detail else ""
        unattempted = evolve(row, answer="", attempted_at=0)  # no attempt leads to this end
        current = yield from self.end(message, unattempted, State.DROPPED, f"stopped by its owner{last}")
        if current is not None:
            return (yield from self._overtaken(message, current))
        self.observer.count("Dropped")
        self.observer.note("stopped", message.schedule.id, attempt=row.attempt)
        return True

    def _send_next(self, message: ExecutorMessage, row: LedgerRow) -> Course:
        """The function that wrote the row may have died before its send, or its send may have arrived all the same.

        So another is sent, with a token of its own, and from now on the first that arrives makes the attempt. Neither
        is refused before that: the one that is left may be the only one (ADR 0084).
        """
        if self.is_sure:  # the same once more: the queue has it, or takes it now
            return (yield from self.send_for(message, row, self.clock.now()))
        if row.arrival is not Arrival.CONTESTED:
            current = yield Write(LedgerChange(row=contested(row), over=row))
            if current is not None:
                return (yield from self._overtaken(message, current))
        again = evolve(row, fence=self.new_token(), age_from=row.age_from or message.age_from)
        return (yield from self.send_for(message, again, self.clock.now()))

    def send_for(self, message: ExecutorMessage, row: LedgerRow, now: Millis) -> Course:
        """The message for the attempt that a row plans. Whether it is known to be in the queue."""
        again = evolve(
            message,
            attempt=row.attempt,
            fence=row.fence,
            slots=(),
            not_before=rules.not_before(row.retry_at, now),
            age_from=row.age_from,
            generation=row.generation,
        )
        return (yield from self.send(again, rules.seconds_until(row.retry_at, now)))

    def send(self, message: ExecutorMessage, delay: int) -> Course:
        """Whether it is known to be in the queue."""
        return (yield self._put(message, delay))

    def _put(self, message: ExecutorMessage | OutcomeMessage, delay: int) -> SendOn:
        is_once = self.is_sure and isinstance(message, ExecutorMessage)
        group, once = message_group_of(message.schedule), message.fence if is_once else ""
        return SendOn(Outgoing(body=encode(message), delay_seconds=delay, message_group=group, once=once))

    def fail(self, message: ExecutorMessage, row: LedgerRow, reason: str) -> Course:
        """The body is stored first: a failed schedule can be redriven. Whether the message may be deleted."""
        key = yield Apart(partial(self.dead_letters.store_failed, message, reason))
        current = yield from self.end(message, row, State.FAILED, reason)
        if current is not None:
            yield Apart(partial(self.dead_letters.release_failed, key, current))
            return (yield from self._overtaken(message, current))
        self.observer.count("Failed")
        self._warn("failed", message, attempt=message.attempt, reason=reason, key=key)
        return True

    def end(self, message: ExecutorMessage, row: LedgerRow, state: State, detail: str) -> Course:
        """Writes the outcome over the claim. If that is not allowed, returns the current row."""
        row_lateness, answer, attempted_at = row.lateness, row.answer, row.attempted_at
        while True:
            following = ended(row, state, self.clock.now(), detail, answer, attempted_at)
            current = yield Write(LedgerChange(row=following, over=row))
            if current is None:
                return None
            if not may_end(current, message.nonce, message.fence, message.attempt, state):
                self._warn("ended otherwise", message, wanted=state, current=current.state)
                return current
            row = current
            if state is State.EXECUTED:  # another copy wrote it, and did not know of this attempt
                row = evolve(current, attempt=message.attempt, lateness=row_lateness or current.lateness)

    def _dead_letter(
        self, received: ReceivedMessage, reason: str, message: ExecutorMessage | OutcomeMessage | None
    ) -> bool:
        try:
            self.dead_letters.take(undeliverable(received.body, reason, message))
        except Exception as error:  # noqa: BLE001 - its neighbours are handled
            self._warn("not dead-lettered", message, error=repr(error))
            return False
        return True

    def _warn(self, event: str, message: ExecutorMessage | OutcomeMessage | None, **facts: Any) -> None:
        self.observer.warn(event, message.schedule.id if message else "", **facts)


def reached(target: Target, message: ExecutorMessage, observer: Observer) -> Result:
    """One attempt at a target, whatever that does. Raises NotAttempted."""
    schedule_id = message.schedule.id
    try:
        result = target(message)
    except NotAttempted:
        raise
    except (Exception, SystemExit) as error:  # noqa: BLE001 - it must not take the batch along
        where = traceback.format_tb(error.__traceback__)  # its text may hold what a client sent (ADR 0067)
        observer.warn("the target raised", schedule_id, error=type(error).__name__, where=where)
        return Retry(detail=f"the executor failed: {type(error).__name__}", reached=False)
    if not isinstance(result, Result):
        observer.warn("the target returned no result", schedule_id, returned=type(result).__name__)
        return Retry(detail="the executor returned no Done, Retry or Refused", reached=False)
    return result


def _note(done: dict[str, bool | None], message_id: str, is_done: bool | None) -> None:
    """Of two deliveries of one message, it is done if both are."""
    done[message_id] = done.get(message_id, True) and is_done
