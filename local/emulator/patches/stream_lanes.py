"""The lanes of a stream's event source mapping: records of one key stay in their order, others are handled beside them.

As on AWS: `ParallelizationFactor` says how many batches of a shard are handled at the same time, `BatchSize` how many
records are in one, and `MaximumBatchingWindowInSeconds` how long a batch that is not full waits for more.
"""

import json
import threading
import time
import zlib
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from attrs import Factory, define

Record = dict[str, Any]
# The batch; -> the number of its records that are done with, from the first one on.
Handle = Callable[[list[Record]], int]


def lane_of(record: Record, lanes: int) -> int:
    """By the key of its item."""
    return zlib.crc32(json.dumps(record["dynamodb"]["Keys"], sort_keys=True).encode()) % lanes


@define(kw_only=True, eq=False)
class Lane:
    """The work of one lane. Its thread takes batches, another one adds records."""

    size: int  # of a batch
    window: float  # seconds
    waiting: deque[tuple[int, Record]] = Factory(deque)  # with their places in the stream
    since: float = 0.0  # when the first that waits came (monotonic)
    changed: threading.Condition = Factory(threading.Condition)

    def add(self, records: Sequence[tuple[int, Record]]) -> None:
        """Add records with their places in the stream."""
        with self.changed:
            if not self.waiting:
                self.since = time.monotonic()
            self.waiting.extend(records)
            self.changed.notify()

    def batch(self) -> list[Record]:
        """Wait for one. Its records stay here until they are done."""
        with self.changed:
            while (left := self._seconds_left()) is None or left > 0:
                self.changed.wait(left)
            return [record for _, record in list(self.waiting)[: self.size]]

    def _seconds_left(self) -> float | None:
        """Until a batch is to be handed over; None: until there is a record."""
        if not self.waiting:
            return None
        return 0.0 if len(self.waiting) >= self.size else self.since + self.window - time.monotonic()

    def done(self, count: int) -> None:
        """The first so many records."""
        with self.changed:
            for _ in range(count):
                self.waiting.popleft()
            self.since = time.monotonic()

    def first(self) -> int | None:
        """The place of the first record that is not done."""
        with self.changed:
            return self.waiting[0][0] if self.waiting else None
