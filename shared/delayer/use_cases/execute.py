"""Makes the attempts at a target, and writes how it ended. The same for every action."""

from collections.abc import Callable, Sequence

import msgspec
from attrs import evolve, frozen

from delayer.core import executing
from delayer.core.ledger import LedgerRow, Refuse, ended, may_end, may_need_body, retried
from delayer.core.lifecycle import State
from delayer.core.set_aside import VERSION, Kept, Shelf
from delayer.core.tenancy import tenant_of
from delayer.core.wire import ExecutorMessage, Unreadable, decode, encode, next_attempt
from delayer.ports import Clock, Delivery, Ledger, Observer, Outgoing, Parallel, Queue, Target, Unavailable
from delayer.use_cases.set_aside import SetAside, copy_of


class _Limits(msgspec.Struct):
    """What of any action concerns its retries."""

    maxAttempts: int = executing.DEFAULT_ATTEMPTS  # noqa: N815 - the API's own spelling


@frozen(kw_only=True)
class Execute:
    """One batch of an action's queue."""

    clock: Clock
    ledger: Ledger
    queue: Queue  # the action's own: retries go back into it
    target: Target
    set_aside: SetAside
    observer: Observer
    parallel: Parallel
    new_delivery: Callable[[], str]

    def __call__(self, deliveries: Sequence[Delivery]) -> list[str]:
        """Handles all, side by side; returns the ids of the messages that SQS must deliver again."""
        settled = self.parallel.map(self._settle, deliveries)
        return [delivery.message_id for delivery, done in zip(deliveries, settled, strict=True) if not done]

    def _settle(self, delivery: Delivery) -> bool:
        """Whether the message may be deleted."""
        try:
            message = decode(delivery.body, ExecutorMessage)
        except Unreadable as error:
            return self._keep(delivery, str(error), None)
        try:
            return self._when_due(delivery, message)
        except Exception as error:  # noqa: BLE001 - whatever one message brings about, its neighbours go on
            self.observer.warn("not settled", message.id, error=repr(error))
            return False

    def _when_due(self, delivery: Delivery, message: ExecutorMessage) -> bool:
        match executing.decide_wait(message, self.clock.now()):
            case executing.Hold(until):
                self.clock.sleep_until(until)
            case executing.Resend(delay):
                return self._send(message, delay)
        row = self.ledger.read(message.id)
        match executing.decide_attempt(message, row):
            case executing.Attempt() if row:
                return self._attempt(message, row)
            case executing.SendNext() as decision:
                return self._send_next(message, decision)
            case executing.Stop() if row:
                return self._stop(message, evolve(row, attempt=message.attempt - 1))
            case Refuse(reason):
                self.observer.note("copy refused", message.id, reason=reason)
                return True
            case executing.Wait():
                self.observer.note("overtaken by a new claim, looked at again later", message.id)
                return False
            case _:
                return self._keep(delivery, "no claim stands for it in the ledger", message)

    def _attempt(self, message: ExecutorMessage, row: LedgerRow) -> bool:
        lateness = executing.lateness(message, self.clock.now())
        result = self._reach(message)
        if message.attempt == 1:
            self._measure(lateness)
            row = evolve(row, lateness=lateness)
        if isinstance(result, executing.Done):
            return self._executed(message, row, result, lateness)
        match executing.decide_next(message, result, _max_attempts(message)):
            case executing.TryAgain(delay):
                return self._try_again(message, row, delay, result.detail)
            case executing.GiveUp(reason):
                return self._fail(message, row, reason)

    def _reach(self, message: ExecutorMessage) -> executing.Result:
        """A target that raises has a defect; that counts as an attempt like any other."""
        try:
            return self.target(message)
        except Exception as error:  # noqa: BLE001 - it must not take the batch along
            self.observer.warn("the target raised", message.id, error=repr(error))
            return executing.Retry(f"the executor failed: {error!r}")

    def _measure(self, lateness: int) -> None:
        self.observer.measure_lateness(lateness)
        if lateness >= executing.LATE:
            self.observer.count("Late")

    def _executed(self, message: ExecutorMessage, row: LedgerRow, result: executing.Done, lateness: int) -> bool:
        if self._end(message, row, State.EXECUTED, result.detail) is not None:
            return True
        self.observer.count("Executed")
        self.observer.note("executed", message.id, attempt=message.attempt, latenessMs=lateness, detail=result.detail)
        return True

    def _try_again(self, message: ExecutorMessage, row: LedgerRow, delay: int, detail: str) -> bool:
        """The ledger first: should this function die before it sends, its message finds itself in `retry_of`."""
        following = retried(row, self.new_delivery(), self.clock.now(), detail)
        blocker = self.ledger.swap(row, following)
        if blocker is not None:
            return self._overtaken(message, evolve(blocker, lateness=row.lateness, detail=detail))
        self.observer.count("Retried")
        self.observer.note("attempt failed", message.id, attempt=message.attempt, retrySeconds=delay, detail=detail)
        return self._send(next_attempt(message, following.delivery, following.attempt), delay)

    def _overtaken(self, message: ExecutorMessage, standing: LedgerRow) -> bool:
        """A twin of this delivery was faster, whatever became of this attempt; its row decides what follows."""
        decision = executing.decide_attempt(message, standing)
        if isinstance(decision, executing.SendNext):
            return self._send_next(message, decision)
        if isinstance(decision, executing.Stop):
            return self._stop(message, standing)
        self.observer.note("copy refused", message.id, reason="overtaken while it was attempted")
        return isinstance(decision, Refuse)

    def _stop(self, message: ExecutorMessage, row: LedgerRow) -> bool:
        """Its owner's wish: no further attempt. `row` has the last that is known to have been made."""
        last = f"; before that: {row.detail}" if row.detail else ""
        blocker = self._end(message, row, State.DROPPED, f"stopped by its owner{last}")
        if blocker is not None:
            return self._overtaken(message, blocker)
        self.observer.count("Dropped")
        self.observer.note("stopped", message.id, attempt=row.attempt)
        return True

    def _send_next(self, message: ExecutorMessage, decision: executing.SendNext) -> bool:
        """Whoever wrote the row may have died before it sent: one message too many is harmless, none is a loss."""
        following = next_attempt(message, decision.delivery, decision.attempt)
        return self._send(following, executing.retry_seconds(message.id, message.attempt))

    def _send(self, message: ExecutorMessage, delay: int) -> bool:
        return not self.queue.send([Outgoing(encode(message), delay, tenant_of(message))])

    def _fail(self, message: ExecutorMessage, row: LedgerRow, reason: str) -> bool:
        """The body is kept first: a failed schedule can be put back."""
        kept = Kept(
            v=VERSION,
            shelf=Shelf.FAILED,
            schedule_id=message.id,
            owner=message.owner,
            reason=reason,
            source=self.set_aside.source,
            at=self.clock.now(),
            body=encode(message),
        )
        self.set_aside.store.keep(kept)
        blocker = self._end(message, row, State.FAILED, reason)
        if blocker is not None:
            if not may_need_body(blocker):  # a twin of this delivery failed with the same body, under the same key
                self.set_aside.store.discard(kept.key)
            return self._overtaken(message, blocker)
        self.observer.count("Failed")
        self.observer.warn("failed", message.id, attempt=message.attempt, reason=reason, key=kept.key)
        return True

    def _end(self, message: ExecutorMessage, row: LedgerRow, state: State, detail: str) -> LedgerRow | None:
        """Writes the outcome over the claim; if that may not be, returns the row that stands."""
        row_lateness = row.lateness
        while True:
            blocker = self.ledger.swap(row, ended(row, state, self.clock.now(), detail))
            if blocker is None:
                return None
            if not may_end(blocker, message, state):
                self.observer.warn("ended otherwise", message.id, wanted=state, stands=blocker.state)
                return blocker
            row = blocker
            if state is State.EXECUTED:  # a twin may have written what it did not know of this attempt
                row = evolve(blocker, attempt=message.attempt, lateness=row_lateness or blocker.lateness)

    def _keep(self, delivery: Delivery, reason: str, message: ExecutorMessage | None) -> bool:
        try:
            self.set_aside.keep(copy_of(delivery.body, reason, message))
        except Unavailable:
            return False
        return True


def _max_attempts(message: ExecutorMessage) -> int:
    limits = msgspec.json.decode(message.action, type=_Limits)
    return min(limits.maxAttempts, executing.MAX_ATTEMPTS)
