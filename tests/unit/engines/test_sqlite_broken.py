"""What SQLite says that is no answer: a full disk, an I/O error, a damaged file. And what a turn makes of it."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from delayer.engines.ports import Unavailable
from delayer.engines.sqlite.database import LOG_KEPT, Broken, Database, DiskFull, Unwritten, failure
from delayer.serve.turns.turn import Turn

LAYOUT = "CREATE TABLE notes (text TEXT);"
LARGE = "x" * 100_000


def error(code: int) -> Exception:
    if code == sqlite3.SQLITE_NOMEM:  # as sqlite3 does
        return MemoryError()
    made = sqlite3.OperationalError("something")
    made.sqlite_errorcode = code
    return made


class Failing:
    """A connection whose statements fail as it is told."""

    def __init__(self, path: str) -> None:
        self._real = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self.fails: dict[str, int] = {}

    @property
    def in_transaction(self) -> bool:
        return self._real.in_transaction

    @property
    def total_changes(self) -> int:
        return self._real.total_changes

    def execute(self, statement: str, values: Any = (), /) -> Any:
        code = self.fails.get(statement.split(maxsplit=1)[0])
        if code:
            raise error(code)
        return self._real.execute(statement, values)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


@pytest.fixture
def connections() -> list[Failing]:
    """The first one writes."""
    return []


@pytest.fixture
def database(tmp_path: Path, connections: list[Failing]) -> Database:
    def connect(path: str) -> Any:
        connections.append(Failing(path))
        return connections[-1]

    return Database(path=str(tmp_path / "a.db"), layout=LAYOUT, connect=connect)


def texts(database: Database) -> list[str]:
    return [text for (text,) in database.read("SELECT text FROM notes", ())]


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (sqlite3.SQLITE_IOERR, Broken),
        (sqlite3.SQLITE_IOERR_FSYNC, Broken),
        (sqlite3.SQLITE_IOERR_WRITE, Broken),
        (sqlite3.SQLITE_CORRUPT, Broken),
        (sqlite3.SQLITE_CORRUPT_INDEX, Broken),
        (sqlite3.SQLITE_NOTADB, Broken),
        (sqlite3.SQLITE_FULL, DiskFull),
        (sqlite3.SQLITE_BUSY, Unwritten),
        (sqlite3.SQLITE_READONLY, Unwritten),
        (sqlite3.SQLITE_CONSTRAINT, Unavailable),
        (0, Unavailable),
    ],
)
def test_an_error_of_the_disk_is_no_error_to_go_on_after(code: int, kind: type[BaseException]) -> None:
    assert type(failure("write", error(code))) is kind


def test_nothing_catches_it_by_chance() -> None:
    assert not issubclass(Broken, Exception)


@pytest.mark.parametrize("statement", ["COMMIT", "INSERT", "SELECT"])
def test_a_failed_fsync_goes_through_a_turn_that_catches_all_else(
    database: Database, connections: list[Failing], statement: str
) -> None:
    connections[0].fails[statement] = sqlite3.SQLITE_IOERR_FSYNC
    turn, heard = Turn(database=database), list[Any]()

    def do() -> None:
        database.write("INSERT INTO notes VALUES ('a')", ())
        texts(database)

    def whole() -> None:
        turn.begin()
        turn.do(do, heard.append)
        turn.end()

    with pytest.raises(Broken, match="something"):
        whole()
    assert heard == []
    assert database.broken


def test_a_damaged_file_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    database = Database(path=str(path), layout=LAYOUT)
    for _ in range(20):
        database.write("INSERT INTO notes VALUES (?)", (LARGE,))
    database.close()
    damaged = bytearray(path.read_bytes())
    damaged[4096:] = b"\xff" * (len(damaged) - 4096)
    path.write_bytes(damaged)
    opened = Database(path=str(path), layout=LAYOUT)
    with pytest.raises(Broken, match="malformed"):
        texts(opened)


def test_a_full_disk_undoes_one_thing_and_no_more_or_all_of_the_turn(
    database: Database, connections: list[Failing]
) -> None:
    """SQLite may undo the whole turn by itself. Then none of its answers may say that anything was written."""
    turn, heard = Turn(database=database), dict[str, Any]()
    turn.begin()
    turn.do(lambda: database.write("INSERT INTO notes VALUES ('a')", ()), lambda it: heard.update(a=it))
    connections[0].execute("PRAGMA max_page_count = 10").fetchall()
    turn.do(lambda: database.write("INSERT INTO notes VALUES (?)", (LARGE,)), lambda it: heard.update(b=it))
    turn.do(lambda: database.write("INSERT INTO notes VALUES ('c')", ()), lambda it: heard.update(c=it))
    turn.end()
    assert isinstance(heard["b"], DiskFull)
    said = {name for name in "ac" if heard[name] is None}
    assert set(texts(database)) == said


def test_what_sqlite_has_undone_by_itself_is_answered_so(database: Database, connections: list[Failing]) -> None:
    """As after an error at which SQLite ends the transaction."""
    turn, heard = Turn(database=database), list[Any]()

    def lost() -> None:
        connections[0].execute("ROLLBACK")
        raise error(sqlite3.SQLITE_NOMEM)

    turn.begin()
    turn.do(lambda: database.write("INSERT INTO notes VALUES ('a')", ()), heard.append)
    turn.do(lost, heard.append)
    turn.do(lambda: database.write("INSERT INTO notes VALUES ('c')", ()), heard.append)
    assert database.is_dirty
    assert heard == []
    turn.end()
    assert [type(one) for one in heard] == [Unwritten] * 3
    assert texts(database) == []
    turn.begin()
    turn.do(lambda: database.write("INSERT INTO notes VALUES ('d')", ()), heard.append)
    turn.end()
    assert texts(database) == ["d"]


def test_with_more_room_all_of_a_turn_is_done_again(database: Database, connections: list[Failing]) -> None:
    fails = connections[0].fails
    heard: list[Any] = []

    def make_room() -> bool:
        fails.clear()
        return True

    turn = Turn(database=database, make_room=make_room)
    for at in ("INSERT", "COMMIT"):
        fails[at] = sqlite3.SQLITE_FULL
        turn.begin()
        turn.do(lambda at=at: database.write("INSERT INTO notes VALUES (?)", (at,)), heard.append)  # type: ignore[misc]
        turn.end()
    assert heard == [None, None]
    assert texts(database) == ["INSERT", "COMMIT"]


def test_without_more_room_callers_hear_it(database: Database, connections: list[Failing]) -> None:
    connections[0].fails["COMMIT"] = sqlite3.SQLITE_FULL
    turn, heard = Turn(database=database), list[Any]()
    turn.begin()
    turn.do(lambda: database.write("INSERT INTO notes VALUES ('a')", ()), heard.append)
    turn.end()
    assert isinstance(heard[0], DiskFull)
    assert texts(database) == []


def test_a_checkpoint_says_whether_all_was_moved(database: Database, tmp_path: Path) -> None:
    log = tmp_path / "a.db-wal"
    for _ in range(80):
        database.write("INSERT INTO notes VALUES (?)", (LARGE,))
    reader = sqlite3.connect(database.path)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM notes").fetchone()
    database.write("INSERT INTO notes VALUES (?)", (LARGE,))
    assert not database.checkpoint()
    reader.close()
    assert database.checkpoint()
    assert log.stat().st_size > LOG_KEPT
    database.write("INSERT INTO notes VALUES ('small')", ())
    assert 0 < log.stat().st_size <= LOG_KEPT
    assert database.checkpoint(empties=True)
    assert log.stat().st_size == 0


def test_free_pages_go_back_to_the_disk(database: Database, tmp_path: Path) -> None:
    database.write("INSERT INTO notes VALUES (?)", (LARGE * 10,))
    database.write("DELETE FROM notes", ())
    free, pages = database.free_pages()
    assert free > 200
    database.vacuum(100)
    assert database.free_pages() == (free - 100, pages - 100)
