"""What the class of an action says about it (ADR 0088).

The class is the only source. This is its form on the way to the API, the relay and the documentation: JSON, with a
version, since a function of another stack may have been built with another version of Delayer.
"""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

import msgspec
from attrs import frozen

from delayer.core.schedule.malformed import Malformed, UnknownVersion

VERSION: Final = 1
LARGEST_PAYLOAD: Final = 262_144  # bytes, as UTF-8: no schedule is larger


@frozen(kw_only=True)
class ActionType:
    """One type of action: what the API accepts, and what the queues are fair by."""

    type: str
    schema: str  # JSON Schema of the action, as JSON text
    fair_by: str = ""  # the field that names its target; with `host:` before it, only the host of a URL counts
    payload: str = ""  # JSON Schema of the payload, as JSON text; empty: any payload, or none
    largest_payload: int = LARGEST_PAYLOAD  # bytes, as UTF-8
    internal: bool = False  # clients can neither see nor schedule it


@lru_cache(maxsize=256)
def parsed(schema: str) -> Mapping[str, Any]:
    """A schema as an object. The same text gives the same object: do not change it."""
    content: Mapping[str, Any] = json.loads(schema)
    return content


def encode(action: ActionType) -> str:
    """As JSON, with its version."""
    return msgspec.json.encode({"v": VERSION, **msgspec.to_builtins(action)}).decode()


def decode(text: str | bytes) -> ActionType:
    """The inverse of encode. Raises Malformed, or UnknownVersion for one of a newer Delayer."""
    try:
        values = msgspec.json.decode(text, type=dict[str, Any])
        if values.get("v") != VERSION:
            raise UnknownVersion(f"an action type of version {values.get('v')!r}; this code reads version {VERSION}")
        return msgspec.convert(values, ActionType)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise Malformed(f"not an action type: {error}") from error
