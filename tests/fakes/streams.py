"""The streams of tables in memory, as Lambda's event source mapping reads them."""

from collections.abc import Callable, Sequence
from functools import cache, partial
from zlib import crc32

from attrs import Factory, define, evolve, field

from delayer.engines.ports import Clock
from delayer.engines.store.model import ItemChange, kind_of
from delayer.ledger import repository as ledger
from delayer.ledger.model import LedgerRow
from delayer.records.repository import from_item
from delayer.schedule.instants import HOUR, SECOND, Malformed, Millis, UnknownVersion
from delayer.schedule.table_change import ChangeKind, Heartbeat, RecordChange
from delayer.schedule.tables import LEDGER, OCCURRENCES, STREAMED


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
        """Says how the batch ended: the sequence numbers that failed; None if the function died or raised."""
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
        if self._read == len(self.records):
            return
        now = self.clock.now()
        for change in self.records[self._read :]:
            self._arrived[change.sequence] = now
            known = change if change.at else evolve(change, at=now // SECOND * SECOND)
            self._waiting[self._shard_of(change)].append(known)
        self._read = len(self.records)

    def _shard_of(self, change: RecordChange) -> int:
        """By the key, so that the changes of one record keep their order."""
        if self.shards == 1:
            return 0
        match change.row:
            case Heartbeat(sent_at=sent_at, lane=lane):
                key = f"{sent_at}{lane}"
            case Malformed() | UnknownVersion() as unread:
                key = str(unread)
            case schedule:
                key = schedule.id
        return crc32(key.encode()) % self.shards


@define
class Feed:
    """All that was ever written to the tables that have a stream."""

    clock: Clock
    records: dict[str, list[RecordChange]] = field(init=False, factory=lambda: {one: [] for one in STREAMED})
    rows: list[ItemChange] = field(init=False, factory=list)  # of the ledger

    def hear(self, changes: Sequence[ItemChange]) -> None:
        """Takes a change from the store."""
        for change in changes:
            if change.table == LEDGER:
                self.rows.append(change)
            elif change.table in self.records:
                self._note(change, self.records[change.table])

    def _note(self, change: ItemChange, stream: list[RecordChange]) -> None:
        """A record is read when somebody asks for its row. It names its table, by which it is found again."""
        kind = kind_of(change)
        sequence = f"{len(stream) + 1:021d}"
        image = change.old if kind is ChangeKind.REMOVE else change.new
        stream.append(
            RecordChange(
                kind=kind,
                sequence=sequence,
                read=cache(partial(from_item, image or {})),
                record={"sequence": sequence, "table": change.table},
                at=self.clock.now() // SECOND * SECOND,
                event=sequence,
                expired=change.is_expired,
            )
        )

    def changes(self, records: Sequence[dict[str, str]]) -> list[RecordChange]:
        """The changes that were written as these records."""
        return [self.records[one["table"]][int(one["sequence"]) - 1] for one in records]

    @property
    def ledger(self) -> list[tuple[LedgerRow | None, LedgerRow]]:
        """Each row of the ledger that was written: the one before, and the one after."""
        return [(old, new) for _, old, new in self.ledger_since(0)]

    def ledger_since(
        self, number: int, *, of_occurrences: bool | None = None
    ) -> list[tuple[int, LedgerRow | None, LedgerRow]]:
        """Those after the first ones, each with its number. What has expired is no event."""
        written = enumerate(self.rows[number:], number)
        return [
            (at, ledger.from_item(one.old) if one.old else None, ledger.from_item(one.new))
            for at, one in written
            if one.new is not None and of_occurrences in (None, one.new.get(ledger.KIND) in OCCURRENCES)
        ]
