"""The messages that travel on the queues. Every message carries its version: readers ship before writers (ADR 0038).

Decoding is strict: a missing field or a wrong type is Malformed; nothing is guessed. A field that was added within a
version is ignored. A version that this code does not know is not malformed: it waits for the code that knows it.
"""

from collections.abc import Mapping
from typing import Any, Final, TypeVar

import msgspec
from attrs import frozen

from delayer.schedule.instants import Malformed, Millis, Minute, UnknownVersion
from delayer.schedule.schedule import (
    NO_TRAITS,
    Schedule,
    from_json,
    to_json,
    traits_from_text,
    traits_to_text,
    wire_name,
)
from delayer.schedule.schedule_id import address_of

VERSION: Final = 1
MAX_BYTES: Final = 1_048_576  # that SQS takes as one message; ours have no attributes, which would count
OUTCOME_VERSION: Final = 2  # of OutcomeMessage: code that does not know it must not take it for an ExecutorMessage
WARM_UP_VERSION: Final = 3  # the same; it waits for code that knows it


@frozen(kw_only=True)
class Slot:
    """A turn in the line of a limit: one attempt may begin then (ADR 0114)."""

    line: str  # of a limit and its revision
    at: Millis


@frozen(kw_only=True)
class DelayerMessage:
    """A schedule in the delayer queue."""

    schedule: Schedule
    nonce: str  # new for each send by the stream-enqueuer; kept when the relay sends it again (ADR 0018)
    hops: int = 0  # how often the relay has sent it again
    slots: tuple[Slot, ...] = ()  # that are booked for it, if its attempts are limited
    age_from: Millis = 0  # when a limit has kept it waiting for the first time: from then on its age counts
    enqueued_at: Millis = 0  # when its record left the table, to the second; 0 if the message is older than this field


@frozen(kw_only=True)
class ExecutorMessage:
    """A claimed schedule in the queue of its action."""

    schedule: Schedule
    nonce: str  # of the claim under which it was handed over
    fence: str  # fencing token: if the ledger row has another one, the message was overtaken (ADR 0020)
    attempt: int  # 1 for the hand-over
    slots: tuple[Slot, ...] = ()  # that are booked for this attempt, if it is limited
    not_before: Millis = 0  # when the attempt is due, if that is longer than SQS can delay its message
    age_from: Millis = 0  # as in DelayerMessage; of a retry, when its first attempt was made
    generation: int = 0  # of the messages for this attempt; 0: by a version that does not count them (ADR 0183)


@frozen(kw_only=True)
class OutcomeMessage:
    """An attempt that was made, in the place of its message: only its outcome is still to be written (ADR 0083)."""

    schedule: Schedule
    nonce: str
    fence: str
    attempt: int
    outcome: str  # done, retry or refused
    detail: str
    after_seconds: int  # the delay that the target asked for; -1 if it did not
    lateness: Millis  # of this attempt
    answer: str = ""  # what is kept of the target's answer; a message without it has none
    is_probe: bool = False  # the attempt does not count
    generation: int = 0  # as in ExecutorMessage


@frozen(kw_only=True)
class WarmUp:
    """Nothing to do: whoever receives it has an environment, and keeps it for the next schedule (ADR 0165)."""


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


@frozen(kw_only=True)
class TimingMessage:
    """A schedule that waits for its time. Its record is in the table, and nowhere else."""

    schedule_id: str


Message = TypeVar(
    "Message", DelayerMessage, ExecutorMessage, OutcomeMessage, WarmUp, SweepMessage, GroupMessage, TimingMessage
)
Encodable = DelayerMessage | ExecutorMessage | OutcomeMessage | WarmUp | SweepMessage | GroupMessage | TimingMessage


_OBJECT: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
_TEXT: Final = msgspec.json.Decoder(str)
_NUMBER: Final = msgspec.json.Decoder(int)
_BOOLEAN: Final = msgspec.json.Decoder(bool)
_SLOTS: Final = msgspec.json.Decoder(tuple[Slot, ...])
_FieldDecoders = Mapping[str, msgspec.json.Decoder[Any]]

