"""The schedules in an object of the dead-letter bucket, put there by a function of ours or by Lambda itself."""

import json
from collections.abc import Callable, Sequence
from typing import cast

from delayer.dead_letters.model import Contents, decode, records_in
from delayer.lambdas.events import StreamRecord
from delayer.lambdas.table_stream import change_of
from delayer.schedule import messages
from delayer.schedule.instants import Malformed, UnknownVersion
from delayer.schedule.messages import DelayerMessage, ExecutorMessage, OutcomeMessage
from delayer.schedule.schedule import Schedule
from delayer.schedule.table_change import ChangeKind, Row


def schedules_in(content: bytes) -> Contents:
    """All that can be read, and how much cannot. Never raises."""
    try:
        return _from_body(decode(content).body)
    except ValueError:
        return _from_discarded(content)


def _from_body(body: str) -> Contents:
    """A stored body is a message of either queue, or a stream record."""
    readers: tuple[Callable[[str], Contents], ...] = (
        lambda text: Contents(schedules=(messages.decode(text, ExecutorMessage).schedule,), handed_over=True),
        lambda text: Contents(schedules=(messages.decode(text, DelayerMessage).schedule,)),
        _from_outcome,
        lambda text: Contents(schedules=(_from_record(json.loads(text)),)),
    )
    for read in readers:
        try:
            return read(body)
        except ValueError:
            continue
    return Contents(malformed=1)


def _from_outcome(text: str) -> Contents:
    message = messages.decode(text, OutcomeMessage)
    return Contents(schedules=(message.schedule,), handed_over=True, accepted=message.outcome == "done")


def _from_discarded(content: bytes) -> Contents:
    """The records that wait to be brought back. Only the removed ones: those that were inserted are in the
    table, and are swept.
    """
    try:
        records = cast("Sequence[StreamRecord]", records_in(content))
        removed = [record for record in records if record["eventName"] == ChangeKind.REMOVE]
    except (ValueError, KeyError, TypeError):
        return Contents(malformed=1)
    rows = [_row_of(record) for record in removed]
    return Contents(
        schedules=tuple(row for row in rows if isinstance(row, Schedule)),
        malformed=sum(isinstance(row, Malformed | UnknownVersion) for row in rows),
    )


def _from_record(record: StreamRecord) -> Schedule:
    row = _row_of(record)
    if not isinstance(row, Schedule):
        raise Malformed("no schedule in this record")
    return row


def _row_of(record: StreamRecord) -> Row:
    try:
        return change_of(record).row
    except (KeyError, TypeError, AttributeError):
        return Malformed("not a stream record")
