"""Who names a connection, and the gates by which nothing names one that is being deleted (ADR 0105).

A list `connection-uses#<owner>#<name>` has an entry for each schedule, in due order, and behind them one for each
series. A list `connection-gate#<owner>#<name>` has some entries as long as the connection is open: whatever is put and
names it checks one of them. There are several, because two transactions that check the same item are in each other's
way.
"""

import zlib
from collections.abc import Iterator, Sequence
from typing import Final

from delayer.core.connections.connection import SeriesUse, Use
from delayer.core.schedule.instants import DAY, SECOND
from delayer.core.schedule.margins import ROW_LIFETIME, UNDECIDED_KEPT
from delayer.core.schedule.schedule import Schedule
from delayer.core.schedule.schedule_id import is_undecided
from delayer.repositories.registry import lists
from delayer.store.conditions import Has
from delayer.store.items import Item, Key, StoredItem, entry_key
from delayer.store.store import Refused
from delayer.store.writes import Check, Put, Write

GATES: Final = 8
SERIES: Final = "series#"  # sorts behind all instants
GATE: Final = "connection-gate#"


def uses_list(owner: str, name: str) -> str:
    """The list of what names a connection. No name holds a `#`, so no two owners share a list."""
    return f"connection-uses#{owner}#{name}"


def gate_keys(owner: str, name: str) -> list[Key]:
    """All gates of a connection."""
    return [entry_key(f"{GATE}{owner}#{name}", str(number)) for number in range(GATES)]


def gate_check(table: str, owner: str, name: str, by: str) -> Check:
    """That the connection is there and open. `by` is an id: the same one checks the same gate."""
    return Check(table, gate_keys(owner, name)[zlib.crc32(by.encode()) % GATES], Has("entry"))


def schedule_use(schedule: Schedule, connection: str) -> Item:
    """A schedule as one that names a connection, for as long as its ledger row may be stored."""
    lifetime = UNDECIDED_KEPT if is_undecided(schedule.id) else ROW_LIFETIME
    entries = uses_list(schedule.owner, connection)
    return lists.member_item(entries, schedule.id, schedule.created_at, schedule.address.due + lifetime)


def schedule_use_key(owner: str, connection: str, schedule_id: str) -> Key:
    """Where it is listed."""
    return entry_key(uses_list(owner, connection), lists.entry_of(schedule_id))


def series_writes(table: str, owner: str, series: str, uses: Sequence[SeriesUse]) -> Iterator[Write]:
    """What a series changes in the lists of the connections that it names, or named."""
    for one in uses:
        until = {"until": one.until, "expiresAt": (one.until + DAY) // SECOND} if one.until else {}
        yield Put(table, entry_key(uses_list(owner, one.connection), f"{SERIES}{series}"), until)
        if one.is_checked:
            yield gate_check(table, owner, one.connection, series)


def use_from(item: StoredItem) -> Use:
    """One of a list."""
    entry = item["entry"]
    if entry.startswith(SERIES):
        return Use(series=entry.removeprefix(SERIES), until=item.get("until", 0))
    return Use(schedule_id=lists.id_in(item))


def is_closed(writes: Sequence[Write], refused: Refused) -> bool:
    """Whether a transaction failed at a gate."""
    failed = zip(writes, refused.items, strict=False)
    return any(
        isinstance(write, Check) and write.key["list"].startswith(GATE) for write, item in failed if item is not None
    )
