"""Moves what is in the dead-letter queues into the dead-letter store."""

from collections.abc import Sequence

from attrs import frozen

from delayer.core.schedule.malformed import Malformed
from delayer.core.schedule.messages import DelayerMessage, ExecutorMessage, decode
from delayer.ports.queue import ReceivedMessage
from delayer.ports.unavailable import Unavailable
from delayer.use_cases.recovery.dead_letter import TakesDeadLetters, undeliverable


@frozen(kw_only=True)
class Drain:
    """One batch of a dead-letter queue."""

    dead_letters: TakesDeadLetters

    def __call__(self, batch: Sequence[ReceivedMessage]) -> list[str]:
        """Returns the ids of the messages that SQS must deliver again."""
        return [received.message_id for received in batch if not self._take(received)]

    def _take(self, received: ReceivedMessage) -> bool:
        reason = f"it could not be handled and came to {received.source}"
        try:
            self.dead_letters.take(undeliverable(received.body, reason, message_in(received.body)))
        except Unavailable:
            return False
        return True


def message_in(body: str) -> DelayerMessage | ExecutorMessage | None:
    """The message of either queue; None if it is neither."""
    try:
        return decode(body, ExecutorMessage)
    except Malformed:
        pass
    try:
        return decode(body, DelayerMessage)
    except Malformed:
        return None
