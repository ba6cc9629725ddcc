"""Publishes what happens to schedules: one lifecycle event for each transition (ADR 0052)."""

import traceback
from collections.abc import Sequence

from attrs import frozen

from delayer.engines.ports import Announcement, Observer, Topic
from delayer.history import cloud_events
from delayer.history.model import LifecycleEvent, LifecycleRecord
from delayer.schedule.schedule import SYSTEM_OWNER
from delayer.schedule.schedule_id import word_of_kind


@frozen(kw_only=True)
class Announce:
    """One batch of a stream."""

    topic: Topic
    observer: Observer
    event_source: str  # of all events: names this stack

    def __call__(self, records: Sequence[LifecycleRecord]) -> list[str]:
        """Publishes all; returns the sequence numbers of those that must be delivered again.

        What cannot be read is skipped here: the enqueuer or the relay stores it and raises the alarm.
        """
        for record in records:
            if record.problem:
                self.observer.count("Unannounced")
                self.observer.warn("a change that cannot be read", problem=record.problem)
        # Delayer's own schedules have no history: the canary would be most of the journal of a quiet stack.
        events = [(one.sequence, one.event) for one in records if one.event and one.event.owner != SYSTEM_OWNER]
        ready = [(sequence, made) for sequence, event in events if (made := self._announcement(event))]
        refused: list[int] = []
        left = set(self.topic.publish([one for _, one in ready], refused.append)) if ready else set()
        self.observer.count("Announced", len(ready) - len(left) - len(refused))
        self.observer.count("Unannounced", len(refused))
        return [sequence for position, (sequence, _) in enumerate(ready) if position in left]

    def _announcement(self, event: LifecycleEvent) -> Announcement | None:
        """None for what cannot be published: its shard must not wait for one bad record."""
        try:
            return _announcement(event, self.event_source)
        except Exception as error:  # noqa: BLE001 - whatever it is, it would be the same again
            self.observer.count("Unannounced")
            # Its text may hold what a client sent.
            where = traceback.format_tb(error.__traceback__)
            self.observer.warn(
                "an event that cannot be published", event.schedule_id, error=type(error).__name__, where=where
            )
            return None


def _announcement(event: LifecycleEvent, source: str) -> Announcement:
    group = event.original.schedule.definition.group if event.original else ""
    attributes = {
        "type": cloud_events.PREFIX + event.type,
        "state": event.state,
        "owner": event.owner,
        "group": group,
        "kind": word_of_kind(event.schedule_id),
        "retold": "later" if event.retold else "",
    }
    return Announcement(
        text=cloud_events.encode(event, source),
        attributes=tuple((name, value) for name, value in attributes.items() if value),
    )
