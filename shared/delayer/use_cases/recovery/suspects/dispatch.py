"""Hands each suspect to the function whose queue it came from, alone (ADR 0081, 0156)."""

from collections.abc import Sequence

from attrs import frozen

from delayer.core.recovery.consumer import UNKNOWN_TYPES, consumer_of
from delayer.ports.consumers import Absent, Consumers, Died
from delayer.ports.observer import Observer
from delayer.ports.queue import ReceivedMessage
from delayer.ports.unavailable import Unavailable


@frozen(kw_only=True)
class DispatchSuspects:
    """What is received from the queue of suspects."""

    consumers: Consumers
    observer: Observer
    stack: str  # its name

    def __call__(self, batch: Sequence[ReceivedMessage]) -> list[str]:
        """Has all handled; returns the ids of the messages that SQS must deliver again."""
        return [received.message_id for received in batch if not self._handled(received)]

    def _handled(self, received: ReceivedMessage) -> bool:
        """A run of which the function dies is noted by the function itself, so nothing is to be noted here."""
        function = consumer_of(received.body, received.origin, self.stack)
        try:
            return self._ask(function, received)
        except (Unavailable, Died) as error:
            self.observer.warn("a suspect was not handled", consumer=function, error=str(error))
        return False

    def _ask(self, function: str, received: ReceivedMessage) -> bool:
        """What was for an executor that has been taken out of the stack waits where all unknown types do."""
        try:
            return self.consumers.handle(function, received)
        except Absent:
            return self.consumers.handle(UNKNOWN_TYPES, received)
