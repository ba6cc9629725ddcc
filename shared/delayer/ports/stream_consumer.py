"""The function that handles the stream of the schedules table, as the minute task asks it (ADR 0082)."""

from collections.abc import Sequence
from typing import Protocol


class Died(Exception):
    """The function died of these records."""


class StreamConsumer(Protocol):
    """stream-enqueuer."""

    def handle(self, records: Sequence[object]) -> Sequence[int]:
        """Has it handle records of the stream once more; returns the positions of those it could not handle.

        Raises Unavailable if it could not be asked, Died if it did not come to the end, or not in time.
        """
        ...
