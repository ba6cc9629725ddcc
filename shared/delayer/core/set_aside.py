"""A record set aside: its whole body in one place, until a person puts it back or throws it away (ADR 0021)."""

import hashlib
from enum import StrEnum
from typing import Final

import msgspec
from attrs import frozen

from delayer.core.instants import Millis

VERSION: Final = 1
UNREADABLE: Final = "unreadable"


class Shelf(StrEnum):
    """The two parts of the store."""

    SET_ASIDE = "set-aside"
    FAILED = "failed"


@frozen(kw_only=True)
class Kept:
    """One kept body."""

    v: int  # VERSION
    shelf: Shelf
    schedule_id: str  # empty if the body could not be read
    owner: str
    reason: str  # why it was set aside, for people
    source: str  # the function that did it
    at: Millis
    body: str  # everything there was: a message, or a stream record as JSON

    @property
    def key(self) -> str:
        """The same body is kept under the same key, however often it is set aside."""
        digest = hashlib.sha256(self.body.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        return f"{self.shelf}/{self.schedule_id or UNREADABLE}/{digest}.json"


def encode(kept: Kept) -> bytes:
    """The kept body as a JSON file."""
    return msgspec.json.encode(kept)


def decode(content: bytes) -> Kept:
    """The inverse of encode. Raises ValueError for anything else."""
    kept = msgspec.json.decode(content, type=Kept)
    if kept.v != VERSION:
        raise ValueError(f"a kept record of version {kept.v}; this code reads version {VERSION}")
    return kept
