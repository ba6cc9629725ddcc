"""Plays DynamoDB and SQS: a table with a stream, and a queue. It outlives the functions that are killed."""

import sqlite3
from collections.abc import Collection, Iterable
from pathlib import Path

from attrs import frozen

BUSY_SECONDS = 30
TABLES = """
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = OFF;
    CREATE TABLE IF NOT EXISTS schedule (id TEXT PRIMARY KEY, at INTEGER, url TEXT);
    CREATE TABLE IF NOT EXISTS record (number INTEGER PRIMARY KEY, kind TEXT, id TEXT, at INTEGER, url TEXT);
    CREATE TABLE IF NOT EXISTS message (id TEXT, url TEXT, visible REAL);
    CREATE INDEX IF NOT EXISTS by_visible ON message (visible);
    CREATE TRIGGER IF NOT EXISTS inserted AFTER INSERT ON schedule BEGIN
        INSERT INTO record (kind, id, at, url) VALUES ('INSERT', new.id, new.at, new.url); END;
    CREATE TRIGGER IF NOT EXISTS removed AFTER DELETE ON schedule BEGIN
        INSERT INTO record (kind, id, at, url) VALUES ('REMOVE', old.id, old.at, old.url); END;
"""


@frozen
class Record:
    """Of the stream."""

    number: int
    kind: str
    id: str
    at: int
    url: str


@frozen
class Sent:
    """A message that was received."""

    number: int
    id: str
    url: str


class Store:
    """One connection to the file; each thread has its own."""

    def __init__(self, file: Path | str) -> None:
        self.connection = sqlite3.connect(file, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        self.connection.executescript(TABLES)

    def put(self, items: Iterable[tuple[str, int, str]]) -> None:
        """Ids, points in time and URLs."""
        self.change("INSERT OR REPLACE INTO schedule VALUES (?, ?, ?)", items)

    def scan(self) -> list[tuple[str, int]]:
        """The whole table."""
        return self.connection.execute("SELECT id, at FROM schedule").fetchall()

    def delete(self, ids: Iterable[str]) -> None:
        """The stream gets a record of each that was there."""
        self.change("DELETE FROM schedule WHERE id = ?", [(one,) for one in ids])

    def records(self, limit: int) -> list[Record]:
        """The oldest of the stream."""
        found = self.connection.execute("SELECT * FROM record ORDER BY number LIMIT ?", (limit,))
        return [Record(*row) for row in found]

    def pass_records(self, last: int) -> None:
        """They do not come again."""
        self.change("DELETE FROM record WHERE number <= ?", [(last,)])

    def send(self, messages: Iterable[tuple[str, str, float]]) -> None:
        """Ids, URLs, and when they can be received."""
        self.change("INSERT INTO message VALUES (?, ?, ?)", messages)

    def receive(self, now: float, limit: int, visibility: float) -> list[Sent]:
        """What can be received, and comes again unless it is deleted in time."""
        query = "SELECT rowid, id, url FROM message WHERE visible <= ? ORDER BY visible LIMIT ?"
        received = [Sent(*row) for row in self.connection.execute(query, (now, limit))]
        again = [(now + visibility, one.number) for one in received]
        self.change("UPDATE message SET visible = ? WHERE rowid = ?", again)
        return received

    def forget(self, messages: Iterable[Sent]) -> None:
        """Delete messages."""
        self.change("DELETE FROM message WHERE rowid = ?", [(one.number,) for one in messages])

    def waiting(self) -> int:
        """Everything that may still fire."""
        query = """
            SELECT (SELECT COUNT(*) FROM schedule) + (SELECT COUNT(*) FROM message)
                + (SELECT COUNT(*) FROM record WHERE kind = 'REMOVE')
        """
        return int(self.connection.execute(query).fetchone()[0])

    def change(self, statement: str, rows: Iterable[tuple[object, ...]]) -> None:
        """One transaction."""
        many: Collection[tuple[object, ...]] = list(rows)
        if many:
            self.connection.execute("BEGIN IMMEDIATE")
            self.connection.executemany(statement, many)
            self.connection.execute("COMMIT")

    def close(self) -> None:
        """Close the file."""
        self.connection.close()
