"""An SQS queue, as its senders see it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from attrs import frozen

from delayer.aws.messaging.batches import MESSAGES, send_all
from delayer.aws.runtime.clients import AWS_ERRORS, log
from delayer.core.schedule.messages import MAX_BYTES
from delayer.ports.queue import Outgoing, ReceivedMessage
from delayer.ports.unavailable import Unavailable

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_sqs.literals import QueueAttributeNameType
    from mypy_boto3_sqs.type_defs import MessageTypeDef, SendMessageBatchRequestEntryTypeDef

BATCH_BYTES: Final = MAX_BYTES  # SQS takes as much in one SendMessageBatch


@frozen(kw_only=True)
class SqsQueue:
    """Port Queue."""

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
