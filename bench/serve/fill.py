"""A data folder in which very many schedules wait, with their histories: written in seconds, as POSTs would leave it.

One schedule is POSTed to an engine. Its rows are the pattern: each further schedule has a copy of them, with an id and
a point in time of its own.
"""

import json
import secrets
import shutil
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from bench.command.progress import progress_bar
from bench.load import calls
from bench.load.calls import NewSchedule
from bench.load.clients import Client
from bench.load.due_times import SECOND
from bench.load.generator import now
from bench.serve.engine import Engine
from delayer.engines.sqlite.database import Database
from delayer.engines.sqlite.store import SqliteStore
from delayer.history.repository import owner_list, part_of
from delayer.records.repository import StoredControl
from delayer.schedule.instants import format_instant
from delayer.schedule.schedule_id import RANDOM_BYTES, Address, IdKey, address_of, key_of, mint
from delayer.schedule.tables import CONTROL, JOURNAL, SCHEDULES
from local.errors import EmulatorError

OWNER = "anonymous"
AHEAD = 30 * 24 * 3600 * SECOND
APART = 2 * SECOND  # between two points in time
CHUNK = 10_000
DONE = "filled"  # the file that says that a folder is whole
ALL = "SELECT table_name, partition, sort, item, expires FROM items"
PUT = "INSERT INTO items VALUES (?, ?, ?, ?, ?)"
COUNT = "UPDATE counters SET value = value + ? WHERE name = ?"
JOURNALED_SECONDS = 10
NEVER_HOST = "127.0.0.1:9"
NEVER = f"http://{NEVER_HOST}/never"

Row: TypeAlias = tuple[str, str, str, bytes, int | None]


def folder_with(count: int, where: Path) -> Path:
    """The folder; one that an earlier run has left is used again. EmulatorError if it cannot be made."""
    data = where / f"with-{count}"
    if not (data / DONE).is_file():
        shutil.rmtree(data, ignore_errors=True)
        data.mkdir(parents=True, mode=0o700)
        due = now() + AHEAD
        post_one(Engine(data, where / "fill.log"), due)
        fill(data / "delayer.db", due, count)
        (data / DONE).touch()
    return data


def post_one(engine: Engine, due: int) -> None:
    """The one that the others are copies of, with its history. EmulatorError if that is not written in time."""
    engine.start()
    try:
        client = Client(engine.port)
        client.post(NewSchedule(due=due, target=NEVER))
        page, deadline = calls.Call(method="GET", path="/schedules?limit=1", expected=200), time.monotonic()
        while not json.loads(client.send(page).body)["schedules"]:
            if time.monotonic() > deadline + JOURNALED_SECONDS:
                raise EmulatorError("The engine has not written the history of a schedule.")
            time.sleep(0.1)
    finally:
        engine.stop()


def fill(file: Path, due: int, count: int) -> None:
    """Copies of the one schedule that is due then. EmulatorError if its rows are not as they are known here."""
    key = key_in(file)
    with sqlite3.connect(file, isolation_level=None) as connection:
        rows: Sequence[Row] = connection.execute(ALL).fetchall()
        [record] = [row for row in rows if row[0] == SCHEDULES]
        known = record[2].partition("#")[2]
        pattern = [record, *(row for row in rows if row[0] == JOURNAL and known in f"{row[1]} {row[2]}")]
        if sum(row[1] == owner_list(OWNER, part_of(known)) for row in pattern) != 1:
            raise EmulatorError("The rows of a schedule are not as this program knows them.")
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("PRAGMA cache_size = -500000")
        with progress_bar("Filling", count) as advance:
            for first in range(0, count, CHUNK):
                numbers = range(first, min(first + CHUNK, count))
                dues = (due + (number + 1) * APART for number in numbers)
                connection.execute("BEGIN")
                connection.executemany(PUT, (row for one in dues for row in copied(pattern, known, key, due, one)))
                connection.execute(COUNT, (len(numbers), SCHEDULES))
                connection.execute("COMMIT")
                advance(numbers[-1] + 1)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()


def key_in(file: Path) -> IdKey:
    """The key that ids are made with, from the database."""
    database = Database(path=str(file))
    try:
        return StoredControl(store=SqliteStore(database=database), table=CONTROL).id_keys().keys[0]
    finally:
        database.close()


def made_like(known: str, key: IdKey, due: int | None = None) -> str:
    """Another id, for the same instant unless one is given."""
    old = address_of(known)
    address = Address(due=old.due if due is None else due, shard=old.shard)
    chance = secrets.token_bytes(RANDOM_BYTES)
    return mint(address, OWNER, point_in_time=address.due, key=key.secret, randomness=chance, version=key.version)


def copied(pattern: Sequence[Row], known: str, key: IdKey, old: int, new: int) -> Iterator[Row]:
    """The rows of another schedule."""
    made = made_like(known, key, new)
    names = {
        known: made,
        key_of(known).bucket: key_of(made).bucket,
        owner_list(OWNER, part_of(known)): owner_list(OWNER, part_of(made)),
        format_instant(old): format_instant(new),
        str(old): str(new),
    }
    for table, partition, sort, item, expires in pattern:
        yield (
            table,
            exchanged(partition, names),
            exchanged(sort, names),
            exchanged(item.decode(), names).encode(),
            expires,
        )


def exchanged(text: str, names: Mapping[str, str]) -> str:
    """With other names in it."""
    for old, new in names.items():
        text = text.replace(old, new)
    return text
