"""Empties big buckets, which the minute task handed on (ADR 0015)."""

from collections.abc import Sequence

from attrs import field, frozen

from delayer.core.bucket import Bucket
from delayer.core.instants import Millis
from delayer.core.wire import SweepMessage, Unreadable, decode
from delayer.ports import Clock, Delivery, Observer, RecordKey, ScheduleTable, Unavailable


@frozen(kw_only=True)
class SweepBuckets:
    """Big buckets, one message each; any number of these run at a time."""

    clock: Clock
    schedules: ScheduleTable
    observer: Observer
    budget: Millis = field(default=40_000)  # what is left after this long is taken up by the next delivery

    def __call__(self, deliveries: Sequence[Delivery]) -> list[str]:
        """Returns the ids of the messages that SQS must deliver again."""
        return [delivery.message_id for delivery in deliveries if not self._sweep(delivery)]

    def _sweep(self, delivery: Delivery) -> bool:
        try:
            message = decode(delivery.body, SweepMessage)
        except Unreadable as error:
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

    def _drain(self, bucket: Bucket) -> tuple[int, bool]:
        """Page by page until the last; whether anything is left."""
        began = self.clock.now()
        deleted, left = 0, False
        after: RecordKey | None = None
        while self.clock.now() <= began + self.budget:
            page = self.schedules.page(bucket, after)
            missed = self.schedules.delete(page.keys) if page.keys else []
            deleted += len(page.keys) - len(missed)
            left = left or bool(missed)
            after = page.more
            if after is None:
                return deleted, left
        return deleted, True
