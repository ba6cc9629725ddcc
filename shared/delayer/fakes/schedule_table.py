"""The schedules table with its stream."""

from collections.abc import Sequence

from attrs import Factory, define

from delayer.core.bucket import Bucket
from delayer.core.enqueueing import Change, Garbled, Heartbeat, Kind
from delayer.core.instants import Millis
from delayer.core.schedule import Schedule
from delayer.ports import Page, RecordKey

HEARTBEAT = "heartbeat"

Row = Schedule | Heartbeat | Garbled


@define
class MemoryScheduleTable:
    """Port ScheduleTable. A put of the same row again makes no stream record, a delete of nothing neither."""

    page_size: int = 500
    rows: dict[RecordKey, Row] = Factory(dict)
    stream: list[Change] = Factory(list)

    def put(self, schedule: Schedule) -> None:
        bucket = schedule.address.bucket.key
        self.write(RecordKey(bucket=bucket, due=schedule.address.sort_key(schedule.id)), schedule)

    def write(self, key: RecordKey, row: Row) -> None:
        """Stores any row, also one that nobody can read."""
        old = self.rows.get(key)
        if old == row:
            return
        self.rows[key] = row
        self._emit(Kind.MODIFY if old else Kind.INSERT, row)

    def delete(self, keys: Sequence[RecordKey]) -> list[RecordKey]:
        for key in keys:
            row = self.rows.pop(key, None)
            if row is not None:
                self._emit(Kind.REMOVE, row)
        return []

    def page(self, bucket: Bucket, after: RecordKey | None = None) -> Page:
        keys = sorted((key for key in self.rows if key.bucket == bucket.key), key=lambda key: key.due)
        rest = [key for key in keys if after is None or key.due > after.due]
        page = tuple(rest[: self.page_size])
        return Page(page, page[-1] if len(rest) > self.page_size else None)

    def read(self, key: RecordKey) -> Schedule | None:
        row = self.rows.get(key)
        return row if isinstance(row, Schedule) else None

    def read_all(self, keys: Sequence[RecordKey]) -> dict[RecordKey, Schedule]:
        found = {key: self.read(key) for key in keys}
        return {key: row for key, row in found.items() if row}

    def beat(self, sent_at: Millis) -> None:
        key = RecordKey(bucket=HEARTBEAT, due=f"{sent_at:013d}")
        self.write(key, Heartbeat(sent_at))
        self.delete([key])

    def _emit(self, kind: Kind, row: Row) -> None:
        sequence = f"{len(self.stream) + 1:021d}"
        self.stream.append(Change(kind=kind, sequence=sequence, row=row, raw=f"{kind}:{row!r}"))
