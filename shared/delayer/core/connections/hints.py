"""What the API tells about a secret that was given by hand: it is stored as it was sent (ADR 0105)."""

from typing import Any, Final

import msgspec

from delayer.core.api.field_errors import shortened
from delayer.core.connections.connection import HTTP_REQUEST
from delayer.core.masking.mask import is_sensitive

MOST: Final = 5  # headers that are named


class _Action(msgspec.Struct):
    type: Any = ""
    headers: Any = None


class _Body(msgspec.Struct):
    action: _Action | None = None


_BODY: Final = msgspec.json.Decoder(_Body)


def hints_for(body: bytes) -> list[str]:
    """Of the body of a schedule or a series that was accepted. A body without headers, as most are, costs nothing."""
    if b"headers" not in body and b"\\u" not in body:
        return []
    try:
        action = _BODY.decode(body).action
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return []
    if action is None or action.type != HTTP_REQUEST or not isinstance(action.headers, dict):
        return []
    named = sorted(name for name in action.headers if is_sensitive(name))
    return [_hint(name) for name in named[:MOST]]


def _hint(name: str) -> str:
    return (
        f"The header {shortened(name)} looks like a secret, and is stored with the schedule until that is forgotten. "
        "A connection keeps it apart: PUT /connections/{name}, and name it in action.connection."
    )
