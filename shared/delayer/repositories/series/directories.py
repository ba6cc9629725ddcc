"""The directories of series in the registry: lists `waiting` and `zoned#<part>`, with an entry for each (ADR 0100)."""

import zlib
from typing import Final

from delayer.core.series.upkeep.rounds import PARTS, Directory, is_waiting, is_zoned
from delayer.ports.series import SeriesTransaction
from delayer.store.items import Key, entry_key
from delayer.store.writes import Delete, Put, Write

VERSION: Final = 1


def directory_writes(table: str, transaction: SeriesTransaction) -> list[Write]:
    """What a transaction changes in them: nothing in a step, unless the series begins to wait or ceases to."""
    cursor, over = transaction.cursor, transaction.over
    changes = [(Directory.WAITING, is_waiting(over), is_waiting(cursor))]
    if transaction.definition:
        was = is_zoned(over, transaction.over_definition)
        changes.append((Directory.ZONED, was, is_zoned(cursor, transaction.definition)))
    writes: list[Write] = []
    for directory, before, after in changes:
        key = directory_key(directory, cursor.owner, cursor.series)
        if after and not before:
            writes.append(Put(table, key, {"v": VERSION}))
        elif before and not after:
            writes.append(Delete(table, key))
    return writes


def directory_key(directory: Directory, owner: str, series: str) -> Key:
    """The place of a series in a directory."""
    part = zlib.crc32(series.encode()) % PARTS[directory]
    return entry_key(directory_list(directory, part), f"{owner}#{series}")


def directory_list(directory: Directory, part: int) -> str:
    """One list of a directory."""
    return f"{directory}#{part}" if PARTS[directory] > 1 else str(directory)
