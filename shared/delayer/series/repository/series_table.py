"""Series in the registry (ADR 0094).

A list `series#<owner>#<id>` has two entries: `cursor`, which is small and written with each step, and `definition`. A
list `current#<minute>#<shard>` has an entry for each occurrence that is the current one of its series: by it an event
finds the series, and the net finds what no event has reported. A list `series-of#<owner>` has an entry for each series
of an owner, by its group; a list `series-name#<owner>#<name>` says which series has a name.
"""

import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeVar

import msgspec
from attrs import asdict, frozen

from delayer.accept.repository import put_whole, request_item, request_write
from delayer.connections.repository import is_closed, series_writes
from delayer.engines.ports import Unavailable
from delayer.engines.store.mapped import NOT_READ, NUMBER, SECONDS, TEXT, Form, Mapped, always, check_version, encoded
from delayer.engines.store.model import (
    Check,
    Condition,
    Delete,
    Is,
    Item,
    Key,
    KeyRange,
    Put,
    Query,
    Some,
    StoredItem,
    Write,
    entry_key,
    lacks,
)
from delayer.engines.store.store import PartlyRead, Store, WriteRefused
from delayer.history.repository import list_query
from delayer.ledger import repository as ledger
from delayer.records.repository import delete_record, put_record
from delayer.schedule.instants import SECOND
from delayer.schedule.schedule import Definition, from_texts, given, traits_from_text, traits_to_text
from delayer.schedule.schedule_id import Bucket, address_of, id_in, is_relaxed
from delayer.series.ports import (
    Filed,
    FiledPage,
    SeriesEntry,
    SeriesKey,
    SeriesPage,
    SeriesRows,
    SeriesTransaction,
    check_new,
    check_noted,
    check_stepped,
    named_by,
)
from delayer.series.rules.series import PARTS, Backfill, Cursor, Directory, SeriesDefinition, is_waiting, is_zoned

VERSION: Final = 1
CURSOR: Final = "cursor"
DEFINITION: Final = "definition"
RELAXED: Final = "relaxed"
MAX_ID: Final = 64

Named = TypeVar("Named")
Found = TypeVar("Found")


def _backfill_to_text(backfill: Backfill | None) -> str:
    return msgspec.json.encode(asdict(backfill)).decode() if backfill else ""


def _backfill_from_text(text: str) -> Backfill | None:
    return msgspec.json.decode(text, type=Backfill) if text else None


def _definition_from(texts: Mapping[str, str]) -> Definition:
    return from_texts({name: TEXT.load(text) for name, text in texts.items()})


# What is empty is left out, so that a cursor stays within one write unit.
CURSORS: Final[Mapped[Cursor]] = Mapped(
    Cursor,
    "a series",
    version=VERSION,
    kept=("state", "revision", "definition_revision"),
    without=("owner", "series"),
    backfill=encoded(_backfill_to_text, _backfill_from_text),
    expires_at=SECONDS,
)
DEFINITIONS: Final[Mapped[SeriesDefinition]] = Mapped(
    SeriesDefinition,
    "a series",
    version=VERSION,
    kept=("repeat", "overlap", "on_missed", "definition", "revision"),
    without=("owner",),
    names={"definition": "schedule", "is_relaxed": "precision"},
    definition=Form(given, _definition_from, None),
    created_at=always(NUMBER),
    traits=encoded(traits_to_text, lambda text: traits_from_text(text or "{}")),
    is_relaxed=encoded(lambda is_relaxed: RELAXED if is_relaxed else "", lambda text: text == RELAXED),
)


