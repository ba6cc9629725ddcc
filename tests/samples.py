"""One of each, well-formed, to be changed by a test in the field it is about."""

import json
from typing import Any

from attrs import evolve

from delayer.core import set_aside, wire
from delayer.core.bucket import Address
from delayer.core.instants import MINUTE, SECOND, Millis
from delayer.core.ledger import LedgerRow, first_claim
from delayer.core.schedule import Schedule
from delayer.core.schedule_id import KEY_BYTES, RANDOM_BYTES, mint
from delayer.core.set_aside import Kept, Shelf
from delayer.core.wire import DelayerMessage, ExecutorMessage, to_delayer, to_executor

NOW: Millis = 1_795_251_600_000  # 2026-11-21T09:00:00Z
PERIOD: Millis = 14 * MINUTE
LEASE: Millis = 10 * SECOND
OWNER = "arn:aws:iam::123456789012:user/somebody"
KEY = bytes(range(KEY_BYTES))
RANDOMNESS = bytes(range(100, 100 + RANDOM_BYTES))
ACTION = {"type": "http-request", "url": "http://target/hook"}


def an_id(due: Millis = NOW, shard: int = 3, owner: str = OWNER, randomness: bytes = RANDOMNESS) -> str:
    return mint(Address(due=due, shard=shard), owner, key=KEY, randomness=randomness)


def a_schedule(due: Millis = NOW, shard: int = 3, randomness: bytes = RANDOMNESS, **changes: Any) -> Schedule:
    schedule = Schedule(
        id=an_id(due, shard, randomness=randomness),
        owner=OWNER,
        point_in_time=due,
        action_type="http-request",
        action=json.dumps(ACTION),
        payload='{"any": "JSON"}',
        created_at=NOW - MINUTE,
    )
    return evolve(schedule, **changes)


def many_schedules(number: int, due: Millis = NOW, shard: int = 3) -> list[Schedule]:
    """In the same bucket, a millisecond apart."""
    return [a_schedule(due + at, shard=shard, randomness=at.to_bytes(RANDOM_BYTES, "big")) for at in range(number)]


def a_delayer_message(due: Millis = NOW, nonce: str = "n1", **changes: Any) -> DelayerMessage:
    return evolve(to_delayer(a_schedule(due), nonce), **changes)


def an_executor_message(due: Millis = NOW, nonce: str = "n1", **changes: Any) -> ExecutorMessage:
    return evolve(to_executor(a_delayer_message(due, nonce), "d1"), **changes)


def a_claim(due: Millis = NOW, nonce: str = "n1", now: Millis = NOW, **changes: Any) -> LedgerRow:
    """The row of a claimed schedule, its expiry in whole seconds, as DynamoDB keeps it."""
    row = first_claim(a_delayer_message(due, nonce), "d1", now, LEASE)
    row = evolve(row, expires_at=row.expires_at // SECOND * SECOND)
    return evolve(row, **changes)


def a_kept(**changes: Any) -> Kept:
    kept = Kept(
        v=set_aside.VERSION,
        shelf=Shelf.SET_ASIDE,
        schedule_id=an_id(),
        owner=OWNER,
        reason="it could not be handled",
        source="delayer-relay",
        at=NOW,
        body=wire.encode(a_delayer_message()),
    )
    return evolve(kept, **changes)
