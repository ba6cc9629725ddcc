"""A connection of `apsw` that looks like one of `sqlite3`, as far as the engine uses it.

A VFS that is written in Python needs `apsw`, which brings a SQLite of its own. The engine is written for `sqlite3`. So
this is what it gets in the place of `sqlite3.connect(path, isolation_level=None)`.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, TypeAlias

import apsw

Parameters: TypeAlias = Sequence[Any] | Mapping[str, Any]
Rows: TypeAlias = list[tuple[Any, ...]]

# As `_pysqlite_seterror` has it; whatever is not named here is an OperationalError.
KINDS: Final[Mapping[type[apsw.Error], type[sqlite3.Error]]] = {
    apsw.InternalError: sqlite3.InternalError,
    apsw.NotFoundError: sqlite3.InternalError,
    apsw.CorruptError: sqlite3.DatabaseError,
    apsw.NotADBError: sqlite3.DatabaseError,
    apsw.TooBigError: sqlite3.DataError,
    apsw.ConstraintError: sqlite3.IntegrityError,
    apsw.MismatchError: sqlite3.IntegrityError,
    apsw.MisuseError: sqlite3.InterfaceError,
    apsw.RangeError: sqlite3.InterfaceError,
}
# Of an error that began in a VFS, SQLite's own text is not known.
TEXTS: Final = {apsw.FullError: "database or disk is full", apsw.IOError: "disk I/O error"}
CHANGING: Final = ("INSERT", "UPDATE", "DELETE", "REPLACE")


def translated(error: apsw.Error) -> sqlite3.Error:
    """The error that `sqlite3` raises for the same code of SQLite."""
    code = getattr(error, "extendedresult", None)
    if code is None:  # none of SQLite's: a closed connection, too few parameters
        return sqlite3.ProgrammingError(str(error))
    text = str(error) or TEXTS.get(type(error), "")
    new = KINDS.get(type(error), sqlite3.OperationalError)(text)
    name = apsw.mapping_extended_result_codes.get(code) or apsw.mapping_result_codes.get(code & 0xFF)
    new.sqlite_errorcode, new.sqlite_errorname = code, str(name)
    return new


@contextmanager
def translating() -> Iterator[None]:
    """Within it, no error of `apsw` gets out."""
    try:
        yield
    except apsw.Error as error:
        raise translated(error) from error
    except TypeError as error:
        raise sqlite3.ProgrammingError(str(error)) from error


class ApswCursor:
    """The rows of one statement."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._cursor = connection.cursor()
        self._is_changing = False
        self.rowcount = -1
        self.lastrowid: int | None = None

    def execute(self, statement: str, parameters: Parameters = (), /) -> "ApswCursor":
        with translating():
            self._is_changing = statement.lstrip()[:7].upper().startswith(CHANGING)
            self._cursor.execute(statement, parameters)
            self._count()
        return self

    def executemany(self, statement: str, parameters: Iterable[Parameters], /) -> "ApswCursor":
        before = self._connection.total_changes()
        with translating():
            self._cursor.executemany(statement, parameters)
        self.rowcount = self._connection.total_changes() - before
        return self

    def fetchone(self) -> Any:
        return next(self, None)

    def fetchmany(self, size: int = 1) -> Rows:
        return [row for _, row in zip(range(size), self, strict=False)]

    def fetchall(self) -> Rows:
        return list(self)

    def close(self) -> None:
        with translating():
            self._cursor.close(True)

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        with translating():
            for row in self._cursor:
                return row
            self._count()
        raise StopIteration

    def _count(self) -> None:
        """A statement with RETURNING has its number only when its last row was read, as in `sqlite3`."""
        if self._is_changing:
            self.rowcount, self.lastrowid = self._connection.changes(), self._connection.last_insert_rowid()


class ApswConnection:
    """It commits by itself, as a connection of `sqlite3` with `isolation_level=None` does."""

    def __init__(self, path: str, vfs: str | None = None, *, is_uri: bool = False) -> None:
        flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE | (apsw.SQLITE_OPEN_URI if is_uri else 0)
        with translating():
            self._connection = apsw.Connection(path, flags=flags, vfs=vfs)

    def cursor(self) -> ApswCursor:
        with translating():
            return ApswCursor(self._connection)

    def execute(self, statement: str, parameters: Parameters = (), /) -> ApswCursor:
        return self.cursor().execute(statement, parameters)

    def executemany(self, statement: str, parameters: Iterable[Parameters], /) -> ApswCursor:
        return self.cursor().executemany(statement, parameters)

    def executescript(self, statements: str, /) -> ApswCursor:
        """It commits what is open before it begins, as in `sqlite3`."""
        if self.in_transaction:
            self.commit()
        cursor = self.cursor().execute(statements)
        cursor.fetchall()
        return cursor

    def commit(self) -> None:
        if self.in_transaction:
            self.execute("COMMIT")

    def rollback(self) -> None:
        if self.in_transaction:
            self.execute("ROLLBACK")

    @property
    def in_transaction(self) -> bool:
        with translating():
            return self._connection.in_transaction

    @property
    def total_changes(self) -> int:
        with translating():
            return self._connection.total_changes()

    def interrupt(self) -> None:
        with translating():
            self._connection.interrupt()

    def close(self) -> None:
        with translating():
            self._connection.close()
