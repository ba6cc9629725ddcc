"""The records of all lanes: each in the table that its id tells (ADR 0095, ADR 0096)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from attrs import frozen

from delayer.aws.dynamodb.schedule_table import DynamoScheduleTable
from delayer.core.schedule.bucket import RecordKey
from delayer.core.schedule.schedule import Schedule
from delayer.core.schedule.schedule_id import is_of_undecided, key_of

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


@frozen(kw_only=True)
class DynamoRecords:
    """Port Records."""

    dynamodb: "DynamoDBClient"
    schedules_table: str
    waiting_table: str

    def put(self, schedule: Schedule) -> None:
        self._table_of(key_of(schedule.id)).put(schedule)

    def delete(self, keys: Sequence[RecordKey]) -> list[RecordKey]:
        return [left for table, some in self._by_table(keys) for left in table.delete(some)]

    def read(self, key: RecordKey) -> Schedule | None:
        return self._table_of(key).read(key)

    def read_all(self, keys: Sequence[RecordKey]) -> dict[RecordKey, Schedule]:
        found: dict[RecordKey, Schedule] = {}
        for table, some in self._by_table(keys):
            found |= table.read_all(some)
        return found

    def _by_table(self, keys: Sequence[RecordKey]) -> list[tuple[DynamoScheduleTable, list[RecordKey]]]:
        """Most calls are about one table, and cost one request."""
        sorted_out: dict[str, list[RecordKey]] = {}
        for key in keys:
            sorted_out.setdefault(self._table_of(key).table, []).append(key)
        return [(self._table_of(some[0]), some) for some in sorted_out.values()]

    def _table_of(self, key: RecordKey) -> DynamoScheduleTable:
        table = self.waiting_table if is_of_undecided(key) else self.schedules_table
        return DynamoScheduleTable(dynamodb=self.dynamodb, table=table)
