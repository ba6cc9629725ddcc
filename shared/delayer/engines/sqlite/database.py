"""One file of SQLite: its layout, the one connection that writes, and turns of many small transactions (ADR 0185).

SQLite before 3.51.3 can lose a committed transaction if two connections write or make checkpoints at once, so one
connection does both. Others only read.
"""

import sqlite3
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import RLock, get_ident
from typing import Any, Final, Protocol

from attrs import define, field

from delayer.engines.ports import Unavailable

MEMORY: Final = ":memory:"
APPLICATION: Final = 0x44656C79  # "Dely": what `file` and other programs know the file by
VERSION: Final = 1  # of the layout
# The bodies lie in the order in which they came; the index has them in the order in which they are due.
LAYOUT: Final = """
    CREATE TABLE items (
        table_name TEXT NOT NULL,
        partition TEXT NOT NULL,
        sort TEXT NOT NULL,
        item BLOB NOT NULL,
        expires INTEGER
    );
    CREATE UNIQUE INDEX items_by_key ON items (table_name, partition, sort);
    CREATE INDEX items_by_expiry ON items (expires) WHERE expires IS NOT NULL;
"""
# A change of many MB is written once into the log and once into the file: the log is kept small.
PRAGMAS: Final = (
    "journal_mode = WAL",
    "synchronous = FULL",
    "wal_autocheckpoint = 0",  # checkpoints are made in pauses
    "mmap_size = 0",  # an I/O error would be a signal that ends the process, and no error
    "busy_timeout = 5000",
    "temp_store = MEMORY",
    *(("fullfsync = ON", "checkpoint_fullfsync = ON") if sys.platform == "darwin" else ()),
)


class Unwritten(Unavailable):
    """Nothing can be written just now, most likely as the disk is full; and nothing of the whole transaction was."""


class Connection(Protocol):
    """What is used of a connection of SQLite."""

    @property
    def in_transaction(self) -> bool:
        """Whether one is open."""
        ...

    @property
    def total_changes(self) -> int:
        """Of rows, since it was opened."""
        ...

    def execute(self, statement: str, values: Sequence[Any] = ..., /) -> Any:
        """One statement."""
        ...

    def executemany(self, statement: str, values: Sequence[Sequence[Any]], /) -> Any:
        """The same for many values."""
        ...

    def executescript(self, script: str, /) -> Any:
        """Some statements."""
        ...

    def close(self) -> None:
        """It is not used any more."""
        ...


def connect(path: str) -> sqlite3.Connection:
    """A connection that begins no transaction by itself."""
    return sqlite3.connect(path, isolation_level=None, check_same_thread=False, cached_statements=256)


def version_of(connection: Connection) -> int:
    """Of the layout; 0: there is none yet."""
    [version] = connection.execute("PRAGMA user_version").fetchone()
    return int(version)


