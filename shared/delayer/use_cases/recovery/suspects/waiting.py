"""Counts what a function leaves in its queue though it has been there for long, so that an alarm rings (ADR 0157)."""

from collections.abc import Callable, Sequence

from attrs import frozen

from delayer.core.recovery.trial import waits_long
from delayer.ports.clock import Clock
from delayer.ports.observer import Observer
from delayer.ports.queue import ReceivedMessage


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
