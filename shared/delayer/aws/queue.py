"""An SQS queue, as its senders see it."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from attrs import frozen

from delayer.aws.clients import AWS_ERRORS, log
from delayer.ports import Delivery, Outgoing, Unavailable

BATCH: Final = 10  # messages in one SendMessageBatch
BATCH_BYTES: Final = 1_048_576  # and their bodies together


@frozen(kw_only=True)
class SqsQueue:
    """Port Queue."""

    sqs: Any
    url: str

    def send(self, messages: Sequence[Outgoing]) -> list[int]:
        return [position for batch in _batches(messages) for position in self._send_batch(batch, messages)]

    def _send_batch(self, batch: Sequence[int], messages: Sequence[Outgoing]) -> list[int]:
        """`Failed[]` is a list of messages that are *not* in the queue, in an answer that says 200 (ADR 0007)."""
        entries = [_entry(at, messages[at]) for at in batch]
        try:
            answer = self.sqs.send_message_batch(QueueUrl=self.url, Entries=entries)
        except AWS_ERRORS as error:
            log.warning("messages not sent: %s", error)
            return list(batch)
        for refused in answer.get("Failed", []):
            log.warning("message not sent: %s", refused.get("Message") or refused["Code"])
        sent = {int(one["Id"]) for one in answer.get("Successful", [])}
        return [at for at in batch if at not in sent]

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


def _batches(messages: Sequence[Outgoing]) -> Iterator[list[int]]:
    """Positions, ten and one MiB at a time."""
    batch: list[int] = []
    room = BATCH_BYTES
    for at, message in enumerate(messages):
        size = len(message.body.encode())
        if batch and (len(batch) == BATCH or size > room):
            yield batch
            batch, room = [], BATCH_BYTES
        batch.append(at)
        room -= size
    if batch:
        yield batch


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
