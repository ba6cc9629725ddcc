"""The records of all lanes: each in the table that its id tells (ADR 0095)."""

from collections.abc import Sequence

from attrs import frozen

from delayer.core.schedule.bucket import RecordKey
from delayer.core.schedule.schedule import Schedule
from delayer.core.schedule.schedule_id import id_in, in_lane, key_of
from delayer.repositories.schedules.schedule_table import StoredScheduleTable
from delayer.store.store import Store


@frozen(kw_only=True)
class StoredRecords:
    """Port Records."""

    store: Store
    schedules_table: str
    relaxed_table: str
    waiting_table: str

    def put(self, schedule: Schedule) -> None:
        self._table_of(schedule.id).put(schedule)

    def put_all(self, schedules: Sequence[Schedule]) -> list[Schedule]:
        by_key = {key_of(one.id): one for one in schedules}
        tables = self._by_table(list(by_key))
        return [left for table, keys in tables for left in table.put_all([by_key[key] for key in keys])]

    def delete(self, keys: Sequence[RecordKey]) -> list[RecordKey]:
        return [left for table, some in self._by_table(keys) for left in table.delete(some)]

    def read(self, key: RecordKey) -> Schedule | None:
        return self._table_of(id_in(key)).read(key)

    def read_all(self, keys: Sequence[RecordKey]) -> dict[RecordKey, Schedule]:
        found: dict[RecordKey, Schedule] = {}
        for table, some in self._by_table(keys):
            found |= table.read_all(some)
        return found

    def _by_table(self, keys: Sequence[RecordKey]) -> list[tuple[StoredScheduleTable, list[RecordKey]]]:
        """Most calls are about one table, and cost one request."""
        tables: dict[StoredScheduleTable, list[RecordKey]] = {}
        for key in keys:
            tables.setdefault(self._table_of(id_in(key)), []).append(key)
        return list(tables.items())

    def _table_of(self, schedule_id: str) -> StoredScheduleTable:
        table = in_lane(
            schedule_id, precise=self.schedules_table, relaxed=self.relaxed_table, waiting=self.waiting_table
        )
        return StoredScheduleTable(store=self.store, table=table)
