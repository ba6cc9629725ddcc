"""The data folder: one engine at a time, and no database that is not ours."""

import errno
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from delayer.serve.data import folder as module
from delayer.serve.data.folder import PROCESS, DataFolder, Existing, check_versions, judge, open_folder, unusable
from delayer.serve.refusal import Refusal

OURS, VERSION = 0x446C7972, 3
OPENS = """
import sys
from pathlib import Path
from delayer.serve.data.folder import open_folder
open_folder(Path(sys.argv[1]))
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "delayer-data"


@pytest.fixture
def folder(path: Path) -> Iterator[DataFolder]:
    opened = open_folder(path)
    yield opened
    opened.close()


def second(path: Path) -> Refusal:
    with pytest.raises(Refusal) as raised:
        open_folder(path)
    return raised.value


def database(path: Path, application: int = OURS, version: int = VERSION, table: bool = True) -> None:
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA application_id = {application}")
    connection.execute(f"PRAGMA user_version = {version}")
    if table:
        connection.execute("CREATE TABLE t (a)")
        connection.execute("INSERT INTO t VALUES (zeroblob(100000))")
    connection.commit()
    connection.close()


# ------------------------------------------------------------ one engine


def test_it_is_made_for_its_user_alone(folder: DataFolder) -> None:
    assert folder.path.stat().st_mode & 0o777 == 0o700
    assert folder.free() > 0


def test_a_second_engine_hears_who_runs(folder: DataFolder) -> None:
    refusal = second(folder.path)
    assert refusal.status == 1, "it may pass by itself"
    assert str(refusal) == (
        f"Another engine, process {os.getpid()}, runs on this folder ({folder.path}). "
        "Stop that one first, or choose another folder."
    )
    (folder.path / PROCESS).write_text("?")
    assert str(second(folder.path)).startswith("Another engine runs on this folder")


def test_so_is_one_by_another_path(folder: DataFolder, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.symlink_to(folder.path)
    assert second(other).status == 1


def test_so_is_one_in_another_process_until_the_first_has_ended(path: Path) -> None:
    """It takes a second or two: it starts two processes."""
    first = open_folder(path)
    assert "Another engine" in opened_elsewhere(path)
    first.close()
    assert opened_elsewhere(path) == ""
    open_folder(path).close()  # that process is dead


def opened_elsewhere(path: Path) -> str:
    done = subprocess.run([sys.executable, "-c", OPENS, str(path)], capture_output=True, text=True, check=False)
    return done.stderr


@pytest.mark.parametrize("is_handed_on", [True, False])
def test_a_child_keeps_the_lock_if_it_was_handed_on(path: Path, is_handed_on: bool) -> None:
    first = open_folder(path)
    handed_on = (first.descriptor,) if is_handed_on else ()
    waits = [sys.executable, "-c", "input()"]
    with subprocess.Popen(waits, stdin=subprocess.PIPE, pass_fds=handed_on) as child:
        first.close()
        if is_handed_on:
            assert second(path).status == 1
        child.communicate(b"\n")
    open_folder(path).close()


def test_a_folder_that_was_refused_is_not_locked(path: Path) -> None:
    with pytest.raises(Refusal, match="network filesystem of the type nfs4") as raised:
        open_folder(path, lambda descriptor, path: "nfs4")
    assert raised.value.status == 2
    open_folder(path).close()


# ------------------------------------------------------------ no folder


def test_the_process_is_named_no_longer_than_the_folder_is_locked(path: Path) -> None:
    folder = open_folder(path)
    assert (path / PROCESS).exists()
    folder.close()
    assert not (path / PROCESS).exists()


def test_it_knows_who_else_may_look_into_it(folder: DataFolder) -> None:
    assert folder.open_to == 0
    folder.path.chmod(0o755)
    assert folder.open_to == 0o055


def test_a_file_is_no_folder(path: Path) -> None:
    path.write_text("")
    assert "is not a folder" in str(second(path))
    assert "is not a folder" in str(second(path / "below"))


@pytest.mark.parametrize("number", [errno.EACCES, errno.EROFS, errno.EPERM])
def test_a_folder_that_cannot_be_written(path: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    def refused(path: Path, text: str) -> None:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        patch.setattr(module, "write_durably", refused)
        assert "cannot be written" in str(second(path))
    open_folder(path).close()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_one_that_belongs_to_somebody_else(path: Path) -> None:
    path.mkdir(mode=0o500)
    assert "cannot be written" in str(second(path))


def test_another_error_is_named() -> None:
    error = OSError(errno.ENAMETOOLONG, "File name too long")
    assert str(unusable(error, "x")) == "The data folder cannot be used: File name too long (x). Choose another folder."


def test_on_a_full_disk_it_is_opened_all_the_same(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And nobody is told the process of a former life."""

    def full(path: Path, text: str) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    open_folder(path).close()
    monkeypatch.setattr(module, "write_durably", full)
    first = open_folder(path)
    assert str(second(path)).startswith("Another engine runs on this folder")
    first.close()


