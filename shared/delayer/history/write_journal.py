"""Writes the histories of schedules, from the lifecycle events (ADR 0053)."""

from collections.abc import Sequence
from typing import Final

from attrs import frozen

from delayer.engines.ports import Observer, ReceivedMessage, Unavailable
from delayer.history import cloud_events
from delayer.history.model import LifecycleEvent, Occurrence, expiry_of, occurrence_in
from delayer.history.ports import Journal, JournalEntry, LiveCount
from delayer.ledger.model import ENDS, EventType
from delayer.schedule.instants import DAY, Malformed, Millis

NOTED_FOR: Final = 90 * DAY  # longer than a dead letter may wait, and longer than a schedule counts


@frozen(kw_only=True)
class WriteJournal:
    """One batch of the journal's queue."""

    journal: Journal
    live_count: LiveCount | None  # None: the number of live schedules is not limited
    observer: Observer
    keep_for: Millis

    def __call__(self, batch: Sequence[ReceivedMessage]) -> list[str]:
        """Stores all, each event in the text in which it came; returns the ids of the messages to be delivered again.

        One that cannot be read waits: a later version of this code may read it. After 33 hours it goes to the
        dead-letter queue (ADR 0078).
        """
        read = [(one.message_id, entry) for one in batch if (entry := self._read(one))]
        left = set(self.journal.write([entry for _, entry in read], self.keep_for)) if read else set()
        done = {
            message
            for position, (message, entry) in enumerate(read)
            if position not in left and self._count(entry.event)
        }
        self.observer.count("Journaled", len(done))
        return [received.message_id for received in batch if received.message_id not in done]

    def _read(self, received: ReceivedMessage) -> JournalEntry | None:
        try:
            event = cloud_events.decode(received.body)
            return JournalEntry(event=event, text=received.body, occurrence=_occurrence(event, received.body))
        except Malformed as error:
            self.observer.warn("a lifecycle event that cannot be read", problem=error.reason)
            return None

    def _count(self, event: LifecycleEvent) -> bool:
        """Whether that was done; a repetition changes nothing."""
        if self.live_count is None:
            return True
        expires_at = expiry_of(event, max(self.keep_for, NOTED_FOR))
        try:
            if event.type is EventType.SCHEDULED:
                self.live_count.started(event.owner, event.schedule_id, expires_at)
            elif event.state in ENDS:
                self.live_count.ended(event.owner, event.schedule_id, expires_at)
        except Unavailable:
            return False
        return True


def _occurrence(event: LifecycleEvent, text: str) -> Occurrence | None:
    """Of a series, if the event is the beginning of one. Raises Malformed."""
    if event.type is not EventType.SCHEDULED:
        return None
    series = event.original.schedule.definition.series if event.original else cloud_events.series_in(text)
    return occurrence_in(series)
