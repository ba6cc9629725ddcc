"""SQS events of Lambda, and the answer to a batch of any event source."""

from collections.abc import Sequence

from delayer.aws.events.records import BatchResponse, SqsEvent
from delayer.ports.queue import ReceivedMessage


def received_messages_of(event: SqsEvent) -> list[ReceivedMessage]:
    """The messages of an SQS event."""
    return [
        ReceivedMessage(
            message_id=record["messageId"],
            body=record["body"],
            source=record["eventSourceARN"].rpartition(":")[2],
            sent_at=int(record.get("attributes", {}).get("SentTimestamp", 0)),
            origin=record.get("attributes", {}).get("DeadLetterQueueSourceArn", "").rpartition(":")[2],
            receives=int(record.get("attributes", {}).get("ApproximateReceiveCount", 1)),
            receipt=record.get("receiptHandle", ""),
        )
        for record in event["Records"]
    ]


def partial_failure(identifiers: Sequence[str]) -> BatchResponse:
    """The answer to Lambda about a batch: deliver these again, the others are done."""
    return {"batchItemFailures": [{"itemIdentifier": identifier} for identifier in identifiers]}
