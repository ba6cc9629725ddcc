"""The events of Lambda, as far as they are read here."""

from typing import TYPE_CHECKING, NotRequired, TypedDict

if TYPE_CHECKING:
    from delayer.aws.store.attributes import Attributes


class StreamData(TypedDict, total=False):
    """What a stream record says of its item."""

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
