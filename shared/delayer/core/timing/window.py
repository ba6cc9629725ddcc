"""An offset within a window: spreads what would be due at once, and is the same for the same key."""

import hashlib
from typing import Final

from delayer.core.schedule.instants import SECOND, Millis

MAX_WINDOW_SECONDS: Final = 86_400


def offset(key: bytes, seconds: int) -> Millis:
    """From 0 up to, but not including, the length of the window. Even over all keys; steady for one.

    `key` is the random part of an id; of a series, its id: so the intervals of its occurrences stay the same.
    """
    if not 0 <= seconds <= MAX_WINDOW_SECONDS:
        raise ValueError(f"a window of {seconds} seconds: 0 to {MAX_WINDOW_SECONDS} are allowed")
    drawn = int.from_bytes(hashlib.sha256(key).digest()[:8], "big")
    return drawn * seconds * SECOND >> 64
