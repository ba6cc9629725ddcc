"""The topic of lifecycle events in SNS."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from attrs import frozen

from delayer.aws.messaging.batches import send_all
from delayer.ports.topic import Announcement, nobody_asks

if TYPE_CHECKING:
    from mypy_boto3_sns import SNSClient
    from mypy_boto3_sns.type_defs import PublishBatchRequestEntryTypeDef

BATCH_BYTES: Final = 262_144  # of one PublishBatch, texts and attributes


@frozen(kw_only=True)
class SnsTopic:
    """Port Topic."""

    sns: "SNSClient"
    arn: str

    def publish(self, announcements: Sequence[Announcement], refused: Callable[[int], None] = nobody_asks) -> list[int]:
        sizes = [_size(announcement) for announcement in announcements]
        # What SNS will never take would hold up a shard of the stream for a day.
        return send_all(
            sizes,
            BATCH_BYTES,
            lambda batch: self.sns.publish_batch(
                TopicArn=self.arn, PublishBatchRequestEntries=[_entry(at, announcements[at]) for at in batch]
            ),
            refused=refused,
        )


def _entry(at: int, announcement: Announcement) -> "PublishBatchRequestEntryTypeDef":
    return {
        "Id": str(at),
        "Message": announcement.text,
        "MessageAttributes": {
            name: {"DataType": "String", "StringValue": value} for name, value in announcement.attributes
        },
    }


def _size(announcement: Announcement) -> int:
    """As SNS counts: the names and types of attributes, too."""
    attributes = sum(len(name) + len("String") + len(value.encode()) for name, value in announcement.attributes)
    return len(announcement.text.encode()) + attributes
