"""Around the consumer of a queue: what its function died of is handled alone, and a killer is given up (ADR 0158).

That a message comes back says nothing of it: Lambda may have been too busy to let any function see it. So each run with
what has come back is noted, and only what is in a run that never came to its end is a suspect. Those beside it go back,
so that it harms nobody, and nobody harms it.

What SQS has given out a thousand times it moves into the queue of suspects, and the function is given it from there in
batches of one (ADR 0156): a function that dies before it can note anything harms nobody for ever.
"""

import hashlib
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, TypeVar

from attrs import define, field

from delayer.dead_letters.dead_letter import TakesDeadLetters, undeliverable
from delayer.engines.ports import Clock, NotBegun, Observer, Queue, ReceivedMessage, Unavailable
from delayer.recovery.ports import Trials
from delayer.recovery.rules import (
    PROOFS,
    GiveUpSuspect,
    Trial,
    Try,
    decide_trial,
    has_come_back,
    has_waited,
    waits_long,
)
from delayer.schedule.instants import MINUTE, SECOND, Malformed, Millis, UnknownVersion
from delayer.schedule.messages import (
    WARM_UP,
    DelayerMessage,
    ExecutorMessage,
    OutcomeMessage,
    WarmUp,
    decode,
    decode_for_executor,
)

PATIENCE: Final[Millis] = 5 * SECOND  # since the run began: every function that has suspects has more time than that
PAUSE: Final[Millis] = 250

Read = TypeVar("Read")
NOT_HANDLED: Final = "it could not be handled for three days"
NOTED_EVERY: Final[Millis] = MINUTE  # by each environment: it costs a write
# Seconds until what was not handled comes again. The visibility timeout is much longer, so that Lambda can try for long
# to find room for a function: what a function has seen, and gives back, need not wait for it. It is long enough for
# what the run may have sent, or claimed, without hearing of it, to come first. What was not begun comes at once.
COMES_AGAIN: Final = 30


def finish_trial(
    finish: Callable[[], None], *, began: Millis, comes_again: bool, clock: Clock, observer: Observer
) -> None:
    """A run whose end is not noted counts as one that its function died of. So the note of what comes again is tried
    for a while: half an outage, in which most calls fail, must not make a killer of it.
    """
    while True:
        try:
            return finish()
        except Unavailable as error:
            if not comes_again or clock.now() + PAUSE > began + PATIENCE:
                return observer.warn("not noted that a run came to its end", error=str(error))
        clock.sleep_until(clock.now() + PAUSE)


def read_of_suspect(
    trials: Trials, suspect: str, read: Callable[[], Read], clock: Clock, observer: Observer
) -> Read | None:
    """Reads a suspect that is to be given up; None if the function has died of reading it. Raises Unavailable.

    What is stored unread has no end in the ledger. A note that takes effect late looks like a run that died of reading,
    so that it takes as many of them as make a killer.
    """
    reading, began = f"{suspect}-read", clock.now()
    before = trials.unfinished(reading)
    tries = before.proofs + 1 if before else 0
    if tries >= PROOFS:
        return None
    finish = partial(trials.finish, reading)
    try:
        trials.begin(reading, Trial(began=began, proofs=tries))
    except Unavailable:  # perhaps it is noted all the same
        finish_trial(finish, began=began, comes_again=True, clock=clock, observer=observer)
        raise
    try:
        found = read()
    except Exception as error:  # noqa: BLE001 - it is stored unread, then
        observer.warn("a suspect that cannot be read", error=repr(error))
        found = None
    finish_trial(finish, began=began, comes_again=True, clock=clock, observer=observer)
    return found


