"""Sources of the pump that read the streams of tables, as Lambda's event source mappings do."""

from collections.abc import Iterator, Sequence

from attrs import define, field

from delayer.history.model import LifecycleRecord, of_record, of_row
from delayer.schedule.schedule import Schedule
from delayer.schedule.tables import LEDGER, SCHEDULES
from delayer.wiring.manifest import FromStream
from delayer.wiring.pump import Batch, Source
from tests.fakes.streams import Feed, MemoryStream


@define(kw_only=True, eq=False)
class StreamSource(Source):
    """The stream of a table: in order, again from the lowest that failed."""

    stream: MemoryStream

    def batches(self) -> Iterator[Batch]:
        return (batch for shard in self.stream.busy() if (batch := self.of_shard(shard)))

    def of_shard(self, shard: int) -> Batch | None:
        """Returns the next batch in it."""
        records = self.stream.receive(shard)
        return Batch(source=self, items=list(records), shard=shard) if records else None

    def settle(self, batch: Batch, failed: Sequence[str] | None) -> None:
        self.stream.settle(batch.shard, failed)

    def is_empty(self) -> bool:
        return not self.stream.unread()


@define(kw_only=True, eq=False)
class LifecycleSource(Source):
    """The streams of the tables as the readers that announce see them: what happened to schedules."""

    feed: Feed
    reads: Sequence[FromStream]
    _read: dict[str, int] = field(init=False, factory=dict)  # how many records of a table
    _unsettled: list[LifecycleRecord] = field(init=False, factory=list)

    def batches(self) -> Iterator[Batch]:
        if records := self.unsettled()[: self.reads[0].batch]:
            yield Batch(source=self, items=records)

    def unsettled(self) -> list[LifecycleRecord]:
        """All that was given out to nobody, or failed."""
        for one in self.reads:
            written = self.feed.rows if one.table == LEDGER else self.feed.records[one.table]
            first, self._read[one.table] = self._read.get(one.table, 0), len(written)
            if first < len(written):
                self._unsettled += self._of_ledger(first, one) if one.table == LEDGER else self._of(one.table, first)
        return self._unsettled

    def settle(self, batch: Batch, failed: Sequence[str] | None) -> None:
        if failed is not None:
            done = next((at for at, one in enumerate(batch.items) if one.sequence in failed), len(batch.items))
            del self._unsettled[:done]

    def is_empty(self) -> bool:
        return not self.unsettled()

    def _of(self, table: str, first: int) -> list[LifecycleRecord]:
        lane = "" if table == SCHEDULES else f"{table}-"  # the tables count by themselves
        return [
            LifecycleRecord(sequence=change, event=of_record(one.kind, one.row, change, one.at, expired=one.expired))
            for one in self.feed.records[table][first:]
            if isinstance(one.row, Schedule) and (change := f"{lane}{one.sequence}")
        ]

    def _of_ledger(self, first: int, reads: FromStream) -> list[LifecycleRecord]:
        return [
            LifecycleRecord(sequence=f"row-{number}", event=of_row(old, new, f"row-{number}"))
            for number, old, new in self.feed.ledger_since(first, of_occurrences=reads.of_occurrences)
        ]
