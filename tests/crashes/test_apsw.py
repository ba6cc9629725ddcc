"""A connection of `apsw` means what one of `sqlite3` means: the store's contract holds, and errors are alike."""

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from delayer.engines.sqlite.store import SqliteStore
from tests.contract import test_store as contract
from tests.crashes.apsw_connection import ApswConnection
from tests.crashes.recorder import Recorder
from tests.crashes.store_story import FILE, open_store

# All tests of the contract, those to come, too. Its fixture `store` is the one below.
globals().update({name: test for name, test in vars(contract).items() if name.startswith("test_")})
table = contract.table


@pytest.fixture(scope="module")
def recorder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recorder]:
    with Recorder(tmp_path_factory.mktemp("recorded")) as recorder:
        yield recorder


@pytest.fixture(scope="module")
def store(recorder: Recorder) -> SqliteStore:
    store, _ = open_store(recorder.folder / FILE, recorder.connect)
    return store


@pytest.fixture
def other(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is compared with it: the same store on `sqlite3`."""
    numbers = iter(range(1_000))
    monkeypatch.setattr(contract, "engines_of", lambda *_: (f"compared-{next(numbers)}", (SqliteStore(), store)))


@pytest.fixture
def both(tmp_path: Path) -> Iterator[list[Any]]:
    """A connection of each, to an empty database."""
    connections: list[Any] = [
        sqlite3.connect(tmp_path / "sqlite3", isolation_level=None),
        ApswConnection(str(tmp_path / "apsw")),
    ]
    for connection in connections:
        connection.executescript("CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT UNIQUE NOT NULL);")
    yield connections
    for connection in connections:
        connection.close()


def on_each(both: list[Any], do: Callable[[Any], Any]) -> list[Any]:
    return [do(connection) for connection in both]


def error_of(connection: Any, statement: str, parameters: Any) -> Any:
    with pytest.raises(sqlite3.Error) as error:
        connection.execute(statement, parameters).fetchall()
    return type(error.value), error.value.sqlite_errorcode, error.value.sqlite_errorname


@pytest.mark.parametrize(
    ("statement", "parameters"),
    [
        ("INSERT INTO t VALUES (1, 'x')", ()),
        ("INSERT INTO t VALUES (2, 'one')", ()),
        ("INSERT INTO t VALUES (2, NULL)", ()),
        ("INSERT INTO t VALUES ('no number', 'x')", ()),
        ("INSERT INTO none VALUES (2)", ()),
        ("SELEKT", ()),
        ("COMMIT", ()),
        ("ATTACH '/none/of/this' AS other", ()),
    ],
)
def test_errors_have_the_same_class_and_code(both: list[Any], statement: str, parameters: Any) -> None:
    on_each(both, lambda connection: connection.execute("INSERT INTO t VALUES (1, 'one')"))
    theirs, ours = on_each(both, lambda connection: error_of(connection, statement, parameters))
    assert ours == theirs


@pytest.mark.parametrize("parameters", [(), (1, 2), (object(),)])
def test_wrong_parameters_are_an_error(both: list[Any], parameters: Any) -> None:
    """Which class of `sqlite3` that is depends on the version of Python."""
    for connection in both:
        with pytest.raises(sqlite3.Error):
            connection.execute("SELECT ?", parameters)


@pytest.mark.parametrize(("value", "error"), [("\ud800", UnicodeEncodeError), (2**63, OverflowError)])
def test_wrong_values_are_an_error(both: list[Any], value: Any, error: type[Exception]) -> None:
    for connection in both:
        with pytest.raises(error):
            connection.execute("SELECT ?", (value,))


def test_no_database_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no database, but a text that is long enough to be looked at" * 100)
    theirs, ours = (
        error_of(connection, "SELECT * FROM t", ())
        for connection in (sqlite3.connect(tmp_path / "text"), ApswConnection(str(tmp_path / "text")))
    )
    assert ours == theirs == (sqlite3.DatabaseError, sqlite3.SQLITE_NOTADB, "SQLITE_NOTADB")


def test_a_closed_connection_is_an_error(both: list[Any]) -> None:
    for connection in both:
        connection.close()
        with pytest.raises(sqlite3.ProgrammingError):
            connection.execute("SELECT 1")


@pytest.mark.parametrize(
    "do",
    [
        lambda on: on.execute("SELECT 1, 'x', x'00', NULL, 1.5").fetchone(),
        lambda on: on.execute("SELECT ?, ?, ?", (True, 2**63 - 1, "\U0001f600")).fetchone(),
        lambda on: on.execute("SELECT :a", {"a": 1}).fetchone(),
        lambda on: on.execute("SELECT 1 WHERE 0").fetchone(),
        lambda on: list(on.execute("SELECT value FROM json_each('[1, 2, 3]')")),
        lambda on: on.execute("SELECT value FROM json_each('[1, 2, 3]')").fetchmany(2),
        lambda on: on.execute("SELECT 1").rowcount,
        lambda on: on.execute("INSERT INTO t VALUES (7, 'a'), (8, 'b')").rowcount,
        lambda on: on.execute("INSERT INTO t (b) VALUES ('a')").lastrowid,
        lambda on: on.executemany("INSERT INTO t VALUES (?, ?)", [(1, "a"), (2, "b")]).rowcount,
        lambda on: on.execute("INSERT INTO t VALUES (1, 'a') RETURNING b").fetchall(),
        lambda on: (on.execute("BEGIN"), on.in_transaction, on.rollback(), on.in_transaction)[1::2],
        lambda on: (on.execute("BEGIN"), on.executescript("SELECT 1; SELECT 2"), on.in_transaction)[2],
        lambda on: (on.executescript("INSERT INTO t VALUES (1, 'a');"), on.total_changes)[1],
    ],
)
def test_answers_are_the_same(both: list[Any], do: Callable[[Any], Any]) -> None:
    theirs, ours = on_each(both, do)
    assert ours == theirs
