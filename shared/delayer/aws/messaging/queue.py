"""An SQS queue, as its senders see it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from attrs import frozen

from delayer.aws.messaging.batches import send_all
from delayer.aws.runtime.clients import AWS_ERRORS
from delayer.core.schedule.messages import MAX_BYTES
from delayer.ports.queue import Outgoing
from delayer.ports.unavailable import Unavailable

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_sqs.type_defs import SendMessageBatchRequestEntryTypeDef

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

    def visible(self) -> int:
        try:
            answer = self.sqs.get_queue_attributes(QueueUrl=self.url, AttributeNames=["ApproximateNumberOfMessages"])
        except AWS_ERRORS as error:
            raise Unavailable(f"queue attributes: {error}") from error
        return int(answer["Attributes"]["ApproximateNumberOfMessages"])


def _entry(at: int, message: Outgoing) -> "SendMessageBatchRequestEntryTypeDef":
    """On a standard queue, the group makes it a fair queue; the order is not affected. FIFO queues take no delay."""
    entry: SendMessageBatchRequestEntryTypeDef = {"Id": str(at), "MessageBody": message.body}
    if message.once:
        entry["MessageDeduplicationId"] = message.once
    else:
        entry["DelaySeconds"] = message.delay_seconds
    return {**entry, "MessageGroupId": message.message_group} if message.message_group else entry