@define(kw_only=True, eq=False)
class Database:
    """All threads of a process may use it. They read side by side, and write one at a time.

    The thread that has begun a turn writes into it: nothing of that is seen by others, or on the disk, before
    `commit`. All others write after it.
    """

    path: str = MEMORY
    layout: str = LAYOUT
    connect: Callable[[str], Connection] = connect
    _lock: RLock = field(factory=RLock, init=False)
    _reading: RLock = field(factory=RLock, init=False)
    _connection: Connection = field(init=False)
    _reader: Connection = field(init=False)
    _turn_of: int = field(default=0, init=False)  # the thread that has a turn
    _changes: int = field(default=0, init=False)  # of rows, before it
    undone: list[Callable[[], None]] = field(factory=list, init=False)  # told when something that was written is not
    _savepoints: int = field(default=0, init=False)
    _is_lost: bool = field(default=False, init=False)  # it could not be written, or SQLite has undone it itself

    def __attrs_post_init__(self) -> None:
        self._connection = self._reader = self.connect(self.path)
        if self.path == MEMORY:
            self._reading = self._lock
            self._connection.executescript(self.layout)
            return
        if not version_of(self._connection):
            self._make()
        for pragma in PRAGMAS:
            self._connection.execute(f"PRAGMA {pragma}").fetchall()
        self._reader = self.connect(self.path)
        self._reader.execute("PRAGMA query_only = ON")

    def _make(self) -> None:
        """The settings that belong to the file come before its first table."""
        self._connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        self._connection.execute(f"PRAGMA application_id = {APPLICATION}")
        self._connection.executescript(f"BEGIN; {self.layout} PRAGMA user_version = {VERSION}; COMMIT;")

    def close(self) -> None:
        """The file may be opened by others."""
        with self._lock, self._reading:
            self._connection.close()
            if self._reader is not self._connection:
                self._reader.close()

    # ------------------------------------------------------------ one thing at a time

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """What was committed; within a turn, what it has written, too."""
        is_own = self._turn_of == get_ident()
        with self._lock if is_own else self._reading:
            try:
                yield self._connection if is_own else self._reader
            except (sqlite3.Error, UnicodeError) as error:
                raise Unavailable(f"read {self.path}: {error}") from error

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """All of it or nothing. Within a turn it is on the disk with that."""
        with self._lock:
            self._check_there()
            try:
                with self._part() if self._turn_of or self._connection.in_transaction else self._transaction():
                    yield self._connection
            except sqlite3.OperationalError as error:
                self._is_lost = bool(self._turn_of)
                raise Unwritten(f"write {self.path}: {error}") from error
            except (sqlite3.Error, UnicodeError) as error:
                raise Unavailable(f"write {self.path}: {error}") from error

    def _check_there(self) -> None:
        """Of a transaction that is lost, no part may seem to be written."""
        if self._is_lost:
            raise Unwritten(f"write {self.path}: all of its transaction was undone")

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._check_there()
            self._connection.execute("COMMIT")
        except BaseException:
            self._undo()
            raise
        finally:
            self._is_lost = False

    def _undo(self) -> None:
        if self._connection.in_transaction:  # otherwise SQLite has undone it itself
            self._connection.execute("ROLLBACK")
        for tell in self.undone:
            tell()

    def read(self, sql: str, args: Sequence[Any]) -> list[tuple[Any, ...]]:
        """All rows that the statement selects. Raises Unavailable."""
        with self.reading() as connection:
            return list(connection.execute(sql, args).fetchall())

    def write(self, sql: str, args: Sequence[Any]) -> None:
        """Changes rows. Raises Unavailable."""
        with self.writing() as connection:
            connection.execute(sql, args)

    # ------------------------------------------------------------ many things with one commit

    def begin(self) -> None:
        """A turn of this thread. Raises nothing: SQLite begins with the first that is written."""
        self._lock.acquire()
        self._turn_of, self._changes = get_ident(), self._connection.total_changes

    def probe(self) -> None:
        """Within a turn: writes what is there already, to see whether anything can be written. Raises Unwritten."""
        with self.writing() as connection:
            connection.execute(f"PRAGMA user_version = {VERSION}")

    def commit(self) -> None:
        """What the turn has written is on the disk. Raises Unwritten: then nothing of it ever was."""
        try:
            self._check_there()
            if self._connection.in_transaction:
                self._connection.execute("COMMIT")
        except sqlite3.Error as error:
            self._undo()
            raise Unwritten(f"commit {self.path}: {error}") from error
        except Unwritten:
            self._undo()
            raise
        finally:
            self._end()

    def rollback(self) -> None:
        """Nothing of the turn ever was."""
        try:
            self._undo()
        finally:
            self._end()

    def _end(self) -> None:
        self._turn_of, self._is_lost = 0, False
        self._lock.release()

    @property
    def is_dirty(self) -> bool:
        """Whether the turn has written something that is not committed."""
        if self._is_lost:
            return True
        return self._connection.in_transaction and self._connection.total_changes != self._changes

    @contextmanager
    def _part(self) -> Iterator[None]:
        """Of a turn."""
        connection = self._connection
        if not connection.in_transaction:
            connection.execute("BEGIN IMMEDIATE")
        self._savepoints += 1
        name = f"part{self._savepoints}"
        connection.execute(f"SAVEPOINT {name}")
        try:
            yield
        except BaseException:
            if connection.in_transaction:
                connection.execute(f"ROLLBACK TO {name}")
                connection.execute(f"RELEASE {name}")
            else:
                self._is_lost = True
            for tell in self.undone:
                tell()
            raise
        else:
            connection.execute(f"RELEASE {name}")
        finally:
            self._savepoints -= 1

    # ------------------------------------------------------------ in pauses

    def checkpoint(self) -> None:
        """Moves what is in the log into the file, and makes the log empty if nobody reads it."""
        with self._lock:
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def vacuum(self, pages: int) -> None:
        """Gives so many free pages back to the disk."""
        with self._lock:
            self._connection.execute(f"PRAGMA incremental_vacuum({pages})").fetchall()
