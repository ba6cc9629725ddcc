"""Empties big buckets, which the minute task handed on (ADR 0012)."""

from collections.abc import Sequence
from typing import Protocol

from attrs import field, frozen

from delayer.core.firing import sweeping
from delayer.core.firing.sweeping import Gate
from delayer.core.schedule.bucket import Bucket, RecordKey
from delayer.core.schedule.instants import Millis
from delayer.core.schedule.malformed import Malformed, UnknownVersion
from delayer.core.schedule.messages import SweepMessage, decode
from delayer.ports.clock import Clock
from delayer.ports.control import ReadsHeartbeat
from delayer.ports.observer import Observer
from delayer.ports.queue import MeasuresBacklog, ReceivedMessage
from delayer.ports.schedule_table import DeletesSchedules, ReadsBuckets
from delayer.ports.unavailable import Unavailable


class TableOfSweep(DeletesSchedules, ReadsBuckets, Protocol):
    """What it needs from the schedules table."""


@frozen(kw_only=True)
class SweepBuckets:
    """Big buckets, one message each; any number of these run at a time."""

    clock: Clock
    schedules: TableOfSweep
    control: ReadsHeartbeat
    delayer_queue: MeasuresBacklog
    observer: Observer
    mark: int  # as that of the minute task
    budget: Millis = field(default=40_000)  # what is left after this long is swept when SQS delivers the message again

    def __call__(self, batch: Sequence[ReceivedMessage]) -> list[str]:
        """Returns the ids of the messages that SQS must deliver again."""
        return [received.message_id for received in batch if not self._sweep(received)]

    def _sweep(self, received: ReceivedMessage) -> bool:
        try:
            message = decode(received.body, SweepMessage)
        except (Malformed, UnknownVersion) as error:
            self.observer.warn("sweep message dropped: the minute task writes it again", reason=str(error))
            return True
        bucket = Bucket(minute=message.minute, shard=message.shard)
        try:
            deleted, left = self._drain(bucket)
        except Unavailable as error:
            self.observer.warn("bucket not swept", bucket=bucket.key, error=str(error))
            return False
        self.observer.count("Swept", deleted)
        self.observer.note("bucket swept", bucket=bucket.key, deleted=deleted, left=left)
        return not left

    def _gate(self) -> Gate:
        """The same as that of the minute task."""
        seen, visible = self.control.heartbeats().proven, self.delayer_queue.visible()
        return sweeping.decide_gate(seen, visible, self.mark, self.clock.now())

    def _drain(self, bucket: Bucket) -> tuple[int, bool]:
        """Page by page until the last; whether anything is left.

        While the relay has a backlog, a bucket that is not urgent gives one page: paced, but not starved.
        """
        began = self.clock.now()
        deleted, left, pages = 0, False, 0
        after: RecordKey | None = None
        while self.clock.now() <= began + self.budget:
            gate = self._gate()
            if gate is Gate.CLOSED or (pages and not sweeping.may_sweep(gate, bucket.minute, self.clock.now())):
                break
            pages += 1
            page = self.schedules.page(bucket, after)
            missed = self.schedules.delete(page.keys) if page.keys else []
            deleted += len(page.keys) - len(missed)
            left = left or bool(missed)
            after = page.more
            if after is None:
                return deleted, left
        return deleted, True
