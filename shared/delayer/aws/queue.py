"""An SQS queue, as its senders see it."""

from collections.abc import Sequence
from typing import Any, Final

from attrs import frozen

from delayer.aws.batches import send_all
from delayer.aws.clients import AWS_ERRORS
from delayer.ports import Delivery, Outgoing, Unavailable

BATCH_BYTES: Final = 1_048_576  # of one SendMessageBatch


@frozen(kw_only=True)
class SqsQueue:
    """Port Queue."""

    sqs: Any
    url: str

    def send(self, messages: Sequence[Outgoing]) -> list[int]:
        sizes = [len(message.body.encode()) for message in messages]
        return send_all(sizes, BATCH_BYTES, lambda batch: self._send([_entry(at, messages[at]) for at in batch]))

    def _send(self, entries: list[dict[str, Any]]) -> dict[str, Any]:
        answer: dict[str, Any] = self.sqs.send_message_batch(QueueUrl=self.url, Entries=entries)
        return answer

    def visible(self) -> int:
        try:
            answer = self.sqs.get_queue_attributes(QueueUrl=self.url, AttributeNames=["ApproximateNumberOfMessages"])
        except AWS_ERRORS as error:
            raise Unavailable(f"queue attributes: {error}") from error
        return int(answer["Attributes"]["ApproximateNumberOfMessages"])


def _entry(at: int, message: Outgoing) -> dict[str, Any]:
    """On a standard queue, the group makes it a fair queue; the order is not affected."""
    entry = {"Id": str(at), "MessageBody": message.body, "DelaySeconds": message.delay_seconds}
    return entry | ({"MessageGroupId": message.tenant} if message.tenant else {})


def deliveries_of(event: dict[str, Any]) -> list[Delivery]:
    """The messages of an SQS event."""
    return [
        Delivery(
            message_id=record["messageId"],
            body=record["body"],
            receives=int(record["attributes"]["ApproximateReceiveCount"]),
            source=record["eventSourceARN"].rpartition(":")[2],
        )
        for record in event["Records"]
    ]


def partial_failure(identifiers: Sequence[str]) -> dict[str, Any]:
    """What Lambda is answered about a batch: these again, the rest is done."""
    return {"batchItemFailures": [{"itemIdentifier": identifier} for identifier in identifiers]}
