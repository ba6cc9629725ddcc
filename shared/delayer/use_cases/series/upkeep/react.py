"""Steps series by the lifecycle events of their occurrences (ADR 0100)."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from attrs import frozen

from delayer.core.history import cloud_events
from delayer.core.schedule.malformed import Malformed
from delayer.core.series.stepping import Happened
from delayer.ports.clock import Parallel
from delayer.ports.observer import Observer
from delayer.ports.queue import ReceivedMessage
from delayer.use_cases.series.upkeep.alone import is_done


@frozen(kw_only=True)
class ReactToEvents:
    """One batch of the series queue."""

    step: Callable[[Happened], None]  # StepSeries
    parallel: Parallel
    observer: Observer

    def __call__(self, batch: Sequence[ReceivedMessage]) -> list[str]:
        """Returns the ids of the messages to be delivered again.

        A claim and an end often come together. Both are reasons to step, so that they would write the same transaction
        side by side, and DynamoDB bills the one that loses, too. Hence those of one occurrence follow each other.
        """
        events = {received.message_id: self._event_in(received) for received in batch}
        happened: dict[str, dict[str, Happened]] = {}
        for message_id, event in events.items():
            if event:
                happened.setdefault(event.schedule_id, {})[message_id] = event
        settled = {one for done in self.parallel.map(self._stepped, happened.values()) for one in done}
        return [received.message_id for received in batch if received.message_id not in settled]

    def _event_in(self, received: ReceivedMessage) -> Happened | None:
        """An event that cannot be read waits: the next release may read it. Meanwhile the net steps the series."""
        try:
            event = cloud_events.decode(received.body)
        except Malformed as error:
            self.observer.warn("a lifecycle event that cannot be read", problem=error.reason)
            return None
        return Happened(schedule_id=event.schedule_id, kind=event.type)

    def _stepped(self, of_one: Mapping[str, Happened]) -> list[str]:
        """The messages about one occurrence that are settled."""
        return [
            message_id
            for message_id, happened in of_one.items()
            if is_done(partial(self.step, happened), self.observer, happened.schedule_id)
        ]