# ------------------------------------------------------------ its database


def test_a_new_one_is_made_for_its_user_alone(folder: DataFolder) -> None:
    for _ in range(2):
        assert folder.examine(OURS, VERSION) is Existing.NOTHING
    assert folder.database.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("version", "found"), [(VERSION, Existing.CURRENT), (VERSION - 1, Existing.OLDER), (0, Existing.OLDER)]
)
def test_ours_is_known_by_its_header(folder: DataFolder, version: int, found: Existing) -> None:
    database(folder.database, version=version)
    assert folder.examine(OURS, VERSION) is found


@pytest.mark.parametrize("application", [0, OURS])
def test_one_whose_making_was_cut_off_is_new(folder: DataFolder, application: int) -> None:
    database(folder.database, application, 0, table=False)
    assert folder.examine(OURS, VERSION) is Existing.NOTHING


@pytest.mark.parametrize(
    ("application", "version", "text"),
    [
        (0, 0, "that of another application"),
        (OURS + 1, VERSION, "that of another application"),
        (OURS, VERSION + 1, f"has the layout {VERSION + 1}, and this version of Delayer knows {VERSION} at most"),
    ],
)
def test_another_is_refused(folder: DataFolder, application: int, version: int, text: str) -> None:
    database(folder.database, application, version)
    before = folder.database.read_bytes()
    with pytest.raises(Refusal, match=text) as raised:
        folder.examine(OURS, VERSION)
    assert raised.value.status == 2
    assert folder.database.read_bytes() == before
    with pytest.raises(Refusal, match=text):  # as SQLite says it, once it is open
        check_versions(application, version, OURS, VERSION, "x")


@pytest.mark.parametrize("content", [b"{}", bytes(4096), b"SQLite format 3\0", b"S" * 100], ids=len)
def test_a_file_that_is_no_database_is_refused(folder: DataFolder, content: bytes) -> None:
    folder.database.write_bytes(content)
    with pytest.raises(Refusal, match="no database"):
        folder.examine(OURS, VERSION)
    assert folder.database.read_bytes() == content


def test_it_does_not_begin_empty_where_a_log_has_something(folder: DataFolder) -> None:
    folder.database.with_name("delayer.db-wal").write_bytes(b"frames")
    with pytest.raises(Refusal, match="is empty, but its log"):
        folder.examine(OURS, VERSION)


def test_a_file_that_sqlite_will_restore_is_left_to_it() -> None:
    assert judge(bytes(100), OURS, VERSION, where="x", is_interrupted=True) is Existing.CURRENT


@pytest.mark.parametrize("kind", ["folder", "link"])
def test_what_is_no_file_of_the_folder_is_refused(folder: DataFolder, tmp_path: Path, kind: str) -> None:
    """The lock on the folder says nothing about a database that lies elsewhere."""
    if kind == "folder":
        folder.database.mkdir()
    else:
        folder.database.symlink_to(tmp_path / "elsewhere.db")
    with pytest.raises(Refusal, match="cannot be opened"):
        folder.examine(OURS, VERSION)


def test_without_room_it_is_not_migrated(folder: DataFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    """The log counts, too: it becomes part of the copy."""
    database(folder.database, version=VERSION - 1)
    folder.database.with_name("delayer.db-wal").write_bytes(bytes(1000))
    needed = 2 * (folder.database.stat().st_size + 1000)
    monkeypatch.setattr(DataFolder, "free", lambda self: needed)
    assert folder.examine(OURS, VERSION) is Existing.OLDER
    monkeypatch.setattr(DataFolder, "free", lambda self: needed - 1)
    with pytest.raises(Refusal, match="takes 1 MB of free space; there are 0"):
        folder.examine(OURS, VERSION)


def test_a_copy_is_kept_and_made_anew_when_a_migration_is_repeated(folder: DataFolder) -> None:
    database(folder.database, version=2)
    connection = sqlite3.connect(folder.database, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("INSERT INTO t VALUES ('in the log')")
    for row in ("one", "two"):
        connection.execute("INSERT INTO t VALUES (?)", (row,))
        kept = folder.keep_copy(connection, 2)
    connection.close()
    assert kept == folder.path / "delayer.db.version-2"
    assert kept.stat().st_mode & 0o777 == 0o600
    assert list(folder.path.glob("*.new")) == []
    copy = sqlite3.connect(kept)
    assert copy.execute("SELECT count(*) FROM t").fetchone() == (4,)
    assert copy.execute("PRAGMA user_version").fetchone() == (2,)
    assert copy.execute("PRAGMA application_id").fetchone() == (OURS,)
    copy.close()
