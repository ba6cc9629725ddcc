"""The schedules in an object of the set-aside bucket, whoever put it there: a function of ours, or Lambda itself."""

import json
from collections.abc import Callable
from typing import Any

from delayer.aws.stream import change_of
from delayer.core import wire
from delayer.core.enqueueing import Garbled, Heartbeat, Kind
from delayer.core.schedule import Schedule
from delayer.core.set_aside import decode
from delayer.core.wire import DelayerMessage, ExecutorMessage, Unreadable, from_executor, to_delayer
from delayer.use_cases.operate import Contents


def schedules_in(content: bytes) -> Contents:
    """All that can be read, and how much cannot. Never raises."""
    try:
        return _from_body(decode(content).body)
    except ValueError:
        return _from_discarded(content)


def _from_body(body: str) -> Contents:
    """A kept body is a message of either queue, or a stream record."""
    readers: tuple[Callable[[str], DelayerMessage], ...] = (
        lambda text: from_executor(wire.decode(text, ExecutorMessage)),
        lambda text: wire.decode(text, DelayerMessage),
        lambda text: _from_record(json.loads(text)),
    )
    for read in readers:
        try:
            return Contents(messages=(read(body),))
        except (Unreadable, ValueError):
            continue
    return Contents(unreadable=1)


def _from_discarded(content: bytes) -> Contents:
    """What Lambda writes of a batch it gave up on: the event is its `payload`, as JSON or as text of JSON.

    Of what was removed only: what was inserted stands in the table, where the sweep finds it.
    """
    try:
        payload = json.loads(content)["payload"]
        event = json.loads(payload) if isinstance(payload, str) else payload
        removed = [record for record in event["Records"] if record["eventName"] == Kind.REMOVE]
    except (ValueError, KeyError, TypeError):
        return Contents(unreadable=1)
    rows = [_row_of(record) for record in removed]
    schedules = [row for row in rows if isinstance(row, Schedule)]
    return Contents(
        messages=tuple(to_delayer(schedule, nonce="") for schedule in schedules),
        unreadable=sum(isinstance(row, Garbled) for row in rows),
    )


def _from_record(record: Any) -> DelayerMessage:
    row = _row_of(record)
    if not isinstance(row, Schedule):
        raise Unreadable("no schedule in this record")
    return to_delayer(row, nonce="")


def _row_of(record: Any) -> Schedule | Heartbeat | Garbled:
    try:
        return change_of(record).row
    except (KeyError, TypeError, AttributeError):
        return Garbled("not a stream record")
