"""Records of the streams of the tables of records and of the ledger, as changes and as lifecycle events."""

from functools import cache, partial
from typing import Any, Final

from delayer.engines.aws.expressions import from_attributes
from delayer.engines.ports import Unavailable
from delayer.engines.store.mapped import NOT_READ
from delayer.engines.store.model import Item
from delayer.history.model import LifecycleEvent, LifecycleRecord, of_record, of_row
from delayer.lambdas.events import StreamData, StreamEvent, StreamRecord
from delayer.ledger import repository as ledger
from delayer.records import repository as records
from delayer.schedule.instants import SECOND, Malformed, UnknownVersion
from delayer.schedule.table_change import ChangeKind, Heartbeat, RecordChange, Row, known

NO_ITEM: Final = (*NOT_READ, ArithmeticError)  # the last one: of a number that is none
RESTORED: Final = "restored"  # an attribute of what was copied from a backup


def item_in(image: Any) -> Item:
    """The item that an image shows. Raises Malformed if it shows none, whatever it is."""
    try:
        return from_attributes(image)
    except NO_ITEM as error:
        raise Malformed(f"an image that cannot be read: {type(error).__name__}: {error}") from error


def changes_of(event: StreamEvent) -> list[RecordChange]:
    """The changes of a DynamoDB stream event, in order."""
    return [change_of(record) for record in event["Records"]]


def change_of(record: StreamRecord) -> RecordChange:
    """A row that cannot be read is a change, too: it becomes a dead letter, and its neighbours go on."""
    data = record["dynamodb"]
    sequence = data["SequenceNumber"]
    try:
        kind = ChangeKind(record["eventName"])
    except ValueError:
        malformed = Malformed("an event of unknown name")
        return RecordChange(kind=ChangeKind.REMOVE, sequence=sequence, read=known(malformed), record=record)
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


def _row_of(kind: ChangeKind, data: StreamData) -> Row:
    image = data.get("OldImage") if kind is ChangeKind.REMOVE else data.get("NewImage")
    if not image:
        return Malformed("a stream record without its image")
    try:
        return records.from_item(item_in(image))
    except Malformed as malformed:
        return malformed


def lifecycle_records_of(event: StreamEvent) -> list[LifecycleRecord]:
    """The records of a stream event, in order."""
    return [_record(record) for record in event["Records"]]


def _record(record: StreamRecord) -> LifecycleRecord:
    """A row that cannot be read is a record, too: it is logged, and its neighbours go on."""
    sequence = record["dynamodb"]["SequenceNumber"]
    try:
        return LifecycleRecord(sequence=sequence, event=_event(record))
    except (KeyError, ValueError, TypeError, AttributeError, Unavailable) as error:
        return LifecycleRecord(sequence=sequence, problem=f"{type(error).__name__}: {error}")


def _event(record: StreamRecord) -> LifecycleEvent | None:
    change, kind, data = record["eventID"], ChangeKind(record["eventName"]), record["dynamodb"]
    if kind is ChangeKind.INSERT and RESTORED in data["NewImage"]:
        return None  # an operator put it back (ADR 0080): what it tells happened long ago, and was announced then
    if "scheduleId" in data["Keys"]:
        return _of_ledger(change, kind, data)
    row = records.from_item(item_in(data["OldImage"] if kind is ChangeKind.REMOVE else data["NewImage"]))
    if isinstance(row, Heartbeat):
        return None
    if isinstance(row, Malformed | UnknownVersion):
        raise Malformed(str(row))  # a new one: the stored one is a value, which others may hold
    at = int(data["ApproximateCreationDateTime"]) * SECOND
    return of_record(kind, row, change, at, expired=is_by_ttl(record))


def _of_ledger(change: str, kind: ChangeKind, data: StreamData) -> LifecycleEvent | None:
    """There is no event of a row that expires."""
    if kind is ChangeKind.REMOVE:
        return None
    old = ledger.from_item(item_in(data["OldImage"])) if "OldImage" in data else None
    return of_row(old, ledger.from_item(item_in(data["NewImage"])), change)