@define(kw_only=True)
class Guard:
    """One batch of a queue, or one of its suspects; one batch at a time."""

    clock: Clock
    trials: Trials
    dead_letters: TakesDeadLetters
    observer: Observer
    source: str
    suspects: str  # the name of their queue
    queue: Queue | None = None  # the function's own; without it, what is left comes again after its visibility timeout
    handle: Callable[[Sequence[ReceivedMessage]], list[str]]
    is_trying: bool = field(default=False, init=False)  # a suspect: whoever runs beside it might die with it
    _noted: Millis = field(default=0, init=False)

    def __call__(self, batch: Sequence[ReceivedMessage]) -> list[str]:
        """Handles all; returns the ids of the messages that SQS must deliver again."""
        batch = [received for received in batch if asks_for_something(received)]
        if not batch:
            return []
        if any(received.source == self.suspects for received in batch):
            return [received.message_id for received in batch if not self._try(received)]
        suspects, is_known = self._suspects_in(batch)
        others = [received for received in batch if received not in suspects]
        if suspects and is_known and (not others or is_its_turn(suspects[0])):
            return self.apart(batch, suspects[0])
        return self._handled(others, suspects)

    def admits(self, received: ReceivedMessage) -> bool:
        """Whether one that comes in beside others may be handled, until `end`. A suspect is to be alone: it is left."""
        if not asks_for_something(received):
            return True
        suspects, _ = self._suspects_in([received])
        if suspects or not self._begin([received], self.clock.now()):
            self._leave([received])
            return False
        return True

    def end(
        self,
        batch: Sequence[ReceivedMessage],
        failed: Sequence[str],
        began: Millis,
        waiting: Sequence[ReceivedMessage] = (),
    ) -> list[str]:
        """After a run with `batch`. Leaves those that failed, and those that have waited meanwhile: their ids."""
        asking = [received for received in batch if asks_for_something(received)]
        again = [received for received in asking if has_come_back(received.receives)]
        left = [received for received in batch if received.message_id in failed]
        if again:
            left = [received for received in left if not self.gives_up(received, began)]
            self._finish(_keys_of(again), began, comes_again=bool(left))
        if len(left) < len(asking):
            self._passed()
        at_once = {one for one in failed if isinstance(one, NotBegun)}
        not_begun = [received for received in left if received.message_id in at_once]
        return self._leave([*(received for received in left if received not in not_begun), *waiting], not_begun)

    def _suspects_in(self, batch: Sequence[ReceivedMessage]) -> tuple[list[ReceivedMessage], bool]:
        """And whether that is known. If not, none of what has come back is begun."""
        try:
            return self.suspects_in(batch), True
        except Unavailable as error:
            self.observer.warn("what has come back waits: not known whether it is a suspect", error=str(error))
            return [received for received in batch if has_come_back(received.receives)], False

    def _begin(self, batch: Sequence[ReceivedMessage], began: Millis) -> list[ReceivedMessage]:
        """Returns those with which a run may begin: what has come back waits until that can be noted."""
        again = [received for received in batch if has_come_back(received.receives)]
        keys = _keys_of(again)
        try:
            if again:
                self.trials.begin_all(keys, began)
        except Unavailable as error:
            self.observer.warn("what has come back waits", error=str(error))
            self._finish(keys, began, comes_again=True)
            return [received for received in batch if received not in again]
        return list(batch)

    def _handled(self, batch: Sequence[ReceivedMessage], waiting: Sequence[ReceivedMessage]) -> list[str]:
        """Returns the ids that are left of these, and of those that wait meanwhile."""
        began = self.clock.now()
        begun = self._begin(batch, began)
        waiting = [*waiting, *(received for received in batch if received not in begun)]
        try:
            failed = self.handle(begun) if begun else []
        except Exception:  # the function is alive: this was no death
            if again := [received for received in begun if has_come_back(received.receives)]:
                self._finish(_keys_of(again), began, comes_again=True)
            self._leave([*begun, *waiting])
            raise
        return self.end(begun, failed, began, waiting)

    def _leave(self, messages: Sequence[ReceivedMessage], not_begun: Sequence[ReceivedMessage] = ()) -> list[str]:
        """Leaves messages in the queue: they come again in a while, those not begun at once. Returns the ids of all."""
        self._give_back(not_begun, 0)
        self._give_back(messages, COMES_AGAIN)
        left, now = [*messages, *not_begun], self.clock.now()
        self.observer.count("NotHandled", sum(waits_long(one.sent_at, one.receives, now) for one in left))
        return [received.message_id for received in left]

    def _give_back(self, messages: Sequence[ReceivedMessage], seconds: int) -> None:
        known = [received for received in messages if received.receipt]
        if known and self.queue:
            self.queue.give_back(known, seconds)

    def suspects_in(self, batch: Sequence[ReceivedMessage]) -> list[ReceivedMessage]:
        """Returns the messages of which a run has died. Raises Unavailable."""
        again = [received for received in batch if has_come_back(received.receives)]
        if not again:
            return []
        unfinished = self.trials.any_unfinished(_keys_of(again))
        return [received for received in again if key_of(received) in unfinished]

    def apart(self, batch: Sequence[ReceivedMessage], suspect: ReceivedMessage) -> list[str]:
        """Handles a suspect alone. The messages beside it go back at once, before anything is done with it."""
        others = [received for received in batch if received is not suspect]
        self._give_back(others, 0)
        is_done = self._try(suspect)
        return [received.message_id for received in others] + self._leave([] if is_done else [suspect])

    def gives_up(self, received: ReceivedMessage, began: Millis) -> bool:
        """Whether it has waited for so long that SQS might delete it, and is stored."""
        return has_waited(received.sent_at, began) and self.give_up(received, key_of(received), NOT_HANDLED)

    def _try(self, received: ReceivedMessage) -> bool:
        """Whether the message may be deleted. In an outage it waits."""
        suspect = key_of(received)
        began = self.clock.now()
        try:
            before, passed = self.trials.unfinished(suspect), self.trials.passed(self.source)
        except Unavailable as error:
            self.observer.warn("a suspect waits", error=repr(error))
            return False
        match decide_trial(before, passed, received.sent_at, began):
            case Try(trial):
                is_done = self._handle(received, suspect, trial)
                self._finish([suspect], began, comes_again=not is_done)
            case GiveUpSuspect(reason):
                is_done = self.give_up(received, suspect, reason)
                if is_done:  # if it could not be stored, it stays known as a killer
                    self._finish([suspect], began, comes_again=False)
        if is_done:
            self._passed()
        return is_done

    def _handle(self, received: ReceivedMessage, suspect: str, trial: Trial) -> bool:
        """Whether it is done. Whatever is raised: the function is alive, so this is no killer."""
        self.is_trying = True
        try:
            self.trials.begin(suspect, trial)
            failed = self.handle([received])
        except Exception as error:  # noqa: BLE001 - see above
            self.observer.warn("a suspect waits", error=repr(error))
            failed = [received.message_id]
        finally:
            self.is_trying = False
        if failed and has_waited(received.sent_at, trial.began):
            return self.give_up(received, suspect, NOT_HANDLED)
        return not failed

    def give_up(self, received: ReceivedMessage, suspect: str, reason: str) -> bool:
        """Whether it is stored. If even reading it kills the function, it is stored unread."""
        try:
            read = partial(message_in, received.body)
            message = read_of_suspect(self.trials, suspect, read, self.clock, self.observer)
            self.dead_letters.take(undeliverable(received.body, explained(message, reason), message))
        except Exception as error:  # noqa: BLE001 - the function is alive
            self.observer.warn("a suspect waits", error=repr(error))
            return False
        return True

    def _finish(self, keys: Sequence[str], began: Millis, *, comes_again: bool) -> None:
        def finish() -> None:
            self.trials.finish_all(keys) if len(keys) > 1 else self.trials.finish(keys[0])

        finish_trial(finish, began=began, comes_again=comes_again, clock=self.clock, observer=self.observer)

    def _passed(self) -> None:
        self._noted = note_pass(self.trials, self.source, self._noted, self.clock, self.observer)


