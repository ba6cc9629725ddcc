"""Records of streams and queues, as Lambda hands them over; a failed one is named."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NotRequired, TypedDict

from delayer.engines.ports import ReceivedMessage

if TYPE_CHECKING:
    from delayer.engines.aws.expressions import Attributes


class StreamData(TypedDict, total=False):
    """The facts that a stream record says of its item."""

    Keys: "Attributes"
    OldImage: "Attributes"
    NewImage: "Attributes"
    SequenceNumber: str
    ApproximateCreationDateTime: float


class StreamRecord(TypedDict):
    """One record of a DynamoDB stream."""

    eventID: str
    eventName: str
    dynamodb: StreamData
    userIdentity: NotRequired[dict[str, str] | None]  # of whoever made the change, if that was a service of AWS


class StreamEvent(TypedDict):
    """A batch of a DynamoDB stream, delivered by the stream or brought back by the minute task."""

    Records: list[StreamRecord]
    broughtBack: NotRequired[bool]


class SqsRecord(TypedDict):
    """One message of SQS."""

    messageId: str
    body: str
    eventSourceARN: str
    receiptHandle: NotRequired[str]
    attributes: dict[str, str]


class SqsEvent(TypedDict):
    """A batch of an SQS queue."""

    Records: list[SqsRecord]


BatchResponse = dict[str, list[dict[str, str]]]


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
