"""What AWS passes from one function to the next, in the form in which Lambda is given it."""

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from delayer.schedule.instants import SECOND, Millis
from tests.fakes.messaging import MemoryQueue, QueuedMessage
from tests.samples import STREAM_RECORD

ARN = "arn:aws:dynamodb:eu-west-1:123456789012:table/delayer-{}/stream/2026-11-01T00:00:00.000"
FIRST = 4_421_584_500_000_000_017_450_439_091  # sequence numbers have such sizes
VALUE = re.compile(r'\{\n +"([SN])": ("(?:[^"\\]|\\.)*")\n +\}')  # an attribute of DynamoDB
Json = dict[str, Any]


def stream_record(
    table: str, number: int, at: Millis, keys: Json, old: Json | None = None, new: Json | None = None
) -> Json:
    """As the stored record of version 1 has it, but for its size: that is DynamoDB's own calculation."""
    kind = "MODIFY" if old and new else "INSERT" if new else "REMOVE"
    images = {name: image for name, image in (("NewImage", new), ("OldImage", old)) if image}
    return {
        **STREAM_RECORD,
        "eventID": hashlib.sha256(f"{table} {number}".encode()).hexdigest()[:32],
        "eventName": kind,
        "dynamodb": {
            "ApproximateCreationDateTime": at // SECOND,
            "Keys": keys,
            **images,
            "SequenceNumber": str(FIRST + number),
            "StreamViewType": STREAM_RECORD["dynamodb"]["StreamViewType"],
        },
        "eventSourceARN": ARN.format(table),
    }


def the_message(queue: MemoryQueue) -> QueuedMessage:
    """The only one in a queue."""
    [message] = queue.messages
    return message


def queue_event(name: str, number: str, body: str, sent_at: Millis) -> Json:
    """A batch of one message."""
    source = f"arn:aws:sqs:eu-west-1:123456789012:{name}"
    record = {
        "messageId": number,
        "body": body,
        "eventSourceARN": source,
        "attributes": {"SentTimestamp": str(sent_at)},
    }
    return {"Records": [record]}


def pretty(document: object) -> str:
    """As people read it: a value of DynamoDB takes one line."""
    return VALUE.sub(r'{"\1": \2}', json.dumps(document, indent=2, ensure_ascii=False)) + "\n"


def request_text(method: str, path: str, headers: Mapping[str, str], body: str) -> str:
    """A request or, with the status for the method, an answer of HTTP."""
    lines = [f"{method} {path}", *(f"{name}: {value}" for name, value in headers.items())]
    return "\n".join([*lines, "", *([body] if body else [])]) + "\n"
