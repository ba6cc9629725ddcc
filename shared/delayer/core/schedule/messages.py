"""What travels on the queues. Every message carries its version: readers ship before writers (ADR 0038).

Decoding is strict: a missing field, a wrong type or an unknown version is Malformed; nothing is guessed. A field that
was added within a version is ignored.
"""

from collections.abc import Mapping
from typing import Any, Final, TypeVar

import msgspec
from attrs import frozen

from delayer.core.schedule import definition
from delayer.core.schedule.instants import Minute
from delayer.core.schedule.malformed import Malformed
from delayer.core.schedule.schedule import Schedule

VERSION: Final = 1


@frozen(kw_only=True)
class DelayerMessage:
    """A schedule in the delayer queue."""

    schedule: Schedule
    nonce: str  # new for each send by the stream-enqueuer; kept when the relay sends it again (ADR 0018)


@frozen(kw_only=True)
class ExecutorMessage:
    """A claimed schedule in the queue of its action."""

    schedule: Schedule
    nonce: str  # of the claim under which it was handed over
    fence: str  # fencing token: if the ledger row has another one, the message was overtaken (ADR 0020)
    attempt: int  # 1 for the hand-over


@frozen(kw_only=True)
class SweepMessage:
    """A big bucket, handed on to the bucket sweepers."""

    minute: Minute
    shard: int


@frozen(kw_only=True)
class GroupMessage:
    """A job that is to be continued."""

    owner: str
    job: str


Message = TypeVar("Message", DelayerMessage, ExecutorMessage, SweepMessage, GroupMessage)


_OBJECT: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
_TEXT: Final = msgspec.json.Decoder(str)
_NUMBER: Final = msgspec.json.Decoder(int)
_FieldDecoders = Mapping[str, msgspec.json.Decoder[Any]]

SCHEDULE: Final[_FieldDecoders] = {  # what of it is not part of its definition
    "id": _TEXT,
    "owner": _TEXT,
    "point_in_time": _NUMBER,
    "created_at": _NUMBER,
}
HEADS: Final[Mapping[type, _FieldDecoders]] = {  # what a message has besides its schedule
    DelayerMessage: {"nonce": _TEXT},
    ExecutorMessage: {"nonce": _TEXT, "fence": _TEXT, "attempt": _NUMBER},
}


def encode(message: DelayerMessage | ExecutorMessage | SweepMessage | GroupMessage) -> str:
    """The message as flat, compact JSON. The payload goes in as the client wrote it."""
    content: dict[str, Any] = {"v": VERSION}
    match message:
        case DelayerMessage() | ExecutorMessage():
            content |= _schedule_fields(message.schedule)
            content |= {name: getattr(message, name) for name in HEADS[type(message)]}
        case _:
            content |= msgspec.to_builtins(message)
    return msgspec.json.encode(content).decode()


def _schedule_fields(schedule: Schedule) -> dict[str, Any]:
    own = {definition.wire_name(name): getattr(schedule, name) for name in SCHEDULE}
    return own | definition.to_json(schedule.definition)


def decode(body: str, kind: type[Message]) -> Message:
    """The message in a body. Raises Malformed with the reason."""
    try:
        values = _OBJECT.decode(body)
        version = _NUMBER.decode(values["v"])
        if version != VERSION:
            raise Malformed(f"a {kind.__name__} of version {version}; this code reads version {VERSION}")
        if kind not in HEADS:
            return msgspec.json.decode(body, type=kind)
        schedule = Schedule(**_read(values, SCHEDULE), definition=definition.from_json(values))
        return kind(schedule=schedule, **_read(values, HEADS[kind]))  # type: ignore[call-arg] # by HEADS
    except Malformed:
        raise
    except KeyError as error:
        raise Malformed(f"not a {kind.__name__}: the field {error} is missing") from error
    except (msgspec.MsgspecError, ValueError, TypeError, RecursionError) as error:
        raise Malformed(f"not a {kind.__name__}: {error}") from error


def _read(values: Mapping[str, msgspec.Raw], wanted: _FieldDecoders) -> dict[str, Any]:
    """Each wanted field by itself, so that a body, which may be large, is gone through once."""
    return {name: decoder.decode(values[definition.wire_name(name)]) for name, decoder in wanted.items()}
