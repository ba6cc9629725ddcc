"""The topic of lifecycle events in SNS."""

from collections.abc import Sequence
from typing import Any, Final

from attrs import frozen

from delayer.aws.batches import send_all
from delayer.ports import Announcement

BATCH_BYTES: Final = 262_144  # of one PublishBatch, texts and attributes


@frozen(kw_only=True)
class SnsTopic:
    """Port Topic."""

    sns: Any
    arn: str

    def publish(self, announcements: Sequence[Announcement]) -> list[int]:
        sizes = [_size(announcement) for announcement in announcements]
        # What SNS will never take would hold up a shard of the stream for a day.
        return send_all(
            sizes,
            BATCH_BYTES,
            lambda batch: self._publish([_entry(at, announcements[at]) for at in batch]),
            passes_over_faults=True,
        )

    def _publish(self, entries: list[dict[str, Any]]) -> dict[str, Any]:
        answer: dict[str, Any] = self.sns.publish_batch(TopicArn=self.arn, PublishBatchRequestEntries=entries)
        return answer


def _entry(at: int, announcement: Announcement) -> dict[str, Any]:
    attributes = {name: {"DataType": "String", "StringValue": value} for name, value in announcement.attributes}
    return {"Id": str(at), "Message": announcement.text, "MessageAttributes": attributes}


def _size(announcement: Announcement) -> int:
    """As SNS counts: the names and types of attributes, too."""
    attributes = sum(len(name) + len("String") + len(value.encode()) for name, value in announcement.attributes)
    return len(announcement.text.encode()) + attributes