@frozen(kw_only=True)
class StoredSeries:
    """Keeps series in the registry, and writes what they put in the same transaction."""

    store: Store
    schedules_table: str
    relaxed_table: str
    ledger_table: str
    registry_table: str

    def cursor(self, owner: str, series: str) -> Cursor | None:
        item = self._read(owner, series, CURSOR)
        return cursor_from(owner, series, item) if item else None

    def definition(self, owner: str, series: str) -> SeriesDefinition | None:
        item = self._read(owner, series, DEFINITION)
        return definition_from(owner, item) if item else None

    def named(self, owner: str, name: str) -> str:
        item = self.store.get(self.registry_table, entry_key(name_list(owner, name)))
        return _name_from(item) if item else ""

    def listed(self, owner: str, group: str | None, after: SeriesEntry | None, at_most: int) -> SeriesPage:
        query = Query(
            self.registry_table,
            {"list": directory_list(owner)},
            within=None if group is None else KeyRange("begins", f"{group}#"),
            after=_place(after) if after else "",
            at_most=at_most,
        )
        page = self.store.query(query)
        return SeriesPage(
            entries=tuple(_entry_from(item["entry"]) for item in page.items),
            more=_entry_from(page.more) if page.more else None,
        )

    def cursors(self, owner: str, series: Sequence[str]) -> Mapping[str, Cursor]:
        return {one: cursor_from(owner, one, item) for one, item in self._read_all(owner, series, CURSOR).items()}

    def definitions(self, owner: str, series: Sequence[str]) -> Mapping[str, SeriesDefinition]:
        return {one: definition_from(owner, item) for one, item in self._read_all(owner, series, DEFINITION).items()}

    def live(self, owner: str, at_most: int) -> int:
        """Only counted: not one item is sent over."""
        all_of_them = {"list": directory_list(owner)}
        return self.store.count(Query(self.registry_table, all_of_them, when=lacks("expiresAt")), at_most)

    def filed(self, schedule_id: str) -> Filed | None:
        item = self.store.get(self.registry_table, filed_key(schedule_id))
        return _filed_from(item) if item else None

    def filed_all(self, schedule_ids: Sequence[str]) -> Mapping[str, Filed | Unavailable]:
        item_of = self._read_each([filed_key(one) for one in schedule_ids])

        def filed(schedule_id: str) -> Filed | None:
            item = item_of(filed_key(schedule_id))
            return _filed_from(item) if item else None

        answers = {one: _answer(filed, one) for one in schedule_ids}
        return {one: found for one, found in answers.items() if found}

    def both(self, series: Sequence[SeriesKey]) -> Mapping[SeriesKey, SeriesRows | Unavailable]:
        item_of = self._read_each([_key_in(one, entry) for one in series for entry in (CURSOR, DEFINITION)])

        def rows(one: SeriesKey) -> SeriesRows:
            cursor, definition = item_of(_key_in(one, CURSOR)), item_of(_key_in(one, DEFINITION))
            return SeriesRows(
                cursor=cursor_from(one.owner, one.series, cursor) if cursor else None,
                definition=definition_from(one.owner, definition) if definition else None,
            )

        return {one: _answer(rows, one) for one in series}

    def page(self, bucket: Bucket, after: str = "", at_most: int = 100) -> FiledPage:
        page = self.store.query(list_query(self.registry_table, current_list(bucket), after, at_most))
        filed: list[Filed] = []
        unread: list[str] = []
        for item in page.items:
            try:
                filed.append(_filed_from(item))
            except Unavailable:  # one of a later version must not keep the others from being looked at
                unread.append(item["entry"])
        return FiledPage(filed=tuple(filed), unread=tuple(unread), more=page.more)

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
        writes = self._writes(transaction)
        try:
            self.store.transact(writes)
        except WriteRefused as refused:
            if all(item in refused.items for item in _written_by(transaction)):
                return True
            if is_closed(writes, refused):
                raise Unavailable("a connection was closed meanwhile") from refused
            return False
        return True

    def _read(self, owner: str, series: str, entry: str) -> StoredItem | None:
        if "#" in series or len(series) > MAX_ID:  # made up by a client: it could lead to a series of another owner
            return None
        return self.store.get(self.registry_table, entry_key(series_list(owner, series), entry))

    def _read_all(self, owner: str, series: Sequence[str], entry: str) -> dict[str, StoredItem]:
        """By the id of the series."""
        lists = {series_list(owner, one): one for one in series}
        items = self.store.get_many(self.registry_table, [entry_key(one, entry) for one in lists])
        return {lists[item["list"]]: item for item in items}

    def _read_each(self, keys: Sequence[Key]) -> Callable[[Key], StoredItem | None]:
        """Reads all of them at once. It returns what tells of each: Unavailable is raised of what is not known."""
        items: Sequence[StoredItem] = ()
        unknown: tuple[Sequence[Key], Unavailable] | None = None
        try:
            items = self.store.get_many(self.registry_table, keys) if keys else ()
        except PartlyRead as error:
            items, unknown = error.items, (error.left, error)
        except Unavailable as error:
            unknown = keys, error

        def item_of(key: Key) -> StoredItem | None:
            if unknown and key in unknown[0]:
                raise unknown[1]
            return next((item for item in items if key.items() <= item.items()), None)

        return item_of

    def _writes(self, transaction: SeriesTransaction) -> list[Write]:
        """The cursor comes first: who repeats a transaction looks for its own."""
        cursor = transaction.cursor
        over = transaction.over.revision if transaction.over else 0
        writes: list[Write] = [self._registered(cursor_item(cursor), over)]
        if transaction.definition:
            earlier = transaction.over_definition.revision if transaction.over_definition else 0
            item = definition_item(cursor.series, transaction.definition)
            writes.append(self._registered(item | _expiry(cursor), earlier))
            writes += self._listings(transaction, transaction.definition)
        if transaction.unchanged:
            writes.append(self._unchanged(transaction.unchanged))
        if transaction.put_request:
            writes.append(request_write(self.registry_table, transaction.put_request, transaction.over_request))
        before, after = named_by(transaction.over), named_by(cursor)
        filed = filed_values(cursor.owner, cursor.series)
        writes += [Delete(self.registry_table, filed_key(one)) for one in before if one not in after]
        writes += [Put(self.registry_table, filed_key(one), filed) for one in after if one not in before]
        writes += directory_writes(self.registry_table, transaction)
        writes += series_writes(self.registry_table, cursor.owner, cursor.series, transaction.uses)
        writes += [put_record(self._table_of(one.id), one) for one in transaction.put]
        writes += [delete_record(self._table_of(id_in(key)), key) for key in transaction.delete]
        writes += [ledger.put_change(self.ledger_table, change) for change in transaction.ends]
        return writes

    def _table_of(self, schedule_id: str) -> str:
        return self.relaxed_table if is_relaxed(schedule_id) else self.schedules_table

    def _listings(self, transaction: SeriesTransaction, definition: SeriesDefinition) -> list[Write]:
        """Where it is found by its group and by its name: written when it is new or moved, or expires otherwise."""
        cursor, stored = transaction.cursor, transaction.over_definition
        writes: list[Write] = []
        entry, earlier = _listed_as(cursor, definition), _listed_as(cursor, stored) if stored else None
        is_new = transaction.over is None
        if earlier and earlier != entry:
            writes.append(Delete(self.registry_table, directory_key(cursor.owner, earlier)))
        if is_new or earlier != entry or transaction.changes_expiry:
            values = {"v": VERSION, **_expiry(cursor)}
            writes.append(Put(self.registry_table, directory_key(cursor.owner, entry), values))
        if definition.name and transaction.changes_name:
            writes.append(self._name(name_item(cursor, definition.name), transaction.over_name, is_new=is_new))
        return writes

    def _name(self, item: Item, over_name: str, *, is_new: bool) -> Put:
        """That of a series which was over may have expired before its other rows did."""
        over: Condition = Is("series", over_name) if over_name else lacks("series")
        same_or_gone = Some((Is("series", item["series"]), lacks("series")))
        return put_whole(self.registry_table, item, over if is_new else same_or_gone)

    def _unchanged(self, cursor: Cursor) -> Check:
        """Or gone: it may have expired meanwhile."""
        key = entry_key(series_list(cursor.owner, cursor.series), CURSOR)
        return Check(self.registry_table, key, Some((lacks("revision"), Is("revision", cursor.revision))))

    def _registered(self, item: Item, over: int) -> Put:
        return put_whole(self.registry_table, item, Is("revision", over) if over else lacks("revision"))


