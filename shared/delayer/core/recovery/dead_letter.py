"""A dead letter: the whole body of what could not go on, until an operator redrives or discards it (ADR 0021)."""

import hashlib
from enum import StrEnum
from typing import Final

import msgspec
from attrs import asdict, frozen

from delayer.core.schedule.instants import Millis
from delayer.core.schedule.schedule import Schedule

VERSION: Final = 1
MALFORMED: Final = "malformed"  # in the key, in place of the id of a schedule that cannot be read


class Prefix(StrEnum):
    """The two parts of the store."""

    DEAD_LETTERED = "dead-lettered"
    FAILED = "failed"


@frozen(kw_only=True)
class DeadLetter:
    """One stored body."""

    prefix: Prefix
    schedule_id: str  # empty if the body could not be read
    owner: str
    reason: str  # why it could not go on; to be read by an operator
    source: str  # the function that stored it
    at: Millis
    body: str  # the whole copy: a message, or a stream record as JSON

    @property
    def key(self) -> str:
        """The same body is stored under the same key, however often it becomes a dead letter."""
        digest = hashlib.sha256(self.body.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        return f"{self.prefix}/{self.schedule_id or MALFORMED}/{digest}.json"


@frozen(kw_only=True)
class Contents:
    """The schedules in an object of the store."""

    schedules: tuple[Schedule, ...] = ()
    malformed: int = 0  # records in it that this code cannot read, because of their shape or version
    others: int = 0  # schedules in it that the command was not given for
    handed_over: bool = False  # it is a message of an executor's queue
    accepted: bool = False  # it carries the outcome of an attempt that its target accepted


class _File(msgspec.Struct, rename="camel"):
    """As it is stored."""

    v: int
    prefix: Prefix
    schedule_id: str
    owner: str
    reason: str
    source: str
    at: Millis
    body: str


def encode(letter: DeadLetter) -> bytes:
    """The dead letter as a JSON file."""
    return msgspec.json.encode(_File(v=VERSION, **asdict(letter)))


def decode(content: bytes) -> DeadLetter:
    """The inverse of encode. Raises ValueError for anything else."""
    file = msgspec.json.decode(content, type=_File)
    if file.v != VERSION:
        raise ValueError(f"a dead letter of version {file.v}; this code reads version {VERSION}")
    values = msgspec.structs.asdict(file)
    del values["v"]
    return DeadLetter(**values)
