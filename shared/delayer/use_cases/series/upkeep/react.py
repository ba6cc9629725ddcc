"""Steps series by the lifecycle events of their occurrences (ADR 0100)."""

from collections.abc import Callable, Sequence

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
        """Returns the ids of the messages to be delivered again."""
        stepped = self.parallel.map(self._is_stepped, batch)
        return [received.message_id for received, is_over in zip(batch, stepped, strict=True) if not is_over]

    def _is_stepped(self, received: ReceivedMessage) -> bool:
        """An event that cannot be read waits: the next release may read it. Meanwhile the net steps the series."""
        try:
            event = cloud_events.decode(received.body)
        except Malformed as error:
            self.observer.warn("a lifecycle event that cannot be read", problem=error.reason)
            return False
        happened = Happened(schedule_id=event.schedule_id, kind=event.type)
        return is_done(lambda: self.step(happened), self.observer, event.schedule_id)
