"""What the tables of a stack hold: for tests, which look behind the ports.

`all_rows` reads what a repository keeps, as rows by their keys. `put_row` and `take_row` change one row without the
conditions that a port has. `put_item` writes what no code of ours would write. All of it is for SQLite in memory.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import singledispatch
from typing import Any

from attrs import evolve

from delayer.accept.ports import NameRow
from delayer.accept.repository import StoredRegistry, group_list, name_from, name_item, put_whole
from delayer.actions.repository import StoredActions
from delayer.actions.rules.registration import Registrations
from delayer.connections.model import Connection, SecretNote
from delayer.connections.repository import (
    StoredConnections,
    StoredTokens,
    connection_from,
    connection_item,
    token_item,
    token_key,
)
from delayer.connections.rules import TokenRow
from delayer.engines.sqlite.store import SqliteStore
from delayer.engines.store.model import Item, Key, Put, StoredItem, entry_key, row_key
from delayer.flow import repository as block_rows
from delayer.flow.repository import StoredBlocks, StoredLines, StoredSeats, row_from
from delayer.flow.rules.block import Block
from delayer.flow.rules.gate import Row as SeatRow
from delayer.flow.rules.limit import Micros
from delayer.history import repository as lists
from delayer.history.repository import StoredJournal
from delayer.jobs.repository import StoredJobs
from delayer.jobs.rules import JobRow
from delayer.ledger import repository as ledger_rows
from delayer.ledger.model import LedgerRow
from delayer.ledger.repository import StoredLedger
from delayer.owners.model import StoredOwnerPolicy
from delayer.owners.ports import DEFAULT
from delayer.owners.repository import StoredOwnerPolicies
from delayer.records import repository as schedule_table
from delayer.records.repository import StoredScheduleTable
from delayer.recovery.repository import StoredTrials
from delayer.recovery.rules import Trial
from delayer.schedule.instants import Millis
from delayer.schedule.schedule import Schedule
from delayer.schedule.schedule_id import RecordKey
from delayer.schedule.table_change import Row
from delayer.series.repository import series_table
from delayer.series.repository.series_table import StoredSeries
from delayer.series.rules.series import Cursor, SeriesDefinition
from delayer.signing.repository import StoredSigningRows
from delayer.signing.rules import Rotation

END = 10**14  # behind all instants


def store_of(repository: Any) -> SqliteStore:
    """The engine below a repository, whatever is around it."""
    store = repository.store
    while not isinstance(store, SqliteStore):
        store = store.store
    return store


def table_of(repository: Any) -> str:
    """Its table; of several, the registry."""
    table: str = repository.registry_table if hasattr(repository, "registry_table") else repository.table
    return table


def all_items(repository: Any, beginning: str = "") -> list[Item]:
    """The items of its table; of one with lists, those whose list begins so."""
    rows = store_of(repository).rows(table_of(repository))
    return [item for item in rows if item.get("list", "").startswith(beginning)]


def all_rows(repository: Any) -> Any:
    """What a repository keeps, by the keys of its rows. Whatever is between it and its engine hears nothing of it."""
    return _rows_of(evolve(repository, store=store_of(repository)))


@singledispatch
def _rows_of(repository: Any) -> Any:
    raise TypeError(f"say how the rows of {type(repository).__name__} are read")


@_rows_of.register
def _(ledger: StoredLedger) -> dict[str, LedgerRow]:
    return {item["scheduleId"]: ledger_rows.from_item(item) for item in all_items(ledger)}


@_rows_of.register
def _(table: StoredScheduleTable) -> dict[RecordKey, Row]:
    items = all_items(table)
    return {RecordKey(bucket=item["bucket"], due=item["due"]): schedule_table.from_item(item) for item in items}


@_rows_of.register
def _(blocks: StoredBlocks) -> dict[str, Block]:
    return {block.key: block for block in blocks.rows(latest=True).blocks}


@_rows_of.register
def _(lines: StoredLines) -> dict[str, Micros]:
    return lines.line_ends()


@_rows_of.register
def _(seats: StoredSeats) -> dict[str, SeatRow]:
    return {item["entry"]: row_from(item) for item in all_items(seats, "flow-slots") if "taken" in item}


@_rows_of.register
def _(connections: StoredConnections) -> dict[tuple[str, str], Connection]:
    """By owner and name; see also `all_notes`."""
    found = [connection_from(_owner_in(item), item) for item in all_items(connections, "connections#")]
    return {(one.owner, one.name): one for one in found}


def all_notes(connections: StoredConnections) -> list[SecretNote]:
    """Of secrets that are not needed, or perhaps not."""
    return list(connections.notes(END, 1_000))


@_rows_of.register
def _(registry: StoredRegistry) -> dict[tuple[str, str], NameRow]:
    """The names, by owner and name; see also `all_members`."""
    named = [(_owner_and_name(item), item) for item in all_items(registry, "name#")]
    return {key: name_from(*key, item) for key, item in named}


def all_members(registry: StoredRegistry, owner: str, group: str) -> list[str]:
    """The schedules of a group, in due order."""
    return [lists.id_in(item) for item in all_items(registry) if item["list"] == group_list(owner, group)]


@_rows_of.register
def _(actions: StoredActions) -> Mapping[str, Registrations]:
    return actions.actions()


@_rows_of.register
def _(policies: StoredOwnerPolicies) -> dict[str, StoredOwnerPolicy]:
    """By owner. The default may have a row that only says that there are others."""
    found = {owner: policies.owner_policy(owner) for owner in [DEFAULT, *policies.owners_with_policy()]}
    return {owner: row for owner, row in found.items() if row and row.policy is not None}


@_rows_of.register
def _(rows: StoredSigningRows) -> dict[str, Rotation]:
    """The rotations, by owner."""
    return {owner: rows.rotation(owner) for owner in _named(rows, "signing#")}


@_rows_of.register
def _(trials: StoredTrials) -> dict[str, Trial]:
    """Those that have not ended, by suspect."""
    return {suspect: trial for suspect in _named(trials, "suspect#") if (trial := trials.unfinished(suspect))}


@_rows_of.register
def _(jobs: StoredJobs) -> dict[tuple[str, str], JobRow]:
    """By owner and id."""
    keys = map(_owner_and_name, all_items(jobs, "job#"))
    return {key: row for key in keys if (row := jobs.read(*key))}


@_rows_of.register
def _(series: StoredSeries) -> dict[tuple[str, str], Cursor]:
    """The cursors, by owner and series; see also `all_definitions`."""
    return {key: series_table.cursor_from(*key, item) for key, item in _of_series(series, series_table.CURSOR)}


def all_definitions(series: StoredSeries) -> dict[tuple[str, str], SeriesDefinition]:
    """By owner and series."""
    items = _of_series(series, series_table.DEFINITION)
    return {key: series_table.definition_from(key[0], item) for key, item in items}


def _of_series(series: StoredSeries, entry: str) -> Iterator[tuple[tuple[str, str], Item]]:
    for item in all_items(series, "series#"):
        if item["entry"] == entry:
            owner, _, which = item["list"].removeprefix("series#").rpartition("#")
            yield (owner, which), item


def _named(repository: Any, beginning: str) -> list[str]:
    """Of control rows whose names begin so, what comes then."""
    names = [item["name"] for item in all_items(repository)]
    return [name.removeprefix(beginning) for name in names if name.startswith(beginning)]


def _owner_in(item: StoredItem) -> str:
    """Of a list `kind#<owner>` or `kind#<owner>#<name>`: a name holds no `#`, and neither does a kind."""
    parts = item["list"].split("#")
    return "#".join(parts[1:-1]) if len(parts) > 2 else parts[1]


def _owner_and_name(item: StoredItem) -> tuple[str, str]:
    """Of a list `kind#<owner>#<name>`."""
    owner, _, name = item["list"].partition("#")[2].rpartition("#")
    return owner, name


# ------------------------------------------------------------ writing


@singledispatch
def put_row(repository: Any, row: Any) -> None:
    """Stores a row whatever is there, as a write that the feed tells of."""
    raise TypeError(f"say how a row of {type(repository).__name__} is put")


@put_row.register
def _(ledger: StoredLedger, row: LedgerRow) -> None:
    put_item(ledger, {"scheduleId": row.schedule_id}, ledger_rows.to_item(row))


@put_row.register
def _(table: StoredScheduleTable, row: Schedule) -> None:
    table.put(row)


@put_row.register
def _(blocks: StoredBlocks, row: Block) -> None:
    put_item(blocks, entry_key("flow", row.key), block_rows.to_item(row))


@put_row.register
def _(connections: StoredConnections, row: Connection) -> None:
    store_of(connections).write(put_whole(connections.table, connection_item(row)))


@put_row.register
def _(tokens: StoredTokens, row: TokenRow) -> None:
    put_item(tokens, token_key(row.owner, row.name), token_item(row))


@put_row.register
def _(series: StoredSeries, row: Cursor) -> None:
    store_of(series).write(put_whole(series.registry_table, series_table.cursor_item(row)))


@put_row.register
def _(registry: StoredRegistry, row: NameRow) -> None:
    store_of(registry).write(put_whole(registry.registry_table, name_item(row)))


def put_definition(series: StoredSeries, which: str, row: SeriesDefinition) -> None:
    """That of a series."""
    store_of(series).write(put_whole(series.registry_table, series_table.definition_item(which, row)))


def put_name(series: StoredSeries, cursor: Cursor, name: str) -> None:
    """It is the name of that series."""
    store_of(series).write(put_whole(series.registry_table, series_table.name_item(cursor, name)))


def put_item(repository: Any, key: Key, values: StoredItem) -> None:
    """An item as no code of ours would write it."""
    store_of(repository).write(Put(table_of(repository), key, values))


@singledispatch
def take_row(repository: Any, key: Any) -> None:
    """It is not there any more, and nobody is told."""
    raise TypeError(f"say how a row of {type(repository).__name__} is taken")


@take_row.register
def _(ledger: StoredLedger, key: str) -> None:
    store_of(ledger).forget(ledger.table, {"scheduleId": key})


@take_row.register
def _(table: StoredScheduleTable, key: RecordKey) -> None:
    store_of(table).forget(table.table, schedule_table.key_item(key))


@take_row.register
def _(rows: StoredSigningRows, key: str) -> None:
    store_of(rows).forget(rows.table, row_key(key))


@take_row.register
def _(series: StoredSeries, key: tuple[str, str]) -> None:
    """The cursor, by owner and series; see also `take_definition`."""
    _take_of_series(series, key, series_table.CURSOR)


def take_definition(series: StoredSeries, key: tuple[str, str]) -> None:
    """By owner and series."""
    _take_of_series(series, key, series_table.DEFINITION)


def _take_of_series(series: StoredSeries, key: tuple[str, str], entry: str) -> None:
    store_of(series).forget(series.registry_table, entry_key(series_table.series_list(*key), entry))


@singledispatch
def empty(repository: Any) -> None:
    """Nothing is there any more, and nobody is told. The table must be that of this repository alone."""
    store_of(repository).forget(table_of(repository))


@empty.register
def _(blocks: StoredBlocks) -> None:
    _forget_lists(blocks, lambda name: name == block_rows.LIST)


@empty.register
def _(journal: StoredJournal) -> None:
    """The counts of live schedules, which are in its table, stay."""
    _forget_lists(journal, lambda name: not name.startswith(("live#", "counted#")))


def _forget_lists(repository: Any, is_its_own: Callable[[str], bool]) -> None:
    for item in all_items(repository):
        if is_its_own(item["list"]):
            store_of(repository).forget(table_of(repository), entry_key(item["list"], item["entry"]))


def expire(table: StoredScheduleTable, now: Millis) -> None:
    """What DynamoDB's TTL does at some time: it removes what has expired, and says so in the stream."""
    for key, row in all_rows(table).items():
        if isinstance(row, Schedule) and row.expires_at <= now:
            store_of(table).expire_one(table.table, schedule_table.key_item(key))
