"""Records of the schedules table's stream."""

from functools import cache, partial

from delayer.aws.events.images import item_in
from delayer.aws.events.records import StreamData, StreamEvent, StreamRecord
from delayer.core.schedule.instants import SECOND
from delayer.core.schedule.malformed import Malformed
from delayer.core.schedule.table_change import Kind, RecordChange, Row, known
from delayer.repositories.schedules.schedule_table import from_item


def changes_of(event: StreamEvent) -> list[RecordChange]:
    """The changes of a DynamoDB stream event, in order."""
    return [change_of(record) for record in event["Records"]]


def change_of(record: StreamRecord) -> RecordChange:
    """What cannot be read is a change, too: it becomes a dead letter, and its neighbours go on."""
    data = record["dynamodb"]
    sequence = data["SequenceNumber"]
    try:
        kind = Kind(record["eventName"])
    except ValueError:
        malformed = Malformed("an event of unknown name")
        return RecordChange(kind=Kind.REMOVE, sequence=sequence, read=known(malformed), record=record)
    at = int(data.get("ApproximateCreationDateTime", 0)) * SECOND
    return RecordChange(
        kind=kind,
        sequence=sequence,
        read=cache(partial(_row_of, kind, data)),
        record=record,
        at=at,
        event=record.get("eventID", ""),
        expired=is_by_ttl(record),
    )


def is_by_ttl(record: StreamRecord) -> bool:
    """Whether DynamoDB's TTL has removed it, and nobody else. Whoever else removes one cannot write these words."""
    by = record.get("userIdentity") or {}
    return (by.get("type"), by.get("principalId")) == ("Service", "dynamodb.amazonaws.com")


def _row_of(kind: Kind, data: StreamData) -> Row:
    image = data.get("OldImage") if kind is Kind.REMOVE else data.get("NewImage")
    if not image:
        return Malformed("a stream record without its image")
    try:
        return from_item(item_in(image))
    except Malformed as malformed:
        return malformed
