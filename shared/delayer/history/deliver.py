"""Gives the lifecycle events of a queue to a subscriber, one by one (ADR 0091)."""

import traceback
from collections.abc import Callable, Sequence

from attrs import frozen

from delayer.engines.ports import Observer, ReceivedMessage
from delayer.history.received import Event, NotDone, decode
from delayer.ledger.model import detail_of
from delayer.schedule.instants import Malformed


@frozen(kw_only=True)
class Deliver:
    """One batch of a subscriber's queue."""

    read: Callable[[Event], object]  # the subscriber: it raises if the event must come again
    observer: Observer

    def __call__(self, batch: Sequence[ReceivedMessage]) -> list[str]:
        """Returns the ids of the messages to be delivered again: SQS waits two minutes before it does."""
        return [received.message_id for received in batch if not self._delivered(received)]

    def _delivered(self, received: ReceivedMessage) -> bool:
        """An event that cannot be read waits, since the next release may read it (ADR 0078)."""
        try:
            event = decode(received.body)
        except Malformed as error:
            self.observer.warn("a lifecycle event that cannot be read", problem=error.reason)
            self.observer.count("Undelivered")
            return False
        try:
            self.read(event)
        except Exception as error:  # noqa: BLE001 - whatever is wrong with one event, its neighbours are delivered
            self.observer.warn("the subscriber raised", event.schedule_id, eventId=event.id, **_facts(error))
            self.observer.count("Undelivered")
            return False
        self.observer.note("delivered", event.schedule_id, eventId=event.id, type=event.type)
        self.observer.count("Delivered")
        return True


def _facts(error: Exception) -> dict[str, object]:
    """The text of any other exception may hold what a client sent (ADR 0067)."""
    if isinstance(error, NotDone):
        return {"reason": detail_of(str(error))}
    return {"error": type(error).__name__, "where": traceback.format_tb(error.__traceback__)}
