"""Makes the attempts at a target, and writes how it ended. The same for every action."""

import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Final

from attrs import evolve, frozen

from delayer.actions.ports import NotAttempted, Target
from delayer.actions.rules.message_group import message_group_of
from delayer.actions.rules.model import Done, Refused, Result, Retry
from delayer.dead_letters.dead_letter import TakesDeadLetters, undeliverable
from delayer.engines.ports import Clock, Observer, Outgoing, Parallel, Queue, ReceivedMessage, Unavailable
from delayer.execute import rules
from delayer.execute.together import LedgerTogether
from delayer.flow.rules.block import Block, Party, aging_from
from delayer.flow.rules.gate import SHORTEST_WAIT, Wait, crowd_wait, seat_wait
from delayer.flow.rules.limit import PREPARE, Come, turn_of
from delayer.flow.use_cases.breaker import Breaker
from delayer.flow.use_cases.limits import Limits, Missed, due_of
from delayer.flow.use_cases.seats import Crowded, NoSeat, Seating, Slots
from delayer.ledger.model import Arrival, LedgerChange, LedgerRow, Refuse, RetryLater, State
from delayer.ledger.ports import Conflict
from delayer.ledger.rules import contested, ended, hopped, may_end, retried, taken
from delayer.schedule import retrying
from delayer.schedule.instants import MAX_HOLD, SECOND, Malformed, Millis, UnknownVersion
from delayer.schedule.messages import ExecutorMessage, OutcomeMessage, Slot, WarmUp, decode_for_executor, encode
from delayer.schedule.schedule import Schedule

ROUNDS: Final = 5  # turns of a limit that one message may miss; then it comes again


