"""One file of SQLite: its layout, the one connection that writes, and turns of many small transactions (ADR 0185).

SQLite before 3.51.3 can lose a committed transaction if two connections write or make checkpoints at once, so one
connection does both. Others only read.
"""

import sqlite3
import sys
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import RLock, get_ident
from typing import Any, Final, TypeAlias

import msgspec
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
Place: TypeAlias = tuple[str, str, str]  # of an item: table, partition, sort
AT_ONCE: Final = 32  # rows, in one statement
LOG_KEPT: Final = 4 * 1024 * 1024  # bytes of the log that are written anew again and again: the file need not grow
# A change of many MB is written once into the log and once into the file: the log is kept small.
PRAGMAS: Final = (
    "journal_mode = WAL",
    "synchronous = FULL",
    "wal_autocheckpoint = 0",  # checkpoints are made in pauses
    f"journal_size_limit = {LOG_KEPT}",
    "mmap_size = 0",  # an I/O error would be a signal that ends the process, and no error
    "busy_timeout = 5000",
    "temp_store = MEMORY",
    *(("fullfsync = ON", "checkpoint_fullfsync = ON") if sys.platform == "darwin" else ()),
)


# SQLITE_IOERR, SQLITE_CORRUPT and SQLITE_NOTADB: what is on the disk is not known any more.
NOT_TRUSTED: Final = frozenset({10, 11, 26})
DISK_FULL: Final = 13  # SQLITE_FULL
# SQLITE_BUSY, _LOCKED, _NOMEM, _READONLY, _INTERRUPT and _CANTOPEN: whatever is to be written fails just now.
NOT_WRITTEN: Final = frozenset({5, 6, 7, 8, 9, 14})


# What sqlite3 raises. For SQLITE_NOMEM that is Python's own exception.
EXPECTED: Final = (sqlite3.Error, UnicodeError, MemoryError)


class Broken(BaseException):
    """An I/O error, a failed fsync, or a file that is damaged. What was written may be on the disk, or may not.

    Not an Exception: no code of Delayer's may catch it but what ends the process. After a failed fsync the next one
    may succeed, though the pages are lost.
    """


class Unwritten(Unavailable):
    """Nothing can be written just now; and nothing of the whole transaction was."""


class DiskFull(Unwritten):
    """There is no room on the disk."""


def failure(doing: str, error: Exception) -> BaseException:
    """The exception that takes the place of one of SQLite's."""
    code, what = getattr(error, "sqlite_errorcode", 0) & 0xFF, f"{doing}: {error}"
    if code in NOT_TRUSTED:
        return Broken(what)
    if code == DISK_FULL:
        return DiskFull(what)
    return (Unwritten if code in NOT_WRITTEN or isinstance(error, MemoryError) else Unavailable)(what)


def connect(path: str) -> sqlite3.Connection:
    """A connection that begins no transaction by itself."""
    return sqlite3.connect(path, isolation_level=None, check_same_thread=False, cached_statements=256)


def for_all(connection: sqlite3.Connection, sql: str, rows: Sequence[Sequence[Any]]) -> list[tuple[Any, ...]]:
    """Executes a statement for many rows at once: `{}` in it stands for them. Returns what it selects.

    With each statement, and with each row of one, Python's module lets other threads in and waits for them (ADR 0192).
    """
    found: list[tuple[Any, ...]] = []
    for start in range(0, len(rows), AT_ONCE):
        some = rows[start : start + AT_ONCE]
        row = f"({', '.join('?' * len(some[0]))})"
        statement = sql.format(", ".join([row] * len(some)))
        found += connection.execute(statement, [value for row in some for value in row]).fetchall()
    return found


def in_one_row(columns: str, select: str, bounded: str = "1") -> str:
    """A statement that has the rows of another one as JSON, in their order.

    Its first parameter says how much of `bounded` they may have together; the first row is there in any case.
    """
    return f"""
        SELECT json_group_array(json_array({columns})) FROM (
            SELECT *, sum({bounded}) OVER (ROWS UNBOUNDED PRECEDING) AS size, ? AS most FROM ({select})
        ) WHERE size <= most OR size = {bounded}
    """  # noqa: S608 - our words


def version_of(connection: sqlite3.Connection) -> int:
    """Of the layout; 0: there is none yet."""
    [version] = connection.execute("PRAGMA user_version").fetchone()
    return int(version)


@define(kw_only=True, eq=False)
class Texts:
    """The items that were written or due last, as they are stored: so many of them, and so many bytes."""

    at_most: int = 1_000
    most_bytes: int = 2_000_000
    _texts: OrderedDict[Place, bytes] = field(factory=OrderedDict, init=False, repr=False)  # they may hold secrets
    _bytes: int = field(default=0, init=False)

    def get(self, place: Place) -> bytes | None:
        """None if it is not known here."""
        return self._texts.get(place)

    def keep(self, place: Place, text: bytes) -> None:
        """The newest of this place."""
        self.drop(place)
        self._texts[place] = text
        self._bytes += len(text)
        while len(self._texts) > self.at_most or self._bytes > self.most_bytes:
            _, old = self._texts.popitem(last=False)
            self._bytes -= len(old)

    def drop(self, place: Place) -> None:
        """It is there no more."""
        self._bytes -= len(self._texts.pop(place, b""))

    def clear(self) -> None:
        """When something that was written never was."""
        self._texts.clear()
        self._bytes = 0


