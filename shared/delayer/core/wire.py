"""What travels on the queues. Every message carries its version: readers ship before writers (ADR 0038).

Decoding is strict: a missing field, a wrong type or an unknown version is Unreadable, and the message
is set aside instead of being guessed at. A field added within a version is passed over.
"""

from typing import Any, Final, TypeVar

import msgspec
from attrs import evolve, fields, frozen

from delayer.core.instants import Millis, Minute
from delayer.core.schedule import Schedule

VERSION: Final = 1
OPTIONAL: Final = frozenset({"group", "on_late", "tags"})


class Unreadable(ValueError):
    """A record or message that this version of the code cannot read. Its text is the reason."""


@frozen(kw_only=True)
class Carried:
    """What is the same all the way from the table to the target."""

    id: str
    owner: str
    point_in_time: Millis
    action_type: str
    action: str  # JSON
    payload: str  # JSON
    group: str = ""
    on_late: str = ""  # JSON
    tags: str = ""  # JSON


@frozen(kw_only=True)
class DelayerMessage(Carried):
    """A schedule in the delayer queue."""

    v: int  # VERSION
    nonce: str  # fresh for each send by the stream-enqueuer, kept by a re-send (ADR 0019)


@frozen(kw_only=True)
class ExecutorMessage(Carried):
    """A claimed schedule in the queue of its action."""

    v: int  # VERSION
    nonce: str  # of the claim under which it was handed over
    delivery: str  # must be the one in the ledger row, else it was overtaken (ADR 0020)
    attempt: int  # 1 for the hand-over


@frozen(kw_only=True)
class SweepMessage:
    """A big bucket, handed on to the bucket sweepers."""

    v: int  # VERSION
    minute: Minute
    shard: int


Message = TypeVar("Message", DelayerMessage, ExecutorMessage, SweepMessage)


def encode(message: DelayerMessage | ExecutorMessage | SweepMessage) -> str:
    """The message as compact JSON; what most schedules do not have is left out."""
    content = msgspec.to_builtins(message)
    return msgspec.json.encode(
        {name: value for name, value in content.items() if value or name not in OPTIONAL}
    ).decode()


def decode(body: str, kind: type[Message]) -> Message:
    """The message in a body. Raises Unreadable with the reason."""
    try:
        message = msgspec.json.decode(body, type=kind, strict=True)
    except (msgspec.MsgspecError, RecursionError, UnicodeError) as error:
        raise Unreadable(f"not a {kind.__name__}: {error}") from error
    if message.v != VERSION:
        raise Unreadable(f"a {kind.__name__} of version {message.v}; this code reads version {VERSION}")
    return message


def to_delayer(schedule: Schedule, nonce: str) -> DelayerMessage:
    """A schedule as it moves into the delayer queue."""
    return DelayerMessage(v=VERSION, nonce=nonce, **_carried(schedule))


def to_executor(message: DelayerMessage, delivery: str) -> ExecutorMessage:
    """A claimed schedule as it is handed over to its executor."""
    return ExecutorMessage(v=VERSION, nonce=message.nonce, delivery=delivery, attempt=1, **_carried(message))


def from_executor(message: ExecutorMessage) -> DelayerMessage:
    """The same schedule on its way back to the delayer queue, without a nonce."""
    return DelayerMessage(v=VERSION, nonce="", **_carried(message))


def to_schedule(message: DelayerMessage, created_at: Millis) -> Schedule:
    """The same schedule on its way back to the table."""
    return Schedule(created_at=created_at, **_carried(message))


def next_attempt(message: ExecutorMessage, delivery: str, attempt: int) -> ExecutorMessage:
    """The same schedule, to be tried once more."""
    return evolve(message, attempt=attempt, delivery=delivery)


def _carried(source: Schedule | Carried) -> dict[str, Any]:
    return {field.name: getattr(source, field.name) for field in fields(Carried)}