SCHEDULE: Final[_FieldDecoders] = {  # what of it is not part of its definition
    "id": _TEXT,
    "owner": _TEXT,
    "point_in_time": _NUMBER,
    "created_at": _NUMBER,
}
TRAITS: Final = "traits"
HEADS: Final[Mapping[type, _FieldDecoders]] = {  # what a message has besides its schedule
    DelayerMessage: {"nonce": _TEXT},
    ExecutorMessage: {"nonce": _TEXT, "fence": _TEXT, "attempt": _NUMBER},
    OutcomeMessage: {
        "nonce": _TEXT,
        "fence": _TEXT,
        "attempt": _NUMBER,
        "outcome": _TEXT,
        "detail": _TEXT,
        "after_seconds": _NUMBER,
        "lateness": _NUMBER,
    },
}
MAY_HAVE: Final[Mapping[type, _FieldDecoders]] = {  # what is left out if it is empty or 0
    DelayerMessage: {"hops": _NUMBER, "slots": _SLOTS, "age_from": _NUMBER, "enqueued_at": _NUMBER},
    ExecutorMessage: {"slots": _SLOTS, "not_before": _NUMBER, "age_from": _NUMBER, "generation": _NUMBER},
    OutcomeMessage: {"answer": _TEXT, "is_probe": _BOOLEAN, "generation": _NUMBER},
}


def encode(message: Encodable) -> str:
    """The message as flat, compact JSON. The payload goes in as the client wrote it."""
    content: dict[str, Any] = {"v": _version_of(type(message))}
    match message:
        case DelayerMessage() | ExecutorMessage() | OutcomeMessage():
            content |= _schedule_fields(message.schedule)
            content |= {wire_name(name): getattr(message, name) for name in HEADS[type(message)]}
            content |= _optional(message)
        case _:
            content |= msgspec.to_builtins(message)
    return msgspec.json.encode(content).decode()


def encode_again(body: str, message: DelayerMessage) -> str:
    """The body as it came, also what this code does not know of it, with what may change while it waits."""
    content: dict[str, Any] = dict(_OBJECT.decode(body))
    for name in MAY_HAVE[DelayerMessage]:
        content.pop(wire_name(name), None)
    return msgspec.json.encode(content | _optional(message)).decode()


def _optional(message: Encodable) -> dict[str, Any]:
    values = {wire_name(name): getattr(message, name) for name in MAY_HAVE.get(type(message), ())}
    return {name: value for name, value in values.items() if value}


def _schedule_fields(schedule: Schedule) -> dict[str, Any]:
    own = {wire_name(name): getattr(schedule, name) for name in SCHEDULE}
    said = traits_to_text(schedule.traits)
    return own | ({TRAITS: msgspec.Raw(said.encode())} if said else {}) | to_json(schedule.definition)


def decode(body: str, kind: type[Message]) -> Message:
    """The message in a body. Raises Malformed with the reason, or UnknownVersion."""
    try:
        values = _OBJECT.decode(body)
        version, known = _NUMBER.decode(values["v"]), _version_of(kind)
        if version != known:
            raise UnknownVersion(f"a {kind.__name__} of version {version}; this code reads version {known}")
        if kind not in HEADS:
            return msgspec.json.decode(body, type=kind)
        schedule = Schedule(
            **_read(values, SCHEDULE),
            definition=from_json(values),
            traits=traits_from_text(values[TRAITS]) if TRAITS in values else NO_TRAITS,
        )
        _ = address_of(schedule.id)
        optional = {name: decoder for name, decoder in MAY_HAVE.get(kind, {}).items() if wire_name(name) in values}
        return kind(schedule=schedule, **_read(values, {**HEADS[kind], **optional}))  # type: ignore[call-arg] # by HEADS
    except (Malformed, UnknownVersion):
        raise
    except KeyError as error:
        raise Malformed(f"not a {kind.__name__}: the field {error} is missing") from error
    except (msgspec.MsgspecError, ValueError, TypeError, RecursionError) as error:
        raise Malformed(f"not a {kind.__name__}: {error}") from error


def decode_for_executor(body: str) -> ExecutorMessage | OutcomeMessage | WarmUp:
    """Decodes a message of the queue of an action. Raises as `decode` does."""
    try:
        return decode(body, ExecutorMessage)
    except UnknownVersion:
        return WarmUp() if body == WARM_UP else decode(body, OutcomeMessage)


def _version_of(kind: type[object]) -> int:
    return {OutcomeMessage: OUTCOME_VERSION, WarmUp: WARM_UP_VERSION}.get(kind, VERSION)


def _read(values: Mapping[str, msgspec.Raw], wanted: _FieldDecoders) -> dict[str, Any]:
    """Each wanted field by itself, so that a body, which may be large, is gone through once."""
    return {name: decoder.decode(values[wire_name(name)]) for name, decoder in wanted.items()}


WARM_UP: Final = encode(WarmUp())  # they are all alike
