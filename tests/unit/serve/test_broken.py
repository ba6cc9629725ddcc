"""A database that cannot be trusted any more ends the engine at once, and never begins it."""

import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from delayer.engines.sqlite.database import Database
from delayer.engines.sqlite.secrets import KeyRing
from delayer.serve.data.folder import DataFolder, open_folder
from delayer.serve.data.layout import unusable_database
from delayer.serve.data.space import MEGABYTE, NEARLY_FULL, Space
from delayer.serve.turns.lead import Leader
from delayer.serve.turns.machine import LAYOUT
from delayer_client.testing.stack import SETTINGS, Observer


@pytest.fixture
def ended() -> list[int]:
    return []


@pytest.fixture
def leader(tmp_path: Path, ended: list[int]) -> Any:
    made = Leader(
        database=Database(path=str(tmp_path / "a.db"), layout=LAYOUT),
        observer=Observer(),
        keys=KeyRing(keys=(b"k" * 32,)),
        environment=SETTINGS,
        space=Space(folder=tmp_path, free=lambda: 10**10, reserve=MEGABYTE),
        ends=ended.append,
    )
    yield made
    made.stop()


class FailingFsync:
    """A database whose fsyncs fail from now on."""

    def __init__(self, real: Any) -> None:
        self.real = real

    def commit(self) -> None:
        error = sqlite3.OperationalError("disk I/O error")
        error.sqlite_errorcode = sqlite3.SQLITE_IOERR_FSYNC
        self.real.rollback()  # the lock is given back
        raise self.real.met("commit", error)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.real, name)


def until(happened: Any) -> None:
    for _ in range(300):
        if happened():
            return
        time.sleep(0.01)
    raise AssertionError("it has not happened in 3 s")


def test_a_failed_fsync_ends_the_process_with_status_1(leader: Any, ended: list[int]) -> None:
    """It takes a second: a real leader, with its threads."""
    leader.start()
    leader.machine.turns.database = FailingFsync(leader.machine.database)
    leader.inbox.put(None)
    until(lambda: ended)
    assert ended == [1]
    [(line, _, facts)] = [one for one in leader.observer.lines if "trusted" in one[0]]
    assert line == "the database cannot be trusted any more, so the engine has ended"
    assert "disk I/O error" in facts["error"]


def test_a_reader_that_meets_it_in_another_thread_ends_it_too(leader: Any, ended: list[int]) -> None:
    """It takes a second."""
    leader.start()
    error = sqlite3.DatabaseError("database disk image is malformed")
    error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
    leader.machine.database.met("read", error)
    leader.inbox.put(None)
    until(lambda: ended)
    assert ended == [1]


def test_an_end_by_itself_is_noted_and_one_by_an_error_is_not(leader: Any) -> None:
    """It takes a second."""
    leader.start()
    leader.stop()
    with sqlite3.connect(leader.database.path) as connection:
        [(ended_at,)] = connection.execute("SELECT ended_at FROM lives").fetchall()
    assert ended_at


@pytest.mark.parametrize(
    ("free", "said"),
    [
        (NEARLY_FULL, "malformed ({}). Look after its disk"),
        (NEARLY_FULL - 1, "malformed ({}). Make room on this disk."),
    ],
)
def test_a_database_that_cannot_be_read_is_refused_with_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: int, said: str
) -> None:
    monkeypatch.setattr(DataFolder, "free", lambda self: free)
    with closing(open_folder(tmp_path)) as folder:
        refusal = unusable_database(folder, sqlite3.DatabaseError("database disk image is malformed"))
    assert refusal.status == 1
    assert said.format(tmp_path / "delayer.db") in str(refusal)
