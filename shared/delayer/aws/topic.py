"""The topic of lifecycle events in SNS."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from attrs import frozen

from delayer.aws.clients import AWS_ERRORS, log
from delayer.ports import Announcement

BATCH: Final = 10  # messages in one PublishBatch
BATCH_BYTES: Final = 262_144  # and their texts and attributes together


@frozen(kw_only=True)
class SnsTopic:
    """Port Topic."""

    sns: Any
    arn: str

    def publish(self, announcements: Sequence[Announcement]) -> list[int]:
        return [at for batch in _batches(announcements) for at in self._publish_batch(batch, announcements)]

    def _publish_batch(self, batch: Sequence[int], announcements: Sequence[Announcement]) -> list[int]:
        entries = [_entry(at, announcements[at]) for at in batch]
        try:
            answer = self.sns.publish_batch(TopicArn=self.arn, PublishBatchRequestEntries=entries)
        except AWS_ERRORS as error:
            log.warning("events not published: %s", error)
            return list(batch)
        for refused in answer.get("Failed", []):
            log.warning("event not published: %s", refused.get("Message") or refused["Code"])
        published = {int(one["Id"]) for one in answer.get("Successful", [])}
        return [at for at in batch if at not in published]


def _entry(at: int, announcement: Announcement) -> dict[str, Any]:
    attributes = {name: {"DataType": "String", "StringValue": value} for name, value in announcement.attributes}
    return {"Id": str(at), "Message": announcement.text, "MessageAttributes": attributes}


def _batches(announcements: Sequence[Announcement]) -> Iterator[list[int]]:
    """Positions, ten and 256 KiB at a time."""
    batch: list[int] = []
    room = BATCH_BYTES
    for at, announcement in enumerate(announcements):
        size = _size(announcement)
        if batch and (len(batch) == BATCH or size > room):
            yield batch
            batch, room = [], BATCH_BYTES
        batch.append(at)
        room -= size
    if batch:
        yield batch


def _size(announcement: Announcement) -> int:
    """As SNS counts: the names and types of attributes, too."""
    attributes = sum(len(name) + len("String") + len(value.encode()) for name, value in announcement.attributes)
    return len(announcement.text.encode()) + attributes
