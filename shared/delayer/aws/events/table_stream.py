"""Records of the schedules table's stream."""

from delayer.aws.dynamodb.schedule_table import from_item
from delayer.aws.events.records import StreamEvent, StreamRecord
from delayer.core.schedule.instants import SECOND
from delayer.core.schedule.malformed import Malformed
from delayer.core.schedule.table_change import Kind, RecordChange


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
        return RecordChange(kind=Kind.REMOVE, sequence=sequence, row=malformed, record=record)
    at = int(data.get("ApproximateCreationDateTime", 0)) * SECOND
    image = data.get("OldImage") if kind is Kind.REMOVE else data.get("NewImage")
    row = from_item(image) if image else Malformed("a stream record without its image")
    return RecordChange(kind=kind, sequence=sequence, row=row, record=record, at=at)
