"""Around the consumer of a queue: what keeps coming back is handled alone, and a killer is given up (ADR 0081).

SQS moves a message that came back three times into the queue of suspects. The same function receives it from there, in
batches of one: it harms nobody, and nobody harms it.
"""

import hashlib
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, Protocol

from attrs import define, field

from delayer.core.recovery.trial import GiveUp, Trial, Try, decide_trial, has_waited
from delayer.core.schedule.instants import MINUTE, Millis
from delayer.core.schedule.malformed import Malformed, UnknownVersion
from delayer.core.schedule.messages import (
    DelayerMessage,
    ExecutorMessage,
    OutcomeMessage,
    decode,
    decode_for_executor,
)
from delayer.ports.clock import Clock
from delayer.ports.observer import Observer
from delayer.ports.queue import ReceivedMessage
from delayer.ports.trials import NotesPasses, TriesSuspects
from delayer.ports.unavailable import Unavailable
from delayer.use_cases.recovery.dead_letter import TakesDeadLetters, undeliverable
from delayer.use_cases.recovery.finish_trial import finish_trial, read_of_suspect

NOT_HANDLED: Final = "it could not be handled for three days"
NOTED_EVERY: Final[Millis] = MINUTE  # by each environment: it costs a write


class TrialsOfGuard(TriesSuspects, NotesPasses, Protocol):
    """What it needs from the control rows."""


@define(kw_only=True)
class Guard:
    """One batch of a queue, or one of its suspects."""

    clock: Clock
    trials: TrialsOfGuard
    dead_letters: TakesDeadLetters
    observer: Observer
    function: str
    suspects: str  # the name of their queue
    handle: Callable[[Sequence[ReceivedMessage]], list[str]]
    _noted: Millis = field(default=0, init=False)

    def __call__(self, batch: Sequence[ReceivedMessage]) -> list[str]:
        """Handles all; returns the ids of the messages that SQS must deliver again."""
        if any(received.source == self.suspects for received in batch):
            return [received.message_id for received in batch if not self._try(received)]
        failed = self.handle(batch)
        if len(failed) < len(batch):
            self._passed()
        return failed

    def _try(self, received: ReceivedMessage) -> bool:
        """Whether the message may be deleted. In an outage it waits."""
        suspect = hashlib.sha256(received.body.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        began = self.clock.now()
        try:
            before, passed = self.trials.unfinished(suspect), self.trials.passed(self.function)
        except Unavailable as error:
            self.observer.warn("a suspect waits", error=repr(error))
            return False
        match decide_trial(before, passed, received.sent_at, began):
            case Try(trial):
                is_done = self._handle(received, suspect, trial)
                self._finish(suspect, began, comes_again=not is_done)
            case GiveUp(reason):
                is_done = self._give_up(received, suspect, reason)
                if is_done:  # if it could not be stored, it stays known as a killer
                    self._finish(suspect, began, comes_again=False)
        if is_done:
            self._passed()
        return is_done

    def _handle(self, received: ReceivedMessage, suspect: str, trial: Trial) -> bool:
        """Whether it is done. Whatever is raised: the function is alive, so this is no killer."""
        try:
            self.trials.begin(suspect, trial)
            failed = self.handle([received])
        except Exception as error:  # noqa: BLE001 - see above
            self.observer.warn("a suspect waits", error=repr(error))
            failed = [received.message_id]
        if failed and has_waited(received.sent_at, trial.began):
            return self._give_up(received, suspect, NOT_HANDLED)
        return not failed

    def _give_up(self, received: ReceivedMessage, suspect: str, reason: str) -> bool:
        """Whether it is stored. If even reading it kills the function, it is stored unread."""
        try:
            read = partial(message_in, received.body)
            message = read_of_suspect(self.trials, suspect, read, self.clock, self.observer)
            self.dead_letters.take(undeliverable(received.body, explained(message, reason), message))
        except Exception as error:  # noqa: BLE001 - the function is alive
            self.observer.warn("a suspect waits", error=repr(error))
            return False
        return True

    def _finish(self, suspect: str, began: Millis, *, comes_again: bool) -> None:
        finish_trial(
            self.trials, suspect, began=began, comes_again=comes_again, clock=self.clock, observer=self.observer
        )

    def _passed(self) -> None:
        """It only matters to suspects: a note that cannot be made is left out."""
        now = self.clock.now()
        if now - self._noted < NOTED_EVERY:
            return
        try:
            self.trials.note_pass(self.function, now)
        except Unavailable as error:
            self.observer.warn("not noted that others pass", error=str(error))
            return
        self._noted = now


def message_in(body: str) -> DelayerMessage | ExecutorMessage | OutcomeMessage | None:
    """The message of either queue; None if it is neither."""
    for read in (decode_for_executor, partial(decode, kind=DelayerMessage)):
        try:
            return read(body)
        except (Malformed, UnknownVersion):
            continue
    return None


def explained(message: DelayerMessage | ExecutorMessage | OutcomeMessage | None, reason: str) -> str:
    """Who reads the dead letter must know that a redrive would be a second firing, and which action may be missing."""
    if message is not None and reason == NOT_HANDLED:
        reason = f"{reason}; the type of its action is {message.schedule.definition.action_type!r}"
    if isinstance(message, OutcomeMessage) and message.outcome == "done":
        return f"do not redrive it, the target accepted attempt {message.attempt} ({message.detail}): {reason}"
    return reason
