"""Hands each suspect to the function whose queue it came from, alone (ADR 0081, 0156)."""

from collections.abc import Callable, Sequence

from attrs import frozen

from delayer.engines.ports import Clock, Observer, ReceivedMessage, Unavailable
from delayer.recovery.ports import Absent, Consumers, Died
from delayer.recovery.rules import UNKNOWN_TYPES, consumer_of, waits_long


@frozen(kw_only=True)
class DispatchSuspects:
    """Hands each message from the queue of suspects to the consumer that it is for."""

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
        """A message for an executor that has been taken out of the stack waits where all unknown types do."""
        try:
            return self.consumers.handle(function, received)
        except Absent:
            return self.consumers.handle(UNKNOWN_TYPES, received)


@frozen(kw_only=True)
class CountWaiting:
    """Around the consumer of a queue without suspects: none of its messages can kill more than its own invocation."""

    clock: Clock
    observer: Observer
    handle: Callable[[Sequence[ReceivedMessage]], list[str]]

    def __call__(self, batch: Sequence[ReceivedMessage]) -> list[str]:
        """The same, and raises the same."""
        try:
            left = self.handle(batch)
        except Exception:
            self._count(batch)
            raise
        self._count([received for received in batch if received.message_id in left])
        return left

    def _count(self, left: Sequence[ReceivedMessage]) -> None:
        now = self.clock.now()
        waiting = sum(waits_long(received.sent_at, received.receives, now) for received in left)
        if waiting:
            self.observer.count("NotHandled", waiting)
