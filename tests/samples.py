"""One of each, well-formed, to be changed by a test in the field it is about."""

import json
from pathlib import Path
from typing import Any

from attrs import evolve, fields

from delayer.dead_letters.model import DeadLetter, Prefix
from delayer.ledger.model import LedgerChange, LedgerRow
from delayer.ledger.rules import Claim, decide_claim
from delayer.relay.relay import first_attempt
from delayer.schedule import messages
from delayer.schedule.instants import MINUTE, SECOND, Millis
from delayer.schedule.messages import DelayerMessage, ExecutorMessage
from delayer.schedule.schedule import Definition, Schedule
from delayer.schedule.schedule_id import KEY_BYTES, RANDOM_BYTES, Address, IdKind, mint

GOLDEN = Path(__file__).parent / "golden/v1"  # what is stored or on its way, as it was written once
NOW: Millis = 1_795_251_600_000  # 2026-11-21T09:00:00Z
PERIOD: Millis = 14 * MINUTE
LEASE: Millis = 10 * SECOND
OWNER = "arn:aws:iam::123456789012:user/somebody"
KEY = bytes(range(KEY_BYTES))
RANDOMNESS = bytes(range(100, 100 + RANDOM_BYTES))
ACTION = {"type": "http-request", "url": "http://target/hook"}
STREAM_RECORD: dict[str, Any] = json.loads((GOLDEN / "stream-remove.json").read_text())  # as DynamoDB sends one
DEFINED = {one.name for one in fields(Definition)}


def an_id(
    due: Millis = NOW,
    shard: int = 3,
    owner: str = OWNER,
    randomness: bytes = RANDOMNESS,
    point_in_time: Millis | None = None,
    kind: IdKind = IdKind.PLAIN,
) -> str:
    """`point_in_time`: if it was over when the schedule was accepted, else it is `due`."""
    asked = due if point_in_time is None else point_in_time
    return mint(Address(due=due, shard=shard), owner, point_in_time=asked, key=KEY, randomness=randomness, kind=kind)


def a_definition(**changes: Any) -> Definition:
    return evolve(Definition(action=json.dumps(ACTION), payload='{"any": "JSON"}'), **changes)


def a_schedule(due: Millis = NOW, shard: int = 3, randomness: bytes = RANDOMNESS, **changes: Any) -> Schedule:
    """`changes` are of the schedule, or of its definition."""
    defined = {name: changes.pop(name) for name in DEFINED & set(changes)}
    schedule = Schedule(
        id=an_id(due, shard, randomness=randomness),
        owner=OWNER,
        point_in_time=due,
        created_at=NOW - MINUTE,
        definition=a_definition(**defined),
    )
    return evolve(schedule, **changes)


def a_relaxed_schedule(due: Millis = NOW, randomness: bytes = RANDOMNESS, **changes: Any) -> Schedule:
    """As `a_schedule`, in the relaxed lane."""
    return a_schedule(due, **{"id": an_id(due, randomness=randomness, kind=IdKind.RELAXED), **changes})


def many_schedules(number: int, due: Millis = NOW, shard: int = 3) -> list[Schedule]:
    """In the same bucket, a millisecond apart."""
    return [a_schedule(due + at, shard=shard, randomness=at.to_bytes(RANDOM_BYTES, "big")) for at in range(number)]


def a_delayer_message(due: Millis = NOW, nonce: str = "n1", hops: int = 0, **changes: Any) -> DelayerMessage:
    """`changes` are of its schedule."""
    return DelayerMessage(schedule=a_schedule(due, **changes), nonce=nonce, hops=hops)


def an_executor_message(
    due: Millis = NOW, nonce: str = "n1", fence: str = "d1", attempt: int = 1, **changes: Any
) -> ExecutorMessage:
    """`changes` are of its schedule."""
    return evolve(first_attempt(a_delayer_message(due, nonce, **changes), fence), attempt=attempt)


def a_wanted(nonce: str = "n1", now: Millis = NOW, fence: str = "fresh") -> Claim:
    """A claim that a relay wants to make."""
    return Claim(message=a_delayer_message(nonce=nonce), fence=fence, now=now, lease=LEASE)


def claimed(schedule: Schedule, nonce: str = "n1", fence: str = "d1", now: Millis = NOW) -> LedgerRow:
    """The row that the first claim of a schedule writes."""
    claim = evolve(a_wanted(nonce, now, fence), message=DelayerMessage(schedule=schedule, nonce=nonce))
    verdict = decide_claim(claim, None)
    assert isinstance(verdict, LedgerChange)
    return verdict.row


def a_claim(due: Millis = NOW, nonce: str = "n1", now: Millis = NOW, **changes: Any) -> LedgerRow:
    """The row of a claimed schedule, its expiry in whole seconds, as DynamoDB stores it."""
    row = claimed(a_schedule(due), nonce, now=now)
    return evolve(row, **{"expires_at": row.expires_at // SECOND * SECOND, **changes})


def a_dead_letter(**changes: Any) -> DeadLetter:
    letter = DeadLetter(
        prefix=Prefix.DEAD_LETTERED,
        schedule_id=an_id(),
        owner=OWNER,
        reason="it could not be handled",
        source="delayer-relay",
        at=NOW,
        body=messages.encode(a_delayer_message()),
    )
    return evolve(letter, **changes)