@frozen(kw_only=True)
class Execute:
    """One batch of an action's queue."""

    clock: Clock
    ledger_together: LedgerTogether
    own_queue: Queue  # the action's own: retries go back into it
    target: Target
    dead_letters: TakesDeadLetters
    observer: Observer
    parallel: Parallel
    new_token: Callable[[], str]
    breaker: Breaker
    slots: Slots
    limits: Limits
    seating: Seating
    check: Callable[[ExecutorMessage], None] = lambda _: None  # raises Malformed for an action that it can never do
    permit: Callable[[ExecutorMessage], Refused | None] = lambda _: None  # by the policy of its owner
    has_time: Callable[[], bool] = lambda: True  # whether an attempt that begins now can end, with its outcome written

    def __call__(self, batch: Sequence[ReceivedMessage]) -> list[str]:
        """Handles all, side by side; returns the ids of the messages that SQS must deliver again."""
        turns = self._turns(batch)
        self._expect_seats(batch, turns)
        with self.ledger_together.batch(len(batch)) as end:
            settled = self.parallel.map(lambda one: self._one_of_many(one, turns.get(one.message_id, ()), end), batch)
        return [received.message_id for received, done in zip(batch, settled, strict=True) if not done]

    def _turns(self, batch: Sequence[ReceivedMessage]) -> dict[str, tuple[Slot, ...]]:
        """The turns that are booked for what is limited: one write for the batch. What finds none tries by itself."""
        try:
            if not self.limits.any():
                return {}
            now = self.clock.now()
            messages = {one.message_id: found for one in batch if (found := _limited(one, now))}
            booked = self.limits.line_up(messages, now + PREPARE // 2)
        except Exception as error:  # noqa: BLE001 - each message says by itself what is wrong
            self.observer.warn("no turns booked for the batch", error=repr(error))
            return {}
        return {key: slots for key, slots in booked.items() if isinstance(slots, tuple)}

    def _expect_seats(self, batch: Sequence[ReceivedMessage], turns: Mapping[str, tuple[Slot, ...]]) -> None:
        """For what is limited, and has its turn while this batch is handled: one write for each limit."""
        try:
            if not self.seating.any():
                return
            now = self.clock.now()
            self.seating.expect(
                message
                for one in batch
                if (message := _limited(one, now)) and turn_of(turns.get(one.message_id, ()), 0) - now <= MAX_HOLD
            )
        except Exception as error:  # noqa: BLE001 - each message says by itself what is wrong
            self.observer.warn("no seats taken for the batch", error=repr(error))

    def _one_of_many(self, received: ReceivedMessage, slots: tuple[Slot, ...], end: Callable[[], None]) -> bool:
        try:
            return self._settle(received, slots)
        finally:
            end()

    def _settle(self, received: ReceivedMessage, slots: tuple[Slot, ...] = ()) -> bool:
        """Whether the message may be deleted. What is no fault of the message keeps it: it comes again."""
        message: ExecutorMessage | OutcomeMessage | None = None
        try:
            read = decode_for_executor(received.body)
            if isinstance(read, WarmUp):
                return True
            message = read
            if isinstance(message, OutcomeMessage):
                return self._write_down(rules.made_of(message))
            self.check(message)
            return self._when_due(received, evolve(message, slots=slots) if slots else message)
        except Malformed as error:
            return self._dead_letter(received, error.reason, message)
        except NotAttempted as error:
            self.observer.warn(
                "not attempted: it comes again", message.schedule.id if message else "", reason=str(error)
            )
            return False
        except Exception as error:  # noqa: BLE001 - whatever is wrong with one message, its neighbours are handled
            self.observer.warn("not settled", message.schedule.id if message else "", error=repr(error))
            return False

    def _when_due(self, received: ReceivedMessage, message: ExecutorMessage) -> bool:
        match rules.decide_wait(message, self.clock.now()):
            case rules.HoldUntil(until):
                with self.ledger_together.waiting():
                    self.clock.sleep_until(until)
            case rules.FarTooEarly():
                self.observer.warn("far too early: it comes again", message.schedule.id)
                return False
        return self._with_room(received, message)

    def _with_room(self, received: ReceivedMessage, message: ExecutorMessage) -> bool:
        """The ledger is read once there is room for the attempt: before that, a stop would be missed."""
        party = self.breaker.gate.party_of(message.schedule)
        for _ in range(ROUNDS):
            with self._until_turn(message):
                message, come = self.limits.turn(message)  # what waits here for its turn keeps its batch waiting
            if come:
                return self._go_on(received, message, self.ledger_together.read(message.schedule.id), full=come)
            if wait := self.breaker.gate.wait_for(message.schedule, message.nonce):  # that needs no room
                return self._go_on(received, message, self.ledger_together.read(message.schedule.id), full=wait)
            try:
                with ExitStack() as room:
                    with self.ledger_together.waiting():
                        room.enter_context(self.seating.one(message))
                        room.enter_context(self.slots.one(party))
                    return self._go_on(received, message, self.ledger_together.read(message.schedule.id))
            except Missed:
                self.observer.note("its turn was missed", message.schedule.id)
            except NoSeat as error:
                self.breaker.crowded(party)
                message = evolve(message, age_from=aging_from(message, self.clock.now()))
                return self._go_on(received, message, self.ledger_together.read(message.schedule.id), full=error.limit)
            except Crowded:
                self.breaker.crowded(party)
                return self._go_on(received, message, self.ledger_together.read(message.schedule.id), full=party)
        return False

    @contextmanager
    def _until_turn(self, message: ExecutorMessage) -> Iterator[None]:
        """A message without turns waits for none, and the time in which the list of limits is read is no waiting for a
        target.
        """
        if not message.slots:
            yield
            return
        with self.slots.kept_waiting(), self.ledger_together.waiting():
            yield

    def _go_on(
        self,
        received: ReceivedMessage,
        message: ExecutorMessage,
        row: LedgerRow | None,
        full: Party | Come | Block | Wait | None = None,
    ) -> bool:
        match rules.decide_attempt(message, row):
            case rules.Attempt() | rules.Take() if row and (wait := self.waits(received, message, row, full)):
                return self._wait(received, message, row, wait)
            case rules.Attempt() if row:
                return self._attempt(received, message, row)
            case rules.Take() if row:
                return self._take(received, message, row)
            case rules.SendNext() if row:
                return self._send_next(message, row)
            case rules.DropStopped() if row:
                is_settled = self._stop(message, evolve(row, attempt=message.attempt - 1))
                self._give_back_probe(received, message)
                return is_settled
            case Refuse(reason):
                self.observer.note("copy refused", message.schedule.id, reason=reason)
                return True
            case RetryLater():
                self.observer.note("overtaken by a new claim, read again later", message.schedule.id)
                return False
            case _:
                return self._dead_letter(received, "the ledger has no claim for it", message)

    def _take(self, received: ReceivedMessage, message: ExecutorMessage, row: LedgerRow) -> bool:
        """The ledger first: no other message makes this attempt from now on."""
        following = taken(row, message.fence)
        with self._probe_given_back(received, message):
            current = self._write(row, following)
        if current is None:
            return self._attempt(received, message, following)
        self._give_back_probe(received, message)
        return self._go_on(received, message, current)

    def waits(
        self,
        received: ReceivedMessage,
        message: ExecutorMessage,
        row: LedgerRow,
        full: Party | Come | Block | Wait | None,
    ) -> rules.HoldUntil | rules.Hop | Wait | Come | None:
        """Why its target must not be reached now. An attempt that was taken waits because of a limit only."""
        if isinstance(full, Come):
            return rules.decide_early(row, self.clock.now()) or full
        if isinstance(full, Block):
            return self._waits_for_seat(message, row, full)
        if row.arrival is Arrival.TAKEN:
            return None
        now = self.clock.now()
        early = rules.decide_early(row, now)
        if isinstance(full, Wait):  # for what it has to wait was seen: another look may find that it is over
            return early if isinstance(early, rules.Hop) else full
        closed = early or self.breaker.gate.closed(message.schedule, message.nonce, _receipt(received))
        if full is None or isinstance(closed, rules.Hop | Wait):
            return closed
        return crowd_wait(full, message.nonce, max(row.at, message.schedule.point_in_time), now)

    def _waits_for_seat(
        self, message: ExecutorMessage, row: LedgerRow, limit: Block
    ) -> rules.HoldUntil | rules.Hop | Wait:
        """As for room. An attempt that waits for another reason asks again as well."""
        now = self.clock.now()
        since = max(row.at, message.schedule.point_in_time)
        return rules.decide_early(row, now) or seat_wait(limit, message.nonce, since, now)

    def _wait(
        self,
        received: ReceivedMessage,
        message: ExecutorMessage,
        row: LedgerRow,
        wait: rules.HoldUntil | rules.Hop | Wait | Come,
    ) -> bool:
        """A message that waits uses up no attempt, but its age goes on: it fails when it is too old for another one.

        If it was to probe, and has no room, another one may.
        """
        if not isinstance(wait, Wait | Come):
            return self.wait_on(received, message, row, wait)
        self._give_back_probe(received, message)
        now = self.clock.now()
        policy = retrying.policy_of(message.schedule.definition)
        block = wait.limit if isinstance(wait, Come) else wait.block
        if reason := rules.decide_too_old(message, row, block, policy, now):
            lateness = row.lateness if row.was_attempted else rules.lateness(message, now)
            return self.fail(message, evolve(row, lateness=lateness, answer="", attempted_at=0), reason)
        until = (
            min(wait.at, rules.given_up_at(message, row, block, policy, now))
            if isinstance(wait, Come)
            else now + wait.seconds * SECOND
        )
        self.observer.note("waits", message.schedule.id, block=block.key, delaySeconds=(until - now) // SECOND)
        return self.wait_on(received, message, row, rules.Hop(until))

    def wait_on(
        self,
        received: ReceivedMessage,
        message: ExecutorMessage,
        row: LedgerRow,
        early: rules.HoldUntil | rules.Hop,
    ) -> bool:
        """A long delay takes several messages, one after the other; none of them is an attempt (ADR 0087).

        The ledger first, with a token of its own for the one that waits on: after a crash before its send, and if
        nobody knows whether it was sent, this one comes back and finds its token in `retry_of`.
        """
        if isinstance(early, rules.HoldUntil):
            with self.ledger_together.waiting():
                self.clock.sleep_until(early.until)
            return self._go_on(received, message, self.ledger_together.read(message.schedule.id))
        following = hopped(row, self.new_token(), self.clock.now(), after=message.fence, retry_at=early.until)
        current = self._write(row, following)
        if current is not None:
            return self._go_on(received, message, current)
        now = self.clock.now()
        delay = rules.hop_seconds(message, following.retry_at, now)
        self.observer.note("too early for its attempt, sent again", message.schedule.id, delaySeconds=delay)
        due = rules.not_before(following.retry_at, now)
        return self.send(evolve(message, fence=following.fence, not_before=due), delay)

    def _attempt(self, received: ReceivedMessage, message: ExecutorMessage, row: LedgerRow) -> bool:
        with self._probe_given_back(received, message):
            if not self.has_time():
                raise NotAttempted("no time left for an attempt")
            refused = self.permit(message)
            # It may be a read, which a turn and a seat have no time for.
            is_probe = self.breaker.gate.is_probe(message.schedule, message.nonce)
            if refused is None:
                self.seating.begin(message)
                self.limits.begin(message)
            lateness = rules.lateness(message, self.clock.now())
            with self.ledger_together.attempting(), self.slots.kept_waiting():
                result = refused or self.reach(message)
        is_probe = is_probe and (isinstance(result, Done) or result.reached)
        made = rules.Made(message=message, result=result, lateness=lateness, is_probe=is_probe)
        if message.attempt == 1:
            self._measure(message.schedule, lateness)
        self.breaker.made(message, made.result, _receipt(received))
        try:
            made = self._until_next_probe(made)
            return self.record(made, row)
        except Exception as error:  # noqa: BLE001 - whatever it is, the attempt was made, and must not be made again
            self.observer.warn("the outcome could not be written", message.schedule.id, error=repr(error))
            return self.carry(made)

    @contextmanager
    def _probe_given_back(self, received: ReceivedMessage, message: ExecutorMessage) -> Iterator[None]:
        """If anything is raised in here, the target was not reached: another one may probe at once."""
        try:
            yield
        except Exception:
            self._give_back_probe(received, message)
            raise

    def _give_back_probe(self, received: ReceivedMessage, message: ExecutorMessage) -> None:
        """Unless a copy of the message holds it."""
        self.breaker.gate.give_back(message.nonce, _receipt(received))

    def _until_next_probe(self, made: rules.Made) -> rules.Made:
        """A schedule that has probed in vain waits as all others do: its own delays are for attempts that count."""
        schedule, result = made.message.schedule, made.result
        if not (made.is_probe and isinstance(result, Retry)):
            return made
        wait = self.breaker.gate.wait_for(schedule, made.message.nonce)
        seconds = max(result.after_seconds or 0, wait.seconds if wait else SHORTEST_WAIT)
        return evolve(made, result=evolve(result, after_seconds=seconds))

    def record(self, made: rules.Made, row: LedgerRow) -> bool:
        """Writes what came of an attempt, over the row that was read. Whether its message may be deleted."""
        message = made.message
        row = evolve(row, answer=made.result.answer, attempted_at=rules.attempted_at(made))
        if message.attempt == 1:
            row = evolve(row, lateness=made.lateness)
        if isinstance(made.result, Done):
            return self._executed(message, row, made.result, made.lateness)
        row = evolve(row, age_from=rules.age_from(made, row))
        policy = retrying.policy_of(message.schedule.definition)
        match rules.decide_next(made, made.result, policy, row.age_from, row.probes):
            case rules.TryAgain(delay):
                return self._try_again(made, row, delay, made.result.detail)
            case rules.GiveUp(reason):
                return self.fail(message, row, reason)

    def carry(self, made: rules.Made) -> bool:
        """A message that carries the outcome takes the place of the attempt's own. Whether it is known to be sent."""
        return self._put(rules.carried(made), rules.CARRIED_SECONDS)

    def _write_down(self, made: rules.Made) -> bool:
        """The attempt was made before. Whether the message may be deleted: until then it comes again."""
        message = made.message
        row = self.ledger_together.read(message.schedule.id)
        if row is None:
            self.observer.warn("its row has expired before its outcome was written", message.schedule.id)
            return True
        if isinstance(made.result, Done):
            if may_end(row, message.nonce, message.fence, message.attempt, State.EXECUTED):
                return self.record(made, row)
            self.observer.warn("ended otherwise", message.schedule.id, wanted="executed", current=row.state)
            return True
        match rules.decide_attempt(message, row):
            case rules.Attempt() | rules.Take() | rules.DropStopped():
                return self.record(made, row)
            case rules.SendNext():
                return self._send_next(message, row)
            case RetryLater():
                return False
            case _:
                self.observer.note("copy refused", message.schedule.id, reason="overtaken after its attempt")
                return True

    def reach(self, message: ExecutorMessage) -> Result:
        """One attempt. A target that raises has a defect; that counts as an attempt like any other.

        So does one that returns no result: what is not counted would be repeated for ever. Raises NotAttempted.
        """
        try:
            result = self.target(message)
        except NotAttempted:
            raise
        except Exception as error:  # noqa: BLE001 - it must not take the batch along
            where = traceback.format_tb(error.__traceback__)  # its text may hold what a client sent (ADR 0067)
            self.observer.warn("the target raised", message.schedule.id, error=type(error).__name__, where=where)
            return Retry(detail=f"the executor failed: {type(error).__name__}", reached=False)
        if not isinstance(result, Result):
            self.observer.warn("the target returned no result", message.schedule.id, returned=type(result).__name__)
            return Retry(detail="the executor returned no Done, Retry or Refused", reached=False)
        return result

    def _measure(self, schedule: Schedule, lateness: int) -> None:
        """A relaxed schedule is late by nature: what is alarmed about the others does not see it (ADR 0097)."""
        self.observer.measure_lateness(lateness, "RelaxedLateness" if schedule.is_relaxed else "Lateness")
        if lateness >= rules.LATE and not schedule.is_relaxed:
            self.observer.count("Late")

    def _executed(self, message: ExecutorMessage, row: LedgerRow, result: Done, lateness: int) -> bool:
        if self.end(message, row, State.EXECUTED, result.detail) is not None:
            return True
        self.observer.count("Executed")
        self.observer.note(
            "executed", message.schedule.id, attempt=message.attempt, latenessMs=lateness, detail=result.detail
        )
        return True

    def _try_again(self, made: rules.Made, row: LedgerRow, delay: int, detail: str) -> bool:
        """The ledger first: after a crash before the send, the message comes back and finds its token in `retry_of`."""
        message, now = made.message, self.clock.now()
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
        current = self._write(row, following)
        if current is not None:
            current = evolve(
                current,
                lateness=row.lateness,
                age_from=row.age_from,
                detail=detail,
                answer=row.answer,
                attempted_at=row.attempted_at,
            )
            if isinstance(rules.decide_attempt(message, current), rules.Attempt | rules.Take):
                return self._try_again(made, current, delay, detail)  # still its own: contested meanwhile
            return self._overtaken(message, current)
        self.observer.count("Retried")
        self.observer.note(
            "probe failed" if made.is_probe else "attempt failed",
            message.schedule.id,
            attempt=message.attempt,
            retrySeconds=delay,
            detail=detail,
        )
        first_part = rules.seconds_until(following.retry_at, now)
        due = rules.not_before(following.retry_at, now)
        again = evolve(
            message,
            attempt=following.attempt,
            fence=following.fence,
            slots=(),
            not_before=due,
            age_from=row.age_from,
        )
        return self.send(again, first_part)

    def _overtaken(self, message: ExecutorMessage, current: LedgerRow) -> bool:
        """Another copy of this message was faster, whatever became of this attempt. The current row decides."""
        decision = rules.decide_attempt(message, current)
        if isinstance(decision, rules.SendNext):
            return self._send_next(message, current)
        if isinstance(decision, rules.DropStopped):
            return self._stop(message, current)
        self.observer.note("copy refused", message.schedule.id, reason="overtaken during its attempt")
        return isinstance(decision, Refuse)

    def _stop(self, message: ExecutorMessage, row: LedgerRow) -> bool:
        """Its owner asked for no further attempt. `row` has the last that is known to have been made."""
        last = f"; before that: {row.detail}" if row.detail else ""
        unattempted = evolve(row, answer="", attempted_at=0)  # no attempt leads to this end
        current = self.end(message, unattempted, State.DROPPED, f"stopped by its owner{last}")
        if current is not None:
            return self._overtaken(message, current)
        self.observer.count("Dropped")
        self.observer.note("stopped", message.schedule.id, attempt=row.attempt)
        return True

    def _send_next(self, message: ExecutorMessage, row: LedgerRow) -> bool:
        """The function that wrote the row may have died before its send, or its send may have arrived all the same.

        So another is sent, with a token of its own, and from now on the first that arrives makes the attempt. Neither
        is refused before that: the one that is left may be the only one (ADR 0084).
        """
        if row.arrival is not Arrival.CONTESTED:
            current = self._write(row, contested(row))
            if current is not None:
                return self._overtaken(message, current)
        now = self.clock.now()
        due = rules.not_before(row.retry_at, now)
        fence, age_from = self.new_token(), row.age_from or message.age_from
        again = evolve(message, attempt=row.attempt, fence=fence, slots=(), not_before=due, age_from=age_from)
        return self.send(again, rules.seconds_until(row.retry_at, now))

    def send(self, message: ExecutorMessage, delay: int) -> bool:
        """The message for an attempt. Whether it is known to be in the queue."""
        return self._put(message, delay)

    def _put(self, message: ExecutorMessage | OutcomeMessage, delay: int) -> bool:
        group = message_group_of(message.schedule)
        with self.ledger_together.waiting():
            return not self.own_queue.send([Outgoing(body=encode(message), delay_seconds=delay, message_group=group)])

    def fail(self, message: ExecutorMessage, row: LedgerRow, reason: str) -> bool:
        """The body is stored first: a failed schedule can be redriven. Whether the message may be deleted."""
        with self.ledger_together.waiting():
            key = self.dead_letters.store_failed(message, reason)
        current = self.end(message, row, State.FAILED, reason)
        if current is not None:
            self.dead_letters.release_failed(key, current)
            return self._overtaken(message, current)
        self.observer.count("Failed")
        self.observer.warn("failed", message.schedule.id, attempt=message.attempt, reason=reason, key=key)
        return True

    def end(self, message: ExecutorMessage, row: LedgerRow, state: State, detail: str) -> LedgerRow | None:
        """Writes the outcome over the claim. If that is not allowed, returns the current row."""
        row_lateness, answer, attempted_at = row.lateness, row.answer, row.attempted_at
        while True:
            current = self._write(row, ended(row, state, self.clock.now(), detail, answer, attempted_at))
            if current is None:
                return None
            if not may_end(current, message.nonce, message.fence, message.attempt, state):
                self.observer.warn("ended otherwise", message.schedule.id, wanted=state, current=current.state)
                return current
            row = current
            if state is State.EXECUTED:  # another copy wrote it, and did not know of this attempt
                row = evolve(current, attempt=message.attempt, lateness=row_lateness or current.lateness)

    def _write(self, row: LedgerRow, following: LedgerRow) -> LedgerRow | None:
        """The row that is in the way, if there is one. Raises Unavailable."""
        [result] = self.ledger_together.write([LedgerChange(row=following, over=row)])
        if isinstance(result, Unavailable):
            raise result
        return result.current if isinstance(result, Conflict) else None

    def _dead_letter(
        self, received: ReceivedMessage, reason: str, message: ExecutorMessage | OutcomeMessage | None
    ) -> bool:
        try:
            self.dead_letters.take(undeliverable(received.body, reason, message))
        except Exception as error:  # noqa: BLE001 - its neighbours are handled
            self.observer.warn("not dead-lettered", message.schedule.id if message else "", error=repr(error))
            return False
        return True


def _receipt(received: ReceivedMessage) -> str:
    """It tells a delivery of a message from another one of the same, as far as its queue does."""
    return received.receipt or received.message_id


def _limited(received: ReceivedMessage, now: Millis) -> ExecutorMessage | None:
    """Returns the message if this batch may attempt it; None for all else. An error in it is reported when it
    is handled.
    """
    try:
        message = decode_for_executor(received.body)
        if not isinstance(message, ExecutorMessage) or due_of(message) - now > MAX_HOLD:
            return None
        _ = retrying.policy_of(message.schedule.definition)
    except (Malformed, UnknownVersion):
        return None
    return message
