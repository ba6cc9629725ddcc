"""Writes the histories of schedules, from the lifecycle events (ADR 0053)."""

from collections.abc import Sequence
from typing import Final

from attrs import frozen

from delayer.core import cloud_events
from delayer.core.events import Event, expiry_of
from delayer.core.instants import DAY, Millis
from delayer.core.lifecycle import ENDS, EventType
from delayer.core.wire import Unreadable
from delayer.ports import Delivery, Headcount, Journal, Observer, Unavailable

NOTED_FOR: Final = 90 * DAY  # longer than a dead letter may wait, and than it counts


@frozen(kw_only=True)
class WriteJournal:
    """One batch of the journal's queue."""

    journal: Journal
    headcount: Headcount | None  # None: no quota goes by the number of live schedules
    observer: Observer
    keep_for: Millis

    def __call__(self, deliveries: Sequence[Delivery]) -> list[str]:
        """Keeps all; returns the ids of the messages that are to be delivered again.

        One that cannot be read ends in the dead-letter queue, and can be moved back once this code can read it.
        """
        read = [(delivery.message_id, event) for delivery in deliveries if (event := self._read(delivery))]
        left = set(self.journal.keep([event for _, event in read], self.keep_for)) if read else set()
        done = {
            message for position, (message, event) in enumerate(read) if position not in left and self._count(event)
        }
        self.observer.count("Journaled", len(done))
        return [delivery.message_id for delivery in deliveries if delivery.message_id not in done]

    def _read(self, delivery: Delivery) -> Event | None:
        try:
            return cloud_events.decode(delivery.body)
        except Unreadable as error:
            self.observer.warn("a lifecycle event that cannot be read", problem=str(error))
            return None

    def _count(self, event: Event) -> bool:
        """Whether that was done; a repetition changes nothing."""
        if self.headcount is None:
            return True
        expires_at = expiry_of(event, max(self.keep_for, NOTED_FOR))
        try:
            if event.type is EventType.SCHEDULED:
                self.headcount.begun(event.owner, event.schedule_id, expires_at)
            elif event.state in ENDS:
                self.headcount.ended(event.owner, event.schedule_id, expires_at)
        except Unavailable:
            return False
        return True