def note_pass(trials: Trials, source: str, noted: Millis, clock: Clock, observer: Observer) -> Millis:
    """Notes that something came to its end, and returns when that was noted last. `noted` is when it was before.

    It only matters to suspects: a note that cannot be made is left out.
    """
    now = clock.now()
    if now - noted < NOTED_EVERY:
        return noted
    try:
        trials.note_pass(source, now)
    except Unavailable as error:
        observer.warn("not noted that others pass", error=str(error))
        return noted
    return now


def _keys_of(messages: Sequence[ReceivedMessage]) -> list[str]:
    """Each once: a message may have the body of another one."""
    return sorted({key_of(received) for received in messages})


def asks_for_something(received: ReceivedMessage) -> bool:
    """A warm-up does not (ADR 0165): all are alike, and that one passes tells nothing of a run with a schedule."""
    return received.body != WARM_UP


def is_its_turn(suspect: ReceivedMessage) -> bool:
    """Whether those beside it wait for it: every other time, so that neither waits for long where there are many."""
    return suspect.receives % 2 == 0


def key_of(received: ReceivedMessage) -> str:
    """Under which a run with it is noted."""
    return hashlib.sha256(received.body.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def message_in(body: str) -> DelayerMessage | ExecutorMessage | OutcomeMessage | None:
    """The message of either queue; None if it is neither."""
    for read in (decode_for_executor, partial(decode, kind=DelayerMessage)):
        try:
            found = read(body)
            return None if isinstance(found, WarmUp) else found
        except (Malformed, UnknownVersion):
            continue
    return None


def explained(message: DelayerMessage | ExecutorMessage | OutcomeMessage | None, reason: str) -> str:
    """The reader of the dead letter must know that a redrive would be a second firing, and which action may
    be missing.
    """
    if message is not None and reason == NOT_HANDLED:
        reason = f"{reason}; the type of its action is {message.schedule.definition.action_type!r}"
    if isinstance(message, OutcomeMessage) and message.outcome == "done":
        return f"do not redrive it, the target accepted attempt {message.attempt} ({message.detail}): {reason}"
    return reason
