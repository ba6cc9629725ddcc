"""Keeps series going without an event, in the registry: the lists of the net, and the directories (ADR 0100)."""

from typing import Final

from attrs import frozen

from delayer.engines.store.mapped import FLAG, NUMBER, TEXT, Mapped, always
from delayer.engines.store.model import All, Change, Delete, Is, Put, Some, entry_key, lacks, row_key
from delayer.engines.store.store import Store, WriteRefused
from delayer.history.repository import list_query
from delayer.schedule.schedule_id import Bucket, address_of
from delayer.series.ports import Filed, SeriesKey, SeriesKeys
from delayer.series.repository.series_table import current_list, filed_in, filed_values, id_in_entry, part_list
from delayer.series.rules.series import Directory, Round
from delayer.series.rules.upkeep import NetPosition

NET: Final = "series-net"
PLACE: Final[Mapped[NetPosition]] = Mapped(
    NetPosition,
    "the place of the net",
    version=None,
    kept=("minute",),
    names={"minute": "closedUntil", "shard": "inShard", "after": "afterId"},
    shard=always(NUMBER),
    after=always(TEXT),
)
ROUND: Final[Mapped[Round]] = Mapped(
    Round,
    "a round of a directory",
    version=None,
    kept=("label", "began"),
    part=always(NUMBER),
    after=always(TEXT),
    is_over=always(FLAG),
)


@frozen(kw_only=True)
class StoredSeriesProgress:
    """Keeps in control rows how far the net and the rounds came."""

    store: Store
    table: str

    def place(self) -> NetPosition | None:
        row = self.store.get(self.table, row_key(NET))
        return None if row is None else PLACE.row(row)

    def reach(self, place: NetPosition) -> None:
        same_minute = All((Is("closedUntil", place.minute), Is("inShard", place.shard, "<=")))
        is_behind = Some((lacks("closedUntil"), Is("closedUntil", place.minute, "<"), same_minute))
        try:
            self.store.write(Change(self.table, row_key(NET), put=PLACE.item(place), when=is_behind))
        except WriteRefused:
            return

    def round(self, directory: Directory) -> Round | None:
        row = self.store.get(self.table, row_key(f"series-{directory}"))
        return None if row is None else ROUND.row(row)

    def note(self, directory: Directory, current: Round) -> None:
        self.store.write(Put(self.table, row_key(f"series-{directory}"), ROUND.item(current)))


@frozen(kw_only=True)
class StoredSeriesUpkeep:
    """Finds series by the rows of minutes and directories."""

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
        page = self.store.query(list_query(self.table, part_list(directory, part), after, at_most))
        return SeriesKeys(keys=tuple(_key_in(item["entry"]) for item in page.items), more=page.more)


def _is_address(bucket: Bucket, entry: str) -> bool:
    try:
        return address_of(id_in_entry(entry)).bucket == bucket
    except ValueError:
        return False


def _key_in(entry: str) -> SeriesKey:
    owner, _, series = entry.rpartition("#")
    return SeriesKey(owner=owner, series=series)