def _written_by(transaction: SeriesTransaction) -> list[Item]:
    """Returns the items that are there if an earlier try went through, and if nobody else has written it."""
    cursor, definition = transaction.cursor, transaction.rewritten
    written = [cursor_item(cursor)]
    if transaction.is_shown_by_its_cursor:
        return written
    if definition:
        written.append(definition_item(cursor.series, definition) | _expiry(cursor))
    if transaction.put_request:
        written.append(request_item(transaction.put_request))
    return written + [ledger.to_item(change.row) for change in transaction.ends]


def series_list(owner: str, series: str) -> str:
    """The list of one series. No id holds a `#`, so no two owners share a list."""
    return f"series#{owner}#{series}"


def directory_list(owner: str) -> str:
    """The list of all series of an owner."""
    return f"series-of#{owner}"


def directory_key(owner: str, entry: SeriesEntry) -> Key:
    """Where a series is listed: by its group, so that those of a group are found by the beginning."""
    return entry_key(directory_list(owner), _place(entry))


def _place(entry: SeriesEntry) -> str:
    return f"{entry.group}#{entry.series}"


def _entry_from(place: str) -> SeriesEntry:
    group, _, series = place.partition("#")
    return SeriesEntry(group=group, series=series)


def _listed_as(cursor: Cursor, definition: SeriesDefinition) -> SeriesEntry:
    return SeriesEntry(group=definition.definition.group, series=cursor.series)


