"""Events as AWS gives them to the functions of the firing path. Each is used once: what was done cannot be done again.

It is imported by the worker, beside the function: `delayer` is the layer.
"""

import itertools
import json
import os
import secrets
import time
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from attrs import evolve

from delayer.schedule.schedule import Schedule

Event = dict[str, Any]
A_DAY = 86_400_000


def of(asked: Event) -> Iterator[Event]:
    """As many as are wanted, of the kind that `asked` names. `asked["items"]` are schedules as they are stored."""
    make: Callable[[Event, int], Event] = KINDS[asked["what"]]
    return (make(asked, number) for number in itertools.count())


def _now() -> int:
    return time.time_ns() // 1_000_000


def _post(asked: Event, number: int) -> Event:
    action = {"type": "http-request", "url": asked["url"]}
    body = {"delaySeconds": 86_400 + number, "action": action, "payload": {"number": number}}
    return _call("POST /schedules", body)


def _batch(asked: Event, number: int) -> Event:
    one = json.loads(_post(asked, number)["body"])
    return _call("POST /schedules/batch", {"schedules": [one] * asked["records"]})


def _call(route: str, body: Any) -> Event:
    """As an HTTP API sends it, format 2.0."""
    method, _, path = route.partition(" ")
    return {
        "version": "2.0",
        "routeKey": route,
        "rawPath": path,
        "headers": {"content-type": "application/json", "host": "localhost"},
        "requestContext": {
            "http": {"method": method, "path": path, "sourceIp": "127.0.0.1"},
            "requestId": "r",
            "timeEpoch": _now(),
        },
        "body": json.dumps(body),
        "isBase64Encoded": False,
    }


def _stored(asked: Event, number: int) -> list[Event]:
    """Items of schedules, each batch with its own."""
    size = asked["records"]
    items: list[Event] = asked["items"]
    return [items[(number * size + at) % len(items)] for at in range(size)]


def _inserted(asked: Event, number: int) -> Event:
    return _stream("INSERT", "NewImage", _stored(asked, number))


def _removed(asked: Event, number: int) -> Event:
    """Each with other random characters in its id: what was sent once is not sent again."""
    due = {"pointInTime": {"N": str(_now() + 30_000)}}
    items = [{**item, **due, "due": _other_id(item["due"]["S"])} for item in _stored(asked, number)]
    return _stream("REMOVE", "OldImage", items)


def _other_id(key: str) -> Event:
    return {"S": key[:-24] + secrets.token_hex(4) + key[-16:]}


def _stream(kind: str, image: str, items: list[Event]) -> Event:
    return {
        "Records": [
            {
                "eventID": str(position),
                "eventName": kind,
                "eventSource": "aws:dynamodb",
                "eventSourceARN": "arn:aws:dynamodb:us-east-1:000000000000:table/t/stream/s",
                "dynamodb": {
                    "ApproximateCreationDateTime": time.time(),
                    "Keys": {name: item[name] for name in ("bucket", "due")},
                    image: item,
                    "SequenceNumber": str(position),
                    "StreamViewType": "NEW_AND_OLD_IMAGES",
                },
            }
            for position, item in enumerate(items)
        ]
    }


def _schedules(asked: Event, number: int) -> list[Schedule]:
    """Due now. Each with a key of its own in the ledger: an id ends with random characters that nobody checks here."""
    from delayer.lambdas.table_stream import item_in
    from delayer.records.repository import from_item

    found = [from_item(item_in(item)) for item in _stored(asked, number)]
    return [evolve(one, point_in_time=_now()) for one in found if isinstance(one, Schedule)]


def _delayed(asked: Event, number: int) -> Event:
    from delayer.schedule.messages import DelayerMessage, encode

    _forget(asked, number)
    return _queued(
        [encode(DelayerMessage(schedule=one, nonce=f"n{number}")) for one in _schedules(asked, number)],
    )


def _handed_over(asked: Event, number: int) -> Event:
    """With the claims in the ledger that a relay would have written."""
    from delayer.ledger.model import LedgerChange
    from delayer.ledger.rules import Claim, decide_claim
    from delayer.relay.relay import first_attempt
    from delayer.schedule.messages import DelayerMessage, encode

    _forget(asked, number)
    bodies: list[str] = []
    changes: list[LedgerChange] = []
    for one in _schedules(asked, number):
        message = DelayerMessage(schedule=one, nonce=f"n{number}")
        change = decide_claim(Claim(message=message, fence=f"f{number}", now=_now(), lease=10_000), None)
        assert isinstance(change, LedgerChange)
        changes.append(change)
        bodies.append(encode(first_attempt(message, f"f{number}")))
    _ledger().write(changes)
    return _queued(bodies)


@cache
def _ledger() -> Any:
    """One for all batches: each has threads of its own, which would stay."""
    from delayer.wiring.environment import Environment

    return Environment("profiled").ledger


def _forget(asked: Event, number: int) -> None:
    """Batches come round again: their rows are deleted before."""
    from delayer.engines.aws.clients import client

    for one in _schedules(asked, number):
        client("dynamodb").delete_item(TableName=os.environ["LEDGER_TABLE"], Key={"scheduleId": {"S": one.id}})


def _queued(bodies: list[str]) -> Event:
    return {
        "Records": [
            {
                "messageId": str(position),
                "receiptHandle": "h",
                "body": body,
                "attributes": {"ApproximateReceiveCount": "1", "SentTimestamp": str(_now())},
                "messageAttributes": {},
                "eventSource": "aws:sqs",
                "eventSourceARN": "arn:aws:sqs:us-east-1:000000000000:q",
                "awsRegion": "us-east-1",
            }
            for position, body in enumerate(bodies)
        ]
    }


KINDS: dict[str, Callable[[Event, int], Event]] = {
    "POST": _post,
    "POST of a batch": _batch,
    "INSERT, due later": _inserted,
    "REMOVE, due soon": _removed,
    "claims": _delayed,
    "attempts": _handed_over,
}
