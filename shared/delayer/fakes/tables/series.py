"""Series in memory."""

from collections.abc import Mapping, Sequence

from attrs import Factory, define

from delayer.core.schedule.bucket import Bucket
from delayer.core.schedule.schedule_id import address_of
from delayer.core.series.series import Cursor, SeriesDefinition
from delayer.fakes.connections.connections import MemoryConnections
from delayer.fakes.tables.ledger import MemoryLedger
from delayer.fakes.tables.registry import WritesSchedules
from delayer.ports.registry import RequestRow
from delayer.ports.series import (
    Filed,
    FiledPage,
    SeriesEntry,
    SeriesPage,
    SeriesTransaction,
    check_new,
    check_noted,
    check_stepped,
    named_by,
)


@define(kw_only=True)
class MemorySeries:
    """Port SeriesTable."""

    schedules: WritesSchedules
    ledger: MemoryLedger
    cursors_of: dict[tuple[str, str], Cursor] = Factory(dict)
    definitions_of: dict[tuple[str, str], SeriesDefinition] = Factory(dict)
    current: dict[str, Filed] = Factory(dict)
    again: dict[tuple[Bucket, str], Filed] = Factory(dict)  # in other minutes than those of their addresses
    unread: set[tuple[Bucket, str]] = Factory(set)  # entries that cannot be read
    names: dict[tuple[str, str], str] = Factory(dict)  # the series that has a name of an owner
    requests: dict[tuple[str, str], RequestRow] = Factory(dict)  # those of the registry
    connections: MemoryConnections = Factory(MemoryConnections)

    def cursor(self, owner: str, series: str) -> Cursor | None:
        return self.cursors_of.get((owner, series))

    def definition(self, owner: str, series: str) -> SeriesDefinition | None:
        return self.definitions_of.get((owner, series))

    def named(self, owner: str, name: str) -> str:
        return self.names.get((owner, name), "")

    def listed(self, owner: str, group: str | None, after: SeriesEntry | None, at_most: int) -> SeriesPage:
        everything = [
            SeriesEntry(group=definition.definition.group, series=series)
            for (whose, series), definition in self.definitions_of.items()
            if whose == owner and group in (None, definition.definition.group)
        ]
        rest = sorted((one for one in everything if not after or _key(one) > _key(after)), key=_key)
        return SeriesPage(entries=tuple(rest[:at_most]), more=rest[at_most - 1] if len(rest) > at_most else None)

    def cursors(self, owner: str, series: Sequence[str]) -> Mapping[str, Cursor]:
        return {one: self.cursors_of[owner, one] for one in series if (owner, one) in self.cursors_of}

    def definitions(self, owner: str, series: Sequence[str]) -> Mapping[str, SeriesDefinition]:
        return {one: self.definitions_of[owner, one] for one in series if (owner, one) in self.definitions_of}

    def live(self, owner: str, at_most: int) -> int:
        live = sum(whose == owner and not cursor.expires_at for (whose, _), cursor in self.cursors_of.items())
        return min(live, at_most)

    def filed(self, schedule_id: str) -> Filed | None:
        return self.current.get(schedule_id)

    def page(self, bucket: Bucket, after: str = "", at_most: int = 100) -> FiledPage:
        here = {one: filed for one, filed in self.current.items() if address_of(one).bucket == bucket}
        here |= {one: filed for (where, one), filed in self.again.items() if where == bucket}
        entries: dict[str, Filed | None] = {entry: None for where, entry in self.unread if where == bucket}
        entries |= {address_of(one).sort_key(one): filed for one, filed in here.items()}
        rest = sorted(entry for entry in entries if entry > after)
        page = {entry: entries[entry] for entry in rest[:at_most]}
        return FiledPage(
            filed=tuple(one for one in page.values() if one),
            unread=tuple(entry for entry, one in page.items() if not one),
            more=rest[at_most - 1] if len(rest) > at_most else "",
        )

    def create(self, transaction: SeriesTransaction) -> bool:
        check_new(transaction)
        return self.write(transaction)

    def note(self, transaction: SeriesTransaction) -> bool:
        check_noted(transaction)
        return self.write(transaction)

    def step(self, transaction: SeriesTransaction) -> bool:
        check_stepped(transaction)
        return self.write(transaction)

    def write(self, transaction: SeriesTransaction) -> bool:
        cursor = transaction.cursor
        key = (cursor.owner, cursor.series)
        if self.cursors_of.get(key) == cursor and self._has_written(transaction):
            return True
        if not self._may(transaction):
            return False
        self._name_connections(transaction)
        self.cursors_of[key] = cursor
        self._register(transaction)
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

    def _has_written(self, transaction: SeriesTransaction) -> bool:
        """Whether its cursor is its own, and not that of another transaction."""
        cursor, definition = transaction.cursor, transaction.rewritten
        if transaction.is_shown_by_its_cursor:
            return True
        if definition and self.definitions_of.get((cursor.owner, cursor.series)) != definition:
            return False
        row = transaction.put_request
        if row and self.requests.get((row.owner, row.key)) != row:
            return False
        return all(self.ledger.rows.get(change.row.schedule_id) == change.row for change in transaction.ends)

    def _name_connections(self, transaction: SeriesTransaction) -> None:
        cursor = transaction.cursor
        for one in transaction.uses:
            if one.is_checked:
                self.connections.check(cursor.owner, one.connection)
        for one in transaction.uses:
            self.connections.name_in_series(cursor.owner, cursor.series, one)

    def _register(self, transaction: SeriesTransaction) -> None:
        cursor, definition, request = transaction.cursor, transaction.definition, transaction.put_request
        if definition:
            self.definitions_of[cursor.owner, cursor.series] = definition
            if definition.name and transaction.changes_name:
                self.names[cursor.owner, definition.name] = cursor.series
        if request:
            self.requests[request.owner, request.key] = request

    def _may(self, transaction: SeriesTransaction) -> bool:
        key = (transaction.cursor.owner, transaction.cursor.series)
        if _revision(self.cursors_of.get(key)) != _revision(transaction.over):
            return False
        if transaction.definition and _revision(self.definitions_of.get(key)) != _revision(transaction.over_definition):
            return False
        return self._has_its_name(transaction) and self._is_new_request(transaction) and self._allows(transaction)

    def _has_its_name(self, transaction: SeriesTransaction) -> bool:
        """The name of a new series, or of one that ends or is revived."""
        cursor, definition, old = transaction.cursor, transaction.definition, transaction.unchanged
        if old and (found := self.cursors_of.get((old.owner, old.series))) and found.revision != old.revision:
            return False
        if not definition or not definition.name or not transaction.changes_name:
            return True
        holder = self.named(cursor.owner, definition.name)
        return holder == transaction.over_name if transaction.over is None else holder in ("", cursor.series)

    def _is_new_request(self, transaction: SeriesTransaction) -> bool:
        row = transaction.put_request
        return row is None or self.requests.get((row.owner, row.key)) == transaction.over_request

    def _allows(self, transaction: SeriesTransaction) -> bool:
        return all(self.ledger.allows(change) for change in transaction.ends)


def _revision(row: Cursor | SeriesDefinition | None) -> int:
    return row.revision if row else 0


def _key(entry: SeriesEntry) -> str:
    """As DynamoDB sorts them."""
    return f"{entry.group}#{entry.series}"
