"""Records of both tables' streams, as lifecycle events."""

from collections.abc import Mapping
from typing import Any

from delayer.aws import ledger, schedule_table
from delayer.core.enqueueing import Garbled, Heartbeat, Kind
from delayer.core.events import Event, Happening, of_record, of_row
from delayer.core.instants import SECOND
from delayer.ports import Unavailable


def happenings_of(event: Mapping[str, Any]) -> list[Happening]:
    """What the records of a stream event tell, in order."""
    return [_happening(record) for record in event["Records"]]


def _happening(record: Mapping[str, Any]) -> Happening:
    """What cannot be read is a happening, too: it is logged, and its neighbours go on."""
    sequence = record["dynamodb"]["SequenceNumber"]
    try:
        return Happening(sequence, _event(record))
    except (KeyError, ValueError, TypeError, AttributeError, Unavailable) as error:
        return Happening(sequence, None, f"{type(error).__name__}: {error}")


def _event(record: Mapping[str, Any]) -> Event | None:
    change, kind, data = record["eventID"], Kind(record["eventName"]), record["dynamodb"]
    if "scheduleId" in data["Keys"]:
        return _of_ledger(change, kind, data)
    row = schedule_table.from_item(data["OldImage" if kind is Kind.REMOVE else "NewImage"])
    match row:
        case Heartbeat():
            return None
        case Garbled(reason):
            raise ValueError(reason)
    at = int(data["ApproximateCreationDateTime"]) * SECOND
    return of_record(kind, row, change, at)


def _of_ledger(change: str, kind: Kind, data: Mapping[str, Any]) -> Event | None:
    """A row that expires tells nothing."""
    if kind is Kind.REMOVE:
        return None
    old = ledger.from_item(data["OldImage"]) if "OldImage" in data else None
    return of_row(old, ledger.from_item(data["NewImage"]), change)
