"""A database of an older layout is migrated once, with a copy kept, wherever the start before was cut off."""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from delayer.engines.sqlite.database import APPLICATION, connect, version_of
from delayer.serve.data.folder import DATABASE, DataFolder, open_folder
from delayer.serve.data.layout import opened
from delayer.serve.refusal import Refusal

FIRST = "CREATE TABLE names (name TEXT);"
LAYOUT = "CREATE TABLE people (number INTEGER PRIMARY KEY, name TEXT, is_known INTEGER);"
STEPS = {
    1: "ALTER TABLE names RENAME TO people; ALTER TABLE people ADD COLUMN is_known INTEGER;",
    2: """
        CREATE TABLE renewed (number INTEGER PRIMARY KEY, name TEXT, is_known INTEGER);
        INSERT INTO renewed (name, is_known) SELECT name, 1 FROM people ORDER BY name;
        DROP TABLE people;
        ALTER TABLE renewed RENAME TO people;
    """,
}
NEWEST = 3
SHOWN = "SELECT number, name, is_known FROM people ORDER BY number"
NAMES = ["Ada", "Grace"]


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[DataFolder]:
    """With a database of layout 1."""
    with closing(open_folder(tmp_path / "d")) as found:
        older(found)
        yield found


def older(folder: DataFolder, version: int = 1) -> None:
    """The names are in its log alone."""
    connection = connect(str(folder.database))
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.executescript(f"{FIRST} PRAGMA user_version = {version};")
    connection.executemany("INSERT INTO names VALUES (?)", [(one,) for one in NAMES])
    connection.close()


def names(folder: DataFolder, **given: object) -> list[tuple[int, str, int]]:
    with closing(opened(folder, LAYOUT, version=NEWEST, **{"steps": STEPS, **given})) as database:  # type: ignore[arg-type]
        assert database.read("PRAGMA user_version", ()) == [(NEWEST,)]
        return [(one, name, known) for one, name, known in database.read(SHOWN, ())]


MIGRATED = [(1, "Ada", 1), (2, "Grace", 1)]


def copied(folder: DataFolder) -> list[tuple[str]]:
    with closing(connect(f"{folder.database}.version-1")) as copy:
        assert version_of(copy) == 1
        return copy.execute("SELECT name FROM names ORDER BY name").fetchall()


def test_an_older_one_takes_each_step_and_a_copy_is_kept(folder: DataFolder) -> None:
    for _ in range(2):
        assert names(folder) == MIGRATED
        assert copied(folder) == [(one,) for one in NAMES]
    assert sorted(one.name for one in folder.path.iterdir()) == ["delayer.db", "delayer.db.version-1", "engine.pid"]


def test_a_new_one_and_one_of_this_version_are_left_alone(tmp_path: Path) -> None:
    with closing(open_folder(tmp_path / "d")) as folder:
        for _ in range(2):
            opened(folder, LAYOUT).close()
        assert list(folder.path.glob("*version*")) == []


def test_cut_off_at_any_statement_it_is_repeated(folder: DataFolder, tmp_path: Path) -> None:
    """What a `kill -9` at each of them leaves: the files as they are then. It takes two seconds: thirty starts."""
    images: list[Path] = []

    def traced(path: str) -> sqlite3.Connection:
        connection = connect(path)
        connection.set_trace_callback(image)
        return connection

    def image(_statement: str) -> None:
        images.append(tmp_path / f"image-{len(images)}")
        shutil.copytree(folder.path, images[-1])

    assert names(folder, connect=traced) == MIGRATED
    versions = []
    for one in images:
        with closing(connect(str(one / DATABASE))) as connection:
            versions.append(version_of(connection))
        with closing(open_folder(one)) as cut_off:
            assert names(cut_off) == MIGRATED
            assert copied(cut_off) == [(one,) for one in NAMES]
            assert not list(one.glob("*.new"))
    assert set(versions) == {1, NEWEST}, "there is nothing between the two"
    assert versions.count(1) > len(STEPS)


def test_a_step_that_fails_leaves_all_as_it_was(folder: DataFolder) -> None:
    wrong = {**STEPS, 2: f"{STEPS[2]} SELECT nothing_like_this();"}
    with pytest.raises(Refusal, match="could not be migrated from the layout 1 to 3: no such function") as raised:
        names(folder, steps=wrong)
    assert raised.value.status == 1
    with closing(connect(str(folder.database))) as connection:
        assert version_of(connection) == 1
        assert connection.execute("SELECT count(*) FROM names").fetchone() == (2,)
    assert names(folder) == MIGRATED


def test_without_room_nothing_is_begun(folder: DataFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DataFolder, "free", lambda self: 2 * self.size() - 1)
    with pytest.raises(Refusal, match="free space"):
        names(folder)
    assert not list(folder.path.glob("*version*"))


def test_one_from_which_no_step_leads_is_refused(folder: DataFolder) -> None:
    with pytest.raises(Refusal, match="knows no way from the layout 1 of the database to 3"):
        names(folder, steps={2: STEPS[2]})


@pytest.mark.parametrize(
    ("pragma", "said"),
    [("user_version = 4", "layout 4"), (f"application_id = {APPLICATION + 1}", "that of another application")],
)
def test_what_stands_in_the_log_alone_counts(folder: DataFolder, tmp_path: Path, pragma: str, said: str) -> None:
    """The header of the file is still that of a version before."""
    with closing(connect(str(folder.database))) as connection:
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        connection.execute(f"PRAGMA {pragma}")
        shutil.copytree(folder.path, tmp_path / "killed")
    with closing(open_folder(tmp_path / "killed")) as killed, pytest.raises(Refusal, match=said) as raised:
        names(killed)
    assert raised.value.status == 2
