"""The schedules in an object of the set-aside bucket, whoever put it there: a function of ours, or Lambda itself."""

import json
from collections.abc import Callable, Iterable
from typing import Any

from delayer.aws.stream import change_of
from delayer.core import wire
from delayer.core.enqueueing import Kind
from delayer.core.schedule import Schedule
from delayer.core.set_aside import decode
from delayer.core.wire import DelayerMessage, ExecutorMessage, Unreadable, from_executor, to_delayer


def schedules_in(content: bytes) -> list[DelayerMessage]:
    """All that can be read; none if nothing can. Never raises."""
    try:
        return _from_body(decode(content).body)
    except ValueError:
        return _from_discarded(content)


def _from_body(body: str) -> list[DelayerMessage]:
    """A kept body is a message of either queue, or a stream record."""
    readers: tuple[Callable[[str], DelayerMessage], ...] = (
        lambda text: from_executor(wire.decode(text, ExecutorMessage)),
        lambda text: wire.decode(text, DelayerMessage),
        lambda text: _from_record(json.loads(text)),
    )
    for read in readers:
        try:
            return [read(body)]
        except (Unreadable, ValueError):
            continue
    return []


def _from_discarded(content: bytes) -> list[DelayerMessage]:
    """What Lambda writes of a batch it gave up on: the event is its `payload`, as JSON or as text of JSON."""
    try:
        payload = json.loads(content)["payload"]
        event = json.loads(payload) if isinstance(payload, str) else payload
        return list(_from_records(event["Records"]))
    except (ValueError, KeyError, TypeError):
        return []


def _from_records(records: Iterable[Any]) -> Iterable[DelayerMessage]:
    """Of what was removed only: what was inserted stands in the table, where the sweep finds it."""
    for record in records:
        if record["eventName"] == Kind.REMOVE:
            try:
                yield _from_record(record)
            except Unreadable:
                continue


def _from_record(record: Any) -> DelayerMessage:
    try:
        row = change_of(record).row
    except (KeyError, TypeError, AttributeError) as error:
        raise Unreadable("not a stream record") from error
    if not isinstance(row, Schedule):
        raise Unreadable("no schedule in this record")
    return to_delayer(row, nonce="")
