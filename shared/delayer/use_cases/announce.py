"""Tells subscribers what happens to schedules: one lifecycle event for each transition (ADR 0052)."""

from collections.abc import Sequence

from attrs import evolve, frozen

from delayer.core import cloud_events
from delayer.core.events import Event, Happening
from delayer.ports import Announcement, Observer, Topic


@frozen(kw_only=True)
class Announce:
    """One batch of a stream."""

    topic: Topic
    observer: Observer
    source: str  # of all events: names this stack

    def __call__(self, happenings: Sequence[Happening]) -> list[str]:
        """Publishes all; returns the sequence numbers of those that must be delivered again.

        What cannot be read is passed over: it is the enqueuer, or the relay, that keeps it and raises the alarm.
        """
        for happening in happenings:
            if happening.problem:
                self.observer.warn("a change that cannot be told", problem=happening.problem)
        told = [(one.sequence, made) for one in happenings if one.event and (made := self._announcement(one.event))]
        left = set(self.topic.publish([announcement for _, announcement in told])) if told else set()
        self.observer.count("Announced", len(told) - len(left))
        return [sequence for position, (sequence, _) in enumerate(told) if position in left]

    def _announcement(self, event: Event) -> Announcement | None:
        """None for what cannot be told: one bad record must not hold up its shard."""
        try:
            return _announcement(evolve(event, source=self.source))
        except Exception as error:  # noqa: BLE001 - whatever it is, it would be the same again
            self.observer.count("Unannounced")
            self.observer.warn("an event that cannot be told", event.schedule_id, error=repr(error))
            return None


def _announcement(event: Event) -> Announcement:
    group = event.definition.schedule.group if event.definition else ""
    attributes = {
        "type": cloud_events.PREFIX + event.type,
        "state": event.state,
        "owner": event.owner,
        "group": group,
    }
    return Announcement(
        text=cloud_events.encode(event),
        attributes=tuple((name, value) for name, value in attributes.items() if value),
    )
