"""The stream of a table, as Lambda's event source mapping reads it."""

from collections.abc import Callable, Sequence
from zlib import crc32

from attrs import Factory, define, evolve

from delayer.core.schedule.instants import HOUR, SECOND, Millis
from delayer.core.schedule.malformed import Malformed, UnknownVersion
from delayer.core.schedule.table_change import Heartbeat, RecordChange
from delayer.ports.clock import Clock


@define
class MemoryStream:
    """Shards that are read in order, each batch until it is settled.

    A batch with failures begins again at the lowest of them; one whose function died is cut in two and tried again,
    as `ReportBatchItemFailures` and `BisectBatchOnFunctionError` have it. What gets too old goes to `discard`.
    """

    clock: Clock
    records: Sequence[RecordChange]  # all there ever were; the table appends to it
    discard: Callable[[Sequence[RecordChange]], None]  # the failure destination
    shards: int = 1
    batch: int = 100
    max_age: Millis = 23 * HOUR
    _read: int = 0  # how many of the records are in the shards
    _waiting: list[list[RecordChange]] = Factory(lambda self: [[] for _ in range(self.shards)], takes_self=True)
    _formed: list[list[list[RecordChange]]] = Factory(lambda self: [[] for _ in range(self.shards)], takes_self=True)
    _arrived: dict[str, Millis] = Factory(dict)

    def receive(self, shard: int) -> list[RecordChange]:
        """The batch that is due in a shard, again and again until it is settled; empty if there is none."""
        self._take_in()
        formed, waiting = self._formed[shard], self._waiting[shard]
        while True:
            if not formed and waiting:
                formed.append(waiting[: self.batch])
                del waiting[: self.batch]
            if not formed or self.clock.now() - self._arrived[formed[0][0].sequence] <= self.max_age:
                return formed[0] if formed else []
            self.discard(formed.pop(0))

    def settle(self, shard: int, failed: Sequence[str] | None) -> None:
        """What became of the batch: the sequence numbers that failed; None if the function died or raised."""
        batch = self._formed[shard].pop(0)
        if failed is None:
            half = (len(batch) + 1) // 2
            rest = [batch[:half], batch[half:]]
        else:
            lowest = min((position for position, change in enumerate(batch) if change.sequence in failed), default=None)
            rest = [] if lowest is None else [batch[lowest:]]
        self._formed[shard][:0] = [part for part in rest if part]

    def unread(self) -> list[RecordChange]:
        """All that is not settled yet, shard by shard."""
        self._take_in()
        shards = zip(self._formed, self._waiting, strict=True)
        return [change for formed, waiting in shards for batch in (*formed, waiting) for change in batch]

    def busy(self) -> list[int]:
        """The shards with something in them."""
        self._take_in()
        return [shard for shard in range(self.shards) if self._formed[shard] or self._waiting[shard]]

    def _take_in(self) -> None:
        now = self.clock.now()
        for change in self.records[self._read :]:
            self._arrived[change.sequence] = now
            self._waiting[self._shard_of(change)].append(evolve(change, at=change.at or now // SECOND * SECOND))
        self._read = len(self.records)

    def _shard_of(self, change: RecordChange) -> int:
        """By the key, so that the changes of one record keep their order."""
        match change.row:
            case Heartbeat(sent_at=sent_at, lane=lane):
                key = f"{sent_at}{lane}"
            case Malformed() | UnknownVersion() as unread:
                key = str(unread)
            case schedule:
                key = schedule.id
        return crc32(key.encode()) % self.shards