def name_list(owner: str, name: str) -> str:
    """The list of the name of a series. No name holds a `#`."""
    return f"series-name#{owner}#{name}"


def name_item(cursor: Cursor, name: str) -> Item:
    """The name of a series as it is stored."""
    return {**entry_key(name_list(cursor.owner, name)), "v": VERSION, "series": cursor.series, **_expiry(cursor)}


def _name_from(item: StoredItem) -> str:
    try:
        check_version(item, VERSION)
        series: str = TEXT.load(item["series"])
    except NOT_READ as error:
        raise Unavailable(f"the name of a series that cannot be read: {error!r}") from error
    return series


def _expiry(cursor: Cursor) -> Item:
    """For the TTL, if the series is over."""
    return {"expiresAt": cursor.expires_at // SECOND} if cursor.expires_at else {}


def current_list(bucket: Bucket) -> str:
    """The list of the current occurrences of a minute and shard: those of the address in their ids."""
    return f"current#{bucket.key}"


def filed_key(schedule_id: str) -> Key:
    """Where an occurrence is filed. Raises ValueError if it is not an id."""
    return filed_in(address_of(schedule_id).bucket, schedule_id)


def filed_in(bucket: Bucket, schedule_id: str) -> Key:
    """Where it is filed to be looked at again, in another minute than that of its address."""
    return entry_key(current_list(bucket), address_of(schedule_id).sort_key(schedule_id))


def filed_values(owner: str, series: str) -> Item:
    """The series that it is of."""
    return {"v": VERSION, "owner": owner, "series": series}


def _key_in(series: SeriesKey, entry: str) -> Key:
    return entry_key(series_list(series.owner, series.series), entry)


def _answer(read: Callable[[Named], Found], name: Named) -> Found | Unavailable:
    """One that cannot be read, such as one of a later version, is no reason that the others wait."""
    try:
        return read(name)
    except Unavailable as error:
        return error


def _filed_from(item: StoredItem) -> Filed:
    try:
        check_version(item, VERSION)
        schedule_id = id_in_entry(item["entry"])
        address_of(schedule_id)  # raises ValueError if it is not an id
        return Filed(schedule_id=schedule_id, owner=TEXT.load(item["owner"]), series=TEXT.load(item["series"]))
    except NOT_READ as error:
        raise Unavailable(f"a current occurrence that cannot be read: {error!r}") from error


def id_in_entry(entry: str) -> str:
    """The schedule that is filed there."""
    return entry.partition("#")[2]


def cursor_item(cursor: Cursor) -> Item:
    """A cursor as it is stored."""
    return {**entry_key(series_list(cursor.owner, cursor.series), CURSOR), **CURSORS.item(cursor)}


def cursor_from(owner: str, series: str, item: StoredItem) -> Cursor:
    """The inverse of cursor_item. One that this code cannot read says nothing: Unavailable."""
    return CURSORS.row(item, owner=owner, series=series)


def definition_item(series: str, definition: SeriesDefinition) -> Item:
    """A definition as it is stored."""
    return {**entry_key(series_list(definition.owner, series), DEFINITION), **DEFINITIONS.item(definition)}


def definition_from(owner: str, item: StoredItem) -> SeriesDefinition:
    """The inverse of definition_item. One that this code cannot read says nothing: Unavailable."""
    return DEFINITIONS.row(item, owner=owner)


def directory_writes(table: str, transaction: SeriesTransaction) -> list[Write]:
    """The writes that a transaction makes in them: none in a step, unless the series begins to wait or ceases to."""
    cursor, over = transaction.cursor, transaction.over
    changes = [(Directory.WAITING, is_waiting(over), is_waiting(cursor))]
    if transaction.definition:
        was = is_zoned(over, transaction.over_definition)
        changes.append((Directory.ZONED, was, is_zoned(cursor, transaction.definition)))
    writes: list[Write] = []
    for directory, before, after in changes:
        key = part_key(directory, cursor.owner, cursor.series)
        if after and not before:
            writes.append(Put(table, key, {"v": VERSION}))
        elif before and not after:
            writes.append(Delete(table, key))
    return writes


def part_key(directory: Directory, owner: str, series: str) -> Key:
    """The place of a series in a directory."""
    part = zlib.crc32(series.encode()) % PARTS[directory]
    return entry_key(part_list(directory, part), f"{owner}#{series}")


def part_list(directory: Directory, part: int) -> str:
    """One list of a directory."""
    return f"{directory}#{part}" if PARTS[directory] > 1 else str(directory)
