"""Series in memory."""

from attrs import Factory, define

from delayer.core.schedule.bucket import Bucket
from delayer.core.schedule.schedule_id import address_of
from delayer.core.series.series import Cursor, SeriesDefinition
from delayer.fakes.tables.ledger import MemoryLedger
from delayer.fakes.tables.schedule_table import MemoryScheduleTable
from delayer.ports.series import Filed, FiledPage, SeriesTransaction, named_by


@define(kw_only=True)
class MemorySeries:
    """Port SeriesTable."""

    schedules: MemoryScheduleTable
    ledger: MemoryLedger
    cursors: dict[tuple[str, str], Cursor] = Factory(dict)
    definitions: dict[tuple[str, str], SeriesDefinition] = Factory(dict)
    current: dict[str, Filed] = Factory(dict)
    again: dict[tuple[Bucket, str], Filed] = Factory(dict)  # in other minutes than those of their addresses

    def cursor(self, owner: str, series: str) -> Cursor | None:
        return self.cursors.get((owner, series))

    def definition(self, owner: str, series: str) -> SeriesDefinition | None:
        return self.definitions.get((owner, series))

    def filed(self, schedule_id: str) -> Filed | None:
        return self.current.get(schedule_id)

    def page(self, bucket: Bucket, after: str = "", at_most: int = 100) -> FiledPage:
        here = {one: filed for one, filed in self.current.items() if address_of(one).bucket == bucket}
        here |= {one: filed for (where, one), filed in self.again.items() if where == bucket}
        rest = sorted((one for one in here if not after or _place(one) > _place(after)), key=_place)
        page = tuple(here[one] for one in rest[:at_most])
        return FiledPage(filed=page, more=rest[at_most - 1] if len(rest) > at_most else "")

    def write(self, transaction: SeriesTransaction) -> bool:
        cursor = transaction.cursor
        key = (cursor.owner, cursor.series)
        if self.cursors.get(key) == cursor:
            return True
        if not self._may(transaction):
            return False
        self.cursors[key] = cursor
        if transaction.definition:
            self.definitions[key] = transaction.definition
        for one in named_by(transaction.over):
            self.current.pop(one, None)
        for one in named_by(cursor):
            self.current[one] = Filed(schedule_id=one, owner=cursor.owner, series=cursor.series)
        for change in transaction.ends:
            self.ledger.store(change.row)
        self.schedules.delete(list(transaction.delete))
        for schedule in transaction.put:
            self.schedules.put(schedule)
        return True

    def _may(self, transaction: SeriesTransaction) -> bool:
        key = (transaction.cursor.owner, transaction.cursor.series)
        if _revision(self.cursors.get(key)) != _revision(transaction.over):
            return False
        if transaction.definition and _revision(self.definitions.get(key)) != _revision(transaction.over_definition):
            return False
        return all(self.ledger.allows(change) for change in transaction.ends)


def _revision(row: Cursor | SeriesDefinition | None) -> int:
    return row.revision if row else 0


def _place(schedule_id: str) -> str:
    return address_of(schedule_id).sort_key(schedule_id)
