"""What keeps series going without an event, in the registry: the lists of the net, and the directories (ADR 0100)."""

from attrs import frozen

from delayer.core.schedule.bucket import Bucket
from delayer.core.schedule.schedule_id import address_of
from delayer.core.series.upkeep.rounds import Directory
from delayer.ports.series import Filed
from delayer.ports.series_upkeep import SeriesKey, SeriesKeys
from delayer.repositories.registry.lists import list_query
from delayer.repositories.series.directories import directory_list
from delayer.repositories.series.series_table import current_list, filed_in, filed_values, id_in_entry
from delayer.store.items import entry_key
from delayer.store.store import Store
from delayer.store.writes import Delete, Put


@frozen(kw_only=True)
class StoredSeriesUpkeep:
    """Port SeriesUpkeep."""

    store: Store
    table: str

    def look_again(self, filed: Filed, bucket: Bucket) -> None:
        key = filed_in(bucket, filed.schedule_id)
        self.store.write(Put(self.table, key, filed_values(filed.owner, filed.series)))

    def forget(self, filed: Filed, bucket: Bucket) -> None:
        self.store.write(Delete(self.table, filed_in(bucket, filed.schedule_id)))

    def carry(self, entry: str, bucket: Bucket, to: Bucket) -> None:
        here, there = entry_key(current_list(bucket), entry), entry_key(current_list(to), entry)
        found = self.store.get(self.table, here)
        if found is None:
            return
        self.store.write(Put(self.table, there, {**found, **there}))
        if not _is_address(bucket, entry):
            self.store.write(Delete(self.table, here))

    def listed(self, directory: Directory, part: int, after: str = "", at_most: int = 100) -> SeriesKeys:
        page = self.store.query(list_query(self.table, directory_list(directory, part), after, at_most))
        return SeriesKeys(keys=tuple(_key_in(item["entry"]) for item in page.items), more=page.more)


def _is_address(bucket: Bucket, entry: str) -> bool:
    try:
        return address_of(id_in_entry(entry)).bucket == bucket
    except ValueError:
        return False


def _key_in(entry: str) -> SeriesKey:
    owner, _, series = entry.rpartition("#")
    return SeriesKey(owner=owner, series=series)