@define(kw_only=True, eq=False)
class Database:
    """All threads of a process may use it. They read side by side, and write one at a time.

    The thread that has begun a turn writes into it: nothing of that is seen by others, or on the disk, before
    `commit`. All others write after it.
    """

    path: str = MEMORY
    layout: str = LAYOUT
    connect: Callable[[str], sqlite3.Connection] = connect
    prepare: Callable[[sqlite3.Connection], object] = lambda _: None  # done first, with a file
    _lock: RLock = field(factory=RLock, init=False)
    _reading: RLock = field(factory=RLock, init=False)
    _connection: sqlite3.Connection = field(init=False)
    _reader: sqlite3.Connection = field(init=False)
    _turn_of: int = field(default=0, init=False)  # the thread that has a turn
    _changes: int = field(default=0, init=False)  # of rows, before it
    texts: Texts = field(factory=Texts, init=False)  # as the turn would read them
    undone: list[Callable[[], None]] = field(factory=list, init=False)  # told when something that was written is not
    before_end: list[Callable[[sqlite3.Connection], None]] = field(factory=list, init=False)  # of a part
    before_commit: list[Callable[[], None]] = field(factory=list, init=False)  # of a turn that has written
    _on_disk: list[Callable[[], None]] = field(factory=list, init=False)  # told once, when what was written is there
    bytes_written: int = field(default=0, init=False)  # of texts, by this turn, also of what was undone
    _savepoints: int = field(default=0, init=False)
    _is_torn: bool = field(default=False, init=False)  # SQLite has failed at a part of a part, which is undone whole
    _lost: Unwritten | None = field(default=None, init=False)  # why nothing of the whole transaction is written
    broken: Broken | None = field(default=None, init=False)  # also if another thread has met it

    def __attrs_post_init__(self) -> None:
        self.undone.append(self.texts.clear)
        self._connection = self._reader = self.connect(self.path)
        if self.path == MEMORY:
            self._reading = self._lock
            self._connection.executescript(self.layout)
            return
        try:
            self.prepare(self._connection)
            if not version_of(self._connection):
                self._make()
            self._set_up()
        except BaseException:
            self._connection.close()
            raise

    def _set_up(self) -> None:
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

    @property
    def is_own_turn(self) -> bool:
        """Whether the thread that asks has a turn: it reads what it has written, and nobody else writes."""
        return self._turn_of == get_ident()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Gives what was committed; within a turn, what it has written, too."""
        is_own = self.is_own_turn
        with self._lock if is_own else self._reading:
            try:
                yield self._connection if is_own else self._reader
            except EXPECTED as error:
                raise self.met("read", error) from error

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """All of it or nothing. Within a turn it is on the disk with that; within another one, it is a part of that."""
        with self._lock:
            self._check_there()
            try:
                if self._savepoints:
                    yield self._connection
                else:
                    with self._part() if self._turn_of or self._connection.in_transaction else self._transaction():
                        yield self._connection
            except EXPECTED as error:
                self._is_torn = self._savepoints > 0
                raise self.met("write", error) from error

    def met(self, what: str, error: Exception) -> BaseException:
        """The exception that takes the place of an error of SQLite's. If it is Broken, that is remembered.

        If nothing can be written, the whole turn is lost: none of what comes after it may be written without it.
        """
        found = failure(f"{what} {self.path}", error)
        if isinstance(found, Broken):
            self.broken = found
        elif isinstance(found, Unwritten) and self.is_own_turn:
            self._lost = self._lost or found
        return found

    def _check_there(self) -> None:
        """Of a transaction that is lost, no part may seem to be written. Raises Unwritten."""
        if self._savepoints and not self._connection.in_transaction:  # what came now would be one of its own
            self._lost = self._lost or Unwritten("SQLite has undone it")
        if self._lost:
            raise type(self._lost)(f"write {self.path}: nothing of the transaction is written: {self._lost}")

    def _finish(self) -> None:
        """The last that a part or a transaction writes. If it is not there, that would be one of its own."""
        self._check_there()
        if self._connection.in_transaction:
            for finish in self.before_end:
                finish(self._connection)

    def when_written(self, tell: Callable[[], None]) -> None:
        """Within `writing`: tells somebody when this is on the disk, and never, if it is undone."""
        self._on_disk.append(tell)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._finish()
            self._connection.execute("COMMIT")
        except BaseException:
            self._undo()
            raise
        else:
            self._tell_written()
        finally:
            self._lost = None

    def _tell_written(self) -> None:
        known, self._on_disk = self._on_disk, []
        for tell in known:
            tell()

    def _undo(self) -> None:
        self._on_disk.clear()
        if self._connection.in_transaction:  # otherwise SQLite has undone it itself
            self._connection.execute("ROLLBACK")
        for tell in self.undone:
            tell()

    def read(self, sql: str, args: Sequence[Any]) -> list[tuple[Any, ...]]:
        """All rows that the statement selects. Raises Unavailable."""
        with self.reading() as connection:
            return list(connection.execute(sql, args).fetchall())

    def read_one_row(self, sql: str, args: Sequence[Any]) -> list[list[Any]]:
        """The rows of a statement that `in_one_row` has made. Raises Unavailable."""
        [(rows,)] = self.read(sql, args)
        found: list[list[Any]] = msgspec.json.decode(rows)
        return found

    def write(self, sql: str, args: Sequence[Any]) -> None:
        """Changes rows. Raises Unavailable."""
        with self.writing() as connection:
            connection.execute(sql, args)

    # ------------------------------------------------------------ many things with one commit

    def begin(self) -> None:
        """A turn of this thread. Raises nothing: SQLite begins with the first that is written."""
        self._lock.acquire()
        self._turn_of, self._changes = get_ident(), self._connection.total_changes
        self.bytes_written = 0

    def probe(self) -> None:
        """Within a turn: writes what is there already, to see whether anything can be written. Raises Unwritten."""
        with self.writing() as connection:
            connection.execute(f"PRAGMA user_version = {VERSION}")

    def commit(self) -> None:
        """Puts what the turn has written on the disk. Raises Unwritten: then nothing of it ever was; or Broken."""
        try:
            self._check_there()
            if self.is_dirty:
                for prepare in self.before_commit:
                    prepare()
            if self._connection.in_transaction:
                self._connection.execute("COMMIT")
            self._tell_written()
        except (sqlite3.Error, MemoryError, Unavailable) as error:
            failed = error if isinstance(error, Unavailable) else self.met("commit", error)
            if isinstance(failed, Broken):
                raise failed from error
            self._undo()
            raise (failed if isinstance(failed, Unwritten) else Unwritten(str(failed))) from error
        finally:
            self._end()

    def rollback(self) -> None:
        """Nothing of the turn ever was."""
        try:
            self._undo()
        finally:
            self._end()

    def _end(self) -> None:
        self._turn_of, self._lost = 0, None
        self._lock.release()

    @property
    def is_lost(self) -> bool:
        """Whether the turn cannot be written, or SQLite has undone it by itself: its commit will fail."""
        return self._lost is not None

    @property
    def is_dirty(self) -> bool:
        """Whether the turn has written something that is not committed."""
        written = self._connection.in_transaction and self._connection.total_changes != self._changes
        return written or self.is_lost

    @contextmanager
    def _part(self) -> Iterator[None]:
        """Of a turn, or of another transaction."""
        connection = self._connection
        if not connection.in_transaction:
            connection.execute("BEGIN IMMEDIATE")
        connection.execute("SAVEPOINT part")
        self._savepoints += 1
        known = len(self._on_disk)
        try:
            yield
            self._finish()
            if self._is_torn:
                raise Unavailable(f"write {self.path}: a part of it has failed")
        except BaseException as error:
            del self._on_disk[known:]
            self._undo_part(error)
            raise
        else:
            connection.execute("RELEASE part")
        finally:
            self._savepoints -= 1

    def _undo_part(self, error: BaseException) -> None:
        self._is_torn = False
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK TO part")
            self._connection.execute("RELEASE part")
        elif not self._lost:
            found = failure("write", error) if isinstance(error, sqlite3.Error) else error
            self._lost = found if isinstance(found, Unwritten) else Unwritten(f"SQLite has undone it: {error}")
        for tell in self.undone:
            tell()

    # ------------------------------------------------------------ in pauses, between two turns

    def checkpoint(self, *, empties: bool = False) -> bool:
        """Moves what is in the log into the file. Whether all of it: then the log begins anew with the next write.

        `empties`: waits for readers, for some seconds at most, and makes the file of the log empty. Raises Unavailable.
        """
        [(is_busy, pages, moved)] = self._do(f"PRAGMA wal_checkpoint({'TRUNCATE' if empties else 'PASSIVE'})")
        return not is_busy and pages == moved

    def free_pages(self) -> tuple[int, int]:
        """How many pages of the file are free, and how many it has."""
        return self._do("PRAGMA freelist_count")[0][0], self._do("PRAGMA page_count")[0][0]

    def vacuum(self, pages: int) -> None:
        """Gives so many free pages back to the disk. Raises Unavailable."""
        self._do(f"PRAGMA incremental_vacuum({pages})", is_script=True)  # `execute` would give back one of them

    def _do(self, statement: str, *, is_script: bool = False) -> list[Any]:
        with self._lock:
            try:
                do = self._connection.executescript if is_script else self._connection.execute
                return list(do(statement).fetchall())
            except sqlite3.Error as error:
                raise self.met(statement, error) from error

    @property
    def changes(self) -> int:
        """How many rows were written since it was opened. No other thread has written one that is not committed."""
        with self._lock:
            return self._connection.total_changes
