"""The schedules table."""

from collections.abc import Sequence
from typing import Protocol

from attrs import frozen

from delayer.core.schedule.bucket import Bucket, RecordKey
from delayer.core.schedule.schedule import Schedule
from delayer.core.schedule.table_change import Heartbeat


@frozen(kw_only=True)
class Page:
    """A page of a bucket, in due order."""

    keys: tuple[RecordKey, ...]
    more: RecordKey | None  # where the next page begins after; None: this was the last


class PutsSchedules(Protocol):
    """Part of ScheduleTable."""

    def put(self, schedule: Schedule) -> None:
        """Stores it; to store it again changes nothing."""
        ...


class PutsManySchedules(Protocol):
    """Part of ScheduleTable."""

    def put_all(self, schedules: Sequence[Schedule]) -> list[Schedule]:
        """Many, each as with `put`, in few requests; returns those not known to be stored. None may come twice."""
        ...


class DeletesSchedules(Protocol):
    """Part of ScheduleTable."""

    def delete(self, keys: Sequence[RecordKey]) -> list[RecordKey]:
        """Deletes the records; returns those not known to be gone. It is no error if one is not there."""
        ...


class ReadsBuckets(Protocol):
    """Part of ScheduleTable."""

    def page(self, bucket: Bucket, after: RecordKey | None = None) -> Page:
        """Reads one page, strongly consistent and unfiltered."""
        ...


class ReadsSchedules(Protocol):
    """Part of ScheduleTable."""

    def read(self, key: RecordKey) -> Schedule | None:
        """One record, strongly consistent; None if there is none that can be read."""
        ...


class ReadsManySchedules(Protocol):
    """Part of ScheduleTable."""

    def read_all(self, keys: Sequence[RecordKey]) -> dict[RecordKey, Schedule]:
        """Many records, each as with `read`, in few requests."""
        ...


class SendsHeartbeats(Protocol):
    """Part of ScheduleTable."""

    def beat(self, heartbeat: Heartbeat) -> None:
        """Puts and deletes its row."""
        ...


class Records(PutsSchedules, PutsManySchedules, DeletesSchedules, ReadsSchedules, ReadsManySchedules, Protocol):
    """The records of all lanes, as one table: the id of a schedule tells in which its record is (ADR 0095)."""


class ScheduleTable(
    PutsSchedules,
    PutsManySchedules,
    DeletesSchedules,
    ReadsBuckets,
    ReadsSchedules,
    ReadsManySchedules,
    SendsHeartbeats,
    Protocol,
):
    """All of it."""
