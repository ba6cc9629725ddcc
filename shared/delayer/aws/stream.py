"""Records of the schedules table's stream."""

import json
from collections.abc import Mapping
from typing import Any

from delayer.aws.schedule_table import from_item
from delayer.core.enqueueing import Change, Garbled, Kind


def changes_of(event: Mapping[str, Any]) -> list[Change]:
    """The changes of a DynamoDB stream event, in order."""
    return [change_of(record) for record in event["Records"]]


def change_of(record: Mapping[str, Any]) -> Change:
    """What cannot be read is a change, too: it is set aside, and its neighbours go on."""
    data = record["dynamodb"]
    raw = json.dumps(record)
    try:
        kind = Kind(record["eventName"])
    except ValueError:
        return Change(
            kind=Kind.REMOVE, sequence=data["SequenceNumber"], row=Garbled("an event of unknown name"), raw=raw
        )
    image = data.get("OldImage" if kind is Kind.REMOVE else "NewImage")
    row = from_item(image) if image else Garbled("a stream record without its image")
    return Change(kind=kind, sequence=data["SequenceNumber"], row=row, raw=raw)
