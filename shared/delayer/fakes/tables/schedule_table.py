"""The schedules table with its stream."""

from collections.abc import Sequence

from attrs import Factory, define

from delayer.core.schedule.bucket import Bucket, RecordKey
from delayer.core.schedule.instants import SECOND, Millis
from delayer.core.schedule.schedule import Schedule
from delayer.core.schedule.schedule_id import key_of
from delayer.core.schedule.table_change import Heartbeat, Kind, RecordChange, Row, known
from delayer.ports.clock import Clock
from delayer.ports.schedule_table import Page

HEARTBEAT = "heartbeat"


@define
class MemoryScheduleTable:
    """Port ScheduleTable. A second put of the same row makes no stream record, and neither does a delete of nothing."""

    page_size: int = 500
    clock: Clock | None = None  # None: when a change was made is when its stream is read
    rows: dict[RecordKey, Row] = Factory(dict)
    stream: list[RecordChange] = Factory(list)

    def put(self, schedule: Schedule) -> None:
        self.write(key_of(schedule.id), schedule)

    def write(self, key: RecordKey, row: Row) -> None:
        """Stores any row, even a malformed one."""
        old = self.rows.get(key)
        if old == row:
            return
        self.rows[key] = row
        self.emit(Kind.MODIFY if old else Kind.INSERT, row)

    def put_all(self, schedules: Sequence[Schedule]) -> list[Schedule]:
        for one in schedules:
            self.put(one)
        return []

    def delete(self, keys: Sequence[RecordKey]) -> list[RecordKey]:
        for key in keys:
            row = self.rows.pop(key, None)
            if row is not None:
                self.emit(Kind.REMOVE, row)
        return []

    def page(self, bucket: Bucket, after: RecordKey | None = None) -> Page:
        wanted = bucket.key
        keys = sorted((key for key in self.rows if key.bucket == wanted), key=lambda key: key.due)
        rest = [key for key in keys if after is None or key.due > after.due]
        page = tuple(rest[: self.page_size])
        return Page(keys=page, more=page[-1] if len(rest) > self.page_size else None)

    def read(self, key: RecordKey) -> Schedule | None:
        row = self.rows.get(key)
        return row if isinstance(row, Schedule) else None

    def read_all(self, keys: Sequence[RecordKey]) -> dict[RecordKey, Schedule]:
        found = {key: self.read(key) for key in keys}
        return {key: row for key, row in found.items() if row}

    def beat(self, heartbeat: Heartbeat) -> None:
        key = RecordKey(bucket=f"{HEARTBEAT}#{heartbeat.lane}", due=f"{heartbeat.sent_at:013d}")
        self.write(key, heartbeat)
        self.delete([key])

    def expire(self, now: Millis) -> None:
        """What DynamoDB's TTL does at some time: it removes what has expired, and says so in the stream."""
        expired = [key for key, row in self.rows.items() if isinstance(row, Schedule) and row.expires_at <= now]
        for key in expired:
            self.emit(Kind.REMOVE, self.rows.pop(key), expired=True)

    def emit(self, kind: Kind, row: Row, *, expired: bool = False) -> None:
        """A record of the stream."""
        sequence = f"{len(self.stream) + 1:021d}"
        self.stream.append(
            RecordChange(
                kind=kind,
                sequence=sequence,
                read=known(row),
                record={"sequence": sequence, "kind": kind, "row": repr(row)},
                at=self.clock.now() // SECOND * SECOND if self.clock else 0,
                event=sequence,
                expired=expired,
            )
        )
