"""Queues of SQS and the topic in SNS: many messages in few requests, of which a part may be accepted (ADR 0007)."""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from attrs import frozen

from delayer.engines.aws.clients import AWS_ERRORS, log
from delayer.engines.ports import Announcement, Outgoing, ReceivedMessage, Unavailable, nobody_asks
from delayer.schedule.messages import MAX_BYTES

if TYPE_CHECKING:
    from mypy_boto3_sns import SNSClient
    from mypy_boto3_sns.type_defs import PublishBatchRequestEntryTypeDef, PublishBatchResponseTypeDef
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_sqs.literals import QueueAttributeNameType
    from mypy_boto3_sqs.type_defs import (
        MessageTypeDef,
        SendMessageBatchRequestEntryTypeDef,
        SendMessageBatchResultTypeDef,
    )


MESSAGES: Final = 10  # in one request to SQS or SNS
NEVER: Final = frozenset({"InvalidParameter", "InvalidParameterValue", "ParameterValueInvalid"})
BATCH_BYTES: Final = MAX_BYTES  # SQS takes as much in one SendMessageBatch
TOPIC_BATCH_BYTES: Final = 262_144  # of one PublishBatch, texts and attributes


def send_all(
    sizes: Sequence[int],
    at_most: int,
    send: "Callable[[Sequence[int]], SendMessageBatchResultTypeDef | PublishBatchResponseTypeDef]",
    *,
    refused: Callable[[int], None] | None = None,
) -> list[int]:
    """Calls `send` for ten positions and `at_most` bytes at a time; returns the positions not known to be accepted.

    Each entry has its position as its `Id`. `Failed[]` lists what was *not* accepted, in an answer with status 200.
    AWS does not say that such an entry surely was not stored, so it is not sent once more from here (ADR 0084).
    `refused`: a message that AWS will never accept is logged, told to this function and counts as accepted. It is lost,
    which is better than trying for ever.
    """
    left: list[int] = []
    for batch in _batches(sizes, at_most):
        try:
            answer = send(batch)
        except AWS_ERRORS as error:
            log.warning("messages not sent: %s", error)
            left += batch
            continue
        for failed in answer.get("Failed", []):
            log.warning("message not sent: %s", failed.get("Message") or failed["Code"])
        accepted = {int(one["Id"]) for one in answer.get("Successful", [])}
        if refused:
            rejected = [one for one in answer.get("Failed", []) if one.get("Code") in NEVER]
            for one in rejected:
                log.error("given up: %s", one["Code"])
                refused(int(one["Id"]))
            accepted |= {int(one["Id"]) for one in rejected}
        left += [at for at in batch if at not in accepted]
    return left


def _batches(sizes: Sequence[int], at_most: int) -> Iterator[list[int]]:
    batch: list[int] = []
    room = at_most
    for at, size in enumerate(sizes):
        if batch and (len(batch) == MESSAGES or size > room):
            yield batch
            batch, room = [], at_most
        batch.append(at)
        room -= size
    if batch:
        yield batch


@frozen(kw_only=True)
class SqsQueue:
    """Sends to a queue of SQS, and receives from it."""

    sqs: "SQSClient"
    url: str

    def send(self, messages: Sequence[Outgoing]) -> list[int]:
        sizes = [len(message.body.encode()) for message in messages]
        return send_all(
            sizes,
            BATCH_BYTES,
            lambda batch: self.sqs.send_message_batch(
                QueueUrl=self.url, Entries=[_entry(at, messages[at]) for at in batch]
            ),
        )

    def pull(self, at_most: int) -> list[ReceivedMessage]:
        try:
            answer = self.sqs.receive_message(
                QueueUrl=self.url,
                MaxNumberOfMessages=min(at_most, MESSAGES),
                WaitTimeSeconds=0,  # whoever calls is to end as soon as it can
                MessageSystemAttributeNames=["SentTimestamp", "ApproximateReceiveCount"],
            )
        except AWS_ERRORS as error:
            raise Unavailable(f"receive messages: {error}") from error
        return [self._received(message) for message in answer.get("Messages", [])]

    def _received(self, message: "MessageTypeDef") -> ReceivedMessage:
        return ReceivedMessage(
            message_id=message["MessageId"],
            body=message["Body"],
            source=self.url.rpartition("/")[2],
            sent_at=int(message["Attributes"]["SentTimestamp"]),
            receives=int(message["Attributes"]["ApproximateReceiveCount"]),
            receipt=message["ReceiptHandle"],
        )

    def delete(self, received: ReceivedMessage) -> None:
        try:
            self.sqs.delete_message(QueueUrl=self.url, ReceiptHandle=received.receipt)
        except AWS_ERRORS as error:
            log.warning("message not deleted: %s", error)

    def give_back(self, messages: Sequence[ReceivedMessage], seconds: int = 0) -> None:
        try:
            self.sqs.change_message_visibility_batch(
                QueueUrl=self.url,
                Entries=[
                    {"Id": str(at), "ReceiptHandle": one.receipt, "VisibilityTimeout": seconds}
                    for at, one in enumerate(messages)
                ],
            )
        except AWS_ERRORS as error:
            log.warning("messages not given back: %s", error)

    def visible(self) -> int:
        return self._about("ApproximateNumberOfMessages")

    def delayed(self) -> int:
        return self._about("ApproximateNumberOfMessagesDelayed")

    def _about(self, attribute: "QueueAttributeNameType") -> int:
        try:
            answer = self.sqs.get_queue_attributes(QueueUrl=self.url, AttributeNames=[attribute])
            return int(answer["Attributes"][attribute])
        except AWS_ERRORS as error:
            raise Unavailable(f"queue attributes: {error}") from error


def _entry(at: int, message: Outgoing) -> "SendMessageBatchRequestEntryTypeDef":
    """On a standard queue, the group makes it a fair queue; the order is not affected. FIFO queues take no delay."""
    entry: SendMessageBatchRequestEntryTypeDef = {"Id": str(at), "MessageBody": message.body}
    if message.once:
        entry["MessageDeduplicationId"] = message.once
    else:
        entry["DelaySeconds"] = message.delay_seconds
    return {**entry, "MessageGroupId": message.message_group} if message.message_group else entry


@frozen(kw_only=True)
class SnsTopic:
    """Publishes to a topic of SNS."""

    sns: "SNSClient"
    arn: str

    def publish(self, announcements: Sequence[Announcement], refused: Callable[[int], None] = nobody_asks) -> list[int]:
        sizes = [_size(announcement) for announcement in announcements]
        # A shard of the stream would wait for a day for what SNS will never take.
        return send_all(
            sizes,
            TOPIC_BATCH_BYTES,
            lambda batch: self.sns.publish_batch(
                TopicArn=self.arn, PublishBatchRequestEntries=[_topic_entry(at, announcements[at]) for at in batch]
            ),
            refused=refused,
        )


def _topic_entry(at: int, announcement: Announcement) -> "PublishBatchRequestEntryTypeDef":
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
