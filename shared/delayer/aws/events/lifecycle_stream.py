"""Records of both tables' streams, as lifecycle events."""

from typing import Final

from delayer.aws.events.images import item_in
from delayer.aws.events.records import StreamData, StreamEvent, StreamRecord
from delayer.aws.events.table_stream import is_by_ttl
from delayer.core.history.events import Event, LifecycleRecord, of_record, of_row
from delayer.core.schedule.instants import SECOND
from delayer.core.schedule.malformed import Malformed, UnknownVersion
from delayer.core.schedule.table_change import Heartbeat, Kind
from delayer.ports.unavailable import Unavailable
from delayer.repositories.ledger import ledger
from delayer.repositories.schedules import schedule_table

RESTORED: Final = "restored"  # an attribute of what was copied from a backup


def lifecycle_records_of(event: StreamEvent) -> list[LifecycleRecord]:
    """The records of a stream event, in order."""
    return [_record(record) for record in event["Records"]]


def _record(record: StreamRecord) -> LifecycleRecord:
    """What cannot be read is a record, too: it is logged, and its neighbours go on."""
    sequence = record["dynamodb"]["SequenceNumber"]
    try:
        return LifecycleRecord(sequence=sequence, event=_event(record))
    except (KeyError, ValueError, TypeError, AttributeError, Unavailable) as error:
        return LifecycleRecord(sequence=sequence, problem=f"{type(error).__name__}: {error}")


def _event(record: StreamRecord) -> Event | None:
    change, kind, data = record["eventID"], Kind(record["eventName"]), record["dynamodb"]
    if kind is Kind.INSERT and RESTORED in data["NewImage"]:
        return None  # an operator put it back (ADR 0080): what it tells happened long ago, and was announced then
    if "scheduleId" in data["Keys"]:
        return _of_ledger(change, kind, data)
    row = schedule_table.from_item(item_in(data["OldImage"] if kind is Kind.REMOVE else data["NewImage"]))
    if isinstance(row, Heartbeat):
        return None
    if isinstance(row, Malformed | UnknownVersion):
        raise Malformed(str(row))  # a new one: the stored one is a value, which others may hold
    at = int(data["ApproximateCreationDateTime"]) * SECOND
    return of_record(kind, row, change, at, expired=is_by_ttl(record))


def _of_ledger(change: str, kind: Kind, data: StreamData) -> Event | None:
    """There is no event of a row that expires."""
    if kind is Kind.REMOVE:
        return None
    old = ledger.from_item(item_in(data["OldImage"])) if "OldImage" in data else None
    return of_row(old, ledger.from_item(item_in(data["NewImage"])), change)
