"""The tables of records, and the control rows by which writers and sweepers agree (ADR 0048)."""

from collections.abc import Collection, Sequence
from typing import Protocol

from attrs import frozen

from delayer.schedule.instants import Millis
from delayer.schedule.schedule import Schedule
from delayer.schedule.schedule_id import Bucket, IdKeys, Progress, RecordKey, Shards
from delayer.schedule.table_change import Heartbeat, Heartbeats


class Control(Protocol):
    """Keeps the rows by which writers and sweepers agree."""

    def shards(self) -> Shards | None:
        """Strongly consistent; None if nothing was ever written."""
        ...

    def raise_shards(self, wanted: Shards) -> Shards:
        """Raises the highest shard if it is lower, keeps the first `since`; returns the row as it is afterwards."""
        ...

    def id_keys(self) -> IdKeys:
        """The secrets behind the ids, strongly consistent; empty if none was made yet."""
        ...

    def write_id_keys(self, keys: IdKeys, over: IdKeys) -> bool:
        """Whether they were written; False: others than `over` were there, perhaps these by an earlier try."""
        ...

    def progress(self) -> Progress | None:
        """How far the sweep came; None before the first."""
        ...

    def advance(self, progress: Progress) -> None:
        """Writes it; the watermark moves forward only, whatever another tick wrote in between."""
        ...

    def heartbeats(self) -> Heartbeats:
        """Reads which were sent and which came through, strongly consistent."""
        ...

    def await_lanes(self, heartbeats: Collection[Heartbeat]) -> None:
        """From now on they are awaited."""
        ...

    def note_heartbeat(self, sent_at: Millis) -> None:
        """Forward only. Says, too, that this code knows heartbeats with a lane."""
        ...

    def note_lanes(self, heartbeats: Collection[Heartbeat]) -> None:
        """Notes that these heartbeats came through, and are awaited no more."""
        ...


@frozen(kw_only=True)
class RecordPage:
    """A page of a bucket, in due order."""

    keys: tuple[RecordKey, ...]
    more: RecordKey | None  # where the next page begins after; None: this was the last


class Records(Protocol):
    """The records of all lanes, as one table: the id of a schedule tells in which its record is (ADR 0095)."""

    def put(self, schedule: Schedule) -> None:
        """Stores it; to store it again changes nothing."""
        ...

    def put_all(self, schedules: Sequence[Schedule]) -> list[Schedule]:
        """Many, each as with `put`, in few requests; returns those not known to be stored. None may come twice."""
        ...

    def delete(self, keys: Sequence[RecordKey]) -> list[RecordKey]:
        """Deletes the records; returns those not known to be gone. It is no error if one is not there."""
        ...

    def read(self, key: RecordKey) -> Schedule | None:
        """One record, strongly consistent; None if there is none that can be read."""
        ...

    def read_all(self, keys: Sequence[RecordKey]) -> dict[RecordKey, Schedule]:
        """Many records, each as with `read`, in few requests."""
        ...


class ScheduleTable(Records, Protocol):
    """The records of one lane, in its own table: also those who sweep it read it."""

    def page(self, bucket: Bucket, after: RecordKey | None = None) -> RecordPage:
        """Reads one page, strongly consistent and unfiltered."""
        ...

    def beat(self, heartbeat: Heartbeat) -> None:
        """Puts and deletes its row."""
        ...
