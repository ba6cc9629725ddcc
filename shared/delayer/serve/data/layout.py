"""Opens the database of a folder. One of an older layout is migrated first, and a copy of it is kept (ADR 0185).

A start that is cut off at any point is repeated by the next one: the copy takes the place of a former copy, and all
steps are one transaction.
"""

import sqlite3
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from delayer.engines.sqlite.database import APPLICATION, PRAGMAS, VERSION, Database, connect, version_of
from delayer.serve.data.folder import DataFolder, check_room, check_versions
from delayer.serve.data.space import MEGABYTE, NEARLY_FULL
from delayer.serve.refusal import Refusal

Steps = Mapping[int, str]  # by the version that each begins with: the SQL that leads to the next one
STEPS: Final[Steps] = {}  # there was no other layout yet


def opened(
    folder: DataFolder,
    layout: str,
    *,
    version: int = VERSION,
    steps: Steps = STEPS,
    connect: Callable[[str], sqlite3.Connection] = connect,
) -> Database:
    """Its database, made if there is none, in this version's layout. Raises Refusal, sqlite3.Error, Unavailable."""
    folder.examine(APPLICATION, version)
    prepare = partial(migrate, folder, version=version, steps=steps)
    return Database(path=str(folder.database), layout=layout, connect=connect, prepare=prepare)


def migrate(folder: DataFolder, connection: sqlite3.Connection, *, version: int, steps: Steps) -> None:
    """Brings an open database to this version, if it is of an older one. Raises Refusal, and then it is as it was."""
    where, found = str(folder.database), version_of(connection)
    if not _number(connection, "schema_version"):
        return
    check_versions(_number(connection, "application_id"), found, APPLICATION, version, where)
    if found == version:
        return
    if missing := [one for one in range(found, version) if one not in steps]:
        what = f"This version of Delayer knows no way from the layout {missing[0]} of the database to {version}"
        raise Refusal(what=what, where=where, do="Start a version in between first, which does")
    check_room(folder.size(), folder.free(), where)
    try:
        for pragma in PRAGMAS:
            connection.execute(f"PRAGMA {pragma}").fetchall()
        folder.keep_copy(connection, found)
        _take(connection, [steps[one] for one in range(found, version)], version)
    except (sqlite3.Error, OSError) as error:
        raise Refusal(
            what=f"The database could not be migrated from the layout {found} to {version}: {error}",
            where=where,
            do="It is as it was. Mend what is named and start it again, or start the former version",
            status=1,
        ) from error


def unusable_database(folder: DataFolder, error: BaseException) -> Refusal:
    """Why a database that was found cannot be used."""
    where, free = str(folder.database), folder.free()
    if free < NEARLY_FULL:
        what = f"There is no room on the disk for the database, with {free // MEGABYTE} MB free: {error}"
        return Refusal(what=what, where=where, do="Make room on this disk", status=1)
    do = "Look after its disk; if the file is damaged, put a backup of it and of its log `-wal` in its place"
    return Refusal(what=f"The database cannot be read: {error}", where=where, do=do, status=1)


def _take(connection: sqlite3.Connection, steps: list[str], version: int) -> None:
    """All of them or none."""
    try:
        connection.executescript(
            "\n".join(["BEGIN IMMEDIATE;", *steps, f"PRAGMA user_version = {version};", "COMMIT;"])
        )
    except sqlite3.Error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _number(connection: sqlite3.Connection, pragma: str) -> int:
    [number] = connection.execute(f"PRAGMA {pragma}").fetchone()
    return int(number)
