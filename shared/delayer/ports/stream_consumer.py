"""The functions that handle the streams of both lanes, as the minute task asks them (ADR 0082)."""

from collections.abc import Sequence
from typing import Protocol


class StreamConsumer(Protocol):
    """stream-enqueuer, and relaxed-claimer for records of the relaxed table."""

    def handle(self, records: Sequence[object]) -> Sequence[int]:
        """Has it handle records of the stream once more; returns the positions of those it could not handle.

        Raises Unavailable if it could not be asked, Died if it did not come to the end, or not in time.
        """
        ...
