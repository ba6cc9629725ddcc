"""Which schedule a message is about."""

from functools import lru_cache

import msgspec


class _Body(msgspec.Struct):
    id: str = ""
    attempt: int = 0
    fence: str = ""
    outcome: str = ""  # of an attempt that was made, if it is carried
    subject: str = ""  # of a lifecycle event: its schedule


@lru_cache(maxsize=8192)
def body_of(body: str) -> _Body:
    """What of a message matters to the watch; empty if it cannot be read."""
    try:
        read = msgspec.json.decode(body, type=_Body)
        return _Body(id=read.subject) if read.subject else read
    except msgspec.DecodeError:
        return _Body()
