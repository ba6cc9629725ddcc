"""The records of all lanes, and what waits for its time."""

from collections.abc import Sequence

from attrs import Factory, define

from delayer.core.schedule.bucket import RecordKey
from delayer.core.schedule.instants import Millis
from delayer.core.schedule.schedule import Schedule
from delayer.core.schedule.schedule_id import address_of, id_in, in_lane, undecided_bucket
from delayer.fakes.tables.schedule_table import MemoryScheduleTable
from delayer.ports.waiting_table import Waits, WaitsPage


@define(kw_only=True)
class MemoryRecords:
    """Port Records. Each table has a stream of its own."""

    schedules: MemoryScheduleTable
    relaxed: MemoryScheduleTable = Factory(MemoryScheduleTable)
    waiting: MemoryScheduleTable = Factory(MemoryScheduleTable)

    def put(self, schedule: Schedule) -> None:
        self._table_of(schedule.id).put(schedule)

    def put_all(self, schedules: Sequence[Schedule]) -> list[Schedule]:
        return [left for one in schedules for left in self._table_of(one.id).put_all([one])]

    def delete(self, keys: Sequence[RecordKey]) -> list[RecordKey]:
        return [left for key in keys for left in self._table_of(id_in(key)).delete([key])]

    def read(self, key: RecordKey) -> Schedule | None:
        return self._table_of(id_in(key)).read(key)

    def read_all(self, keys: Sequence[RecordKey]) -> dict[RecordKey, Schedule]:
        found = {key: self.read(key) for key in keys}
        return {key: schedule for key, schedule in found.items() if schedule}

    def _table_of(self, schedule_id: str) -> MemoryScheduleTable:
        return in_lane(schedule_id, precise=self.schedules, relaxed=self.relaxed, waiting=self.waiting)


@define(kw_only=True)
class MemoryWaitingTable:
    """Port WaitingTable, over the same records."""

    waiting: MemoryScheduleTable

    def page(self, shard: int, since: Millis, until: Millis, after: str = "", at_most: int = 100) -> WaitsPage:
        bucket = undecided_bucket(shard)
        here = sorted(key.due for key in self.waiting.rows if key.bucket == bucket)
        wanted = [one for one in here if one > after and since <= address_of(_id_in(one)).due < until]
        page = tuple(self._waits(bucket, one) for one in wanted[:at_most])
        return WaitsPage(waits=page, more=wanted[at_most - 1] if len(wanted) > at_most else "")

    def _waits(self, bucket: str, due: str) -> Waits:
        record = self.waiting.read(RecordKey(bucket=bucket, due=due))
        return Waits(schedule_id=_id_in(due), when=record.definition.when if record else "")


def _id_in(due: str) -> str:
    return due.partition("#")[2]
