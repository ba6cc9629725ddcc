"""The recorder sees what SQLite asks of the disk, and finds an engine that asks for too little."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import apsw
import pytest

from delayer.engines.ports import Unavailable
from delayer.engines.sqlite.database import Broken
from delayer.engines.store.model import Put, entry_key
from tests.crashes.images import Case, CrashPoint, How, chosen, points
from tests.crashes.recorder import Recorder, no_fault
from tests.crashes.recording import (
    Created,
    Deleted,
    FolderSynced,
    Found,
    Marked,
    Operation,
    Recording,
    Synced,
    Truncated,
    Written,
)
from tests.crashes.store_story import FILE, Answered, StoreStory, open_store
from tests.crashes.trying import Tally, keep, kept, recorded, scratch, try_all, try_one

LOG = f"{FILE}-wal"
JOURNAL = f"{FILE}-journal"
EVERY_DAY = 250  # crash points; all are tried by `python -m tests.crashes`


def tried(story: StoreStory, left_out: str = "none") -> tuple[Recording, Tally]:
    with scratch() as folder:
        recording = recorded(story, folder).without_syncs_of(left_out)
    return recording, try_all(story, recording, chosen(recording, EVERY_DAY))


def test_every_answered_transaction_outlives_a_power_cut() -> None:
    """It takes some seconds: each crash point is a database that is opened."""
    _, tally = tried(StoreStory())
    assert tally.faults == ()
    assert tally.tried > EVERY_DAY / 2


@pytest.mark.parametrize(
    ("setting", "left_out", "loses"),
    [
        ("synchronous = NORMAL", "none", True),
        ("synchronous = OFF", "none", True),
        ("", "-wal", True),
        ("", FILE, False),  # the checkpoint believes that its pages are on the disk, and the log begins anew
    ],
)
def test_a_sync_that_is_missing_is_found(setting: str, left_out: str, loses: bool) -> None:
    """The deliberate bugs. Each takes a second or two."""
    _, tally = tried(StoreStory(setting=setting), left_out)
    [fault] = tally.faults
    if loses:
        assert "answered" in fault.what


def test_a_fault_can_be_tried_again(tmp_path: Path) -> None:
    """By the recording, which can be kept, and the name of the case."""
    story = StoreStory(setting="synchronous = NORMAL", transactions=10)
    recording, tally = tried(story)
    [fault] = tally.faults
    keep(recording, tmp_path / "recording")
    [point] = points(kept(tmp_path / "recording"), [Case.from_text(str(fault.case))])
    assert try_one(story, point) == fault


def test_a_second_power_cut_during_the_recovery_changes_nothing() -> None:
    """Some seconds: it tries crash points of the recovery of crash points."""
    story = StoreStory(transactions=20)
    with scratch() as folder:
        recording = recorded(story, folder)
    for point in points(recording, chosen(recording, 12, seed=2)):
        with scratch() as folder:
            point.lay_out(folder)
            again = recorded(Recovery(), folder)
        marked = Recording((*map(Marked, point.marks), *again.events))
        assert try_all(story, marked, chosen(marked, 12)).faults == (), point


class Recovery:
    """Opens what a power cut left, on the recorder, and writes all of the log back."""

    name = "recovery"

    def play(self, recorder: Recorder) -> None:
        _, connection = open_store(recorder.folder / FILE, recorder.connect)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.close()

    def check(self, folder: Path, point: CrashPoint) -> None:
        """The story that it recovers does that."""


def operations(recorder: Recorder, *kinds: type[Operation]) -> list[Operation]:
    return [one for one in recorder.recording().operations if isinstance(one, kinds)]


def test_a_transaction_is_written_to_the_log_and_synced(tmp_path: Path) -> None:
    with Recorder(tmp_path) as recorder:
        store, _ = open_store(tmp_path / FILE, recorder.connect)
        store.write(Put("t", entry_key("first"), {"n": 1}))  # makes the log
        before = len(recorder.recording().events)
        store.write(Put("t", entry_key("list"), {"n": 1}))
        recorder.mark("answered")
        *writes, sync, mark = recorder.recording().events[before:]
    assert {type(one) for one in writes} == {Written}
    assert {one.file for one in writes if isinstance(one, Written)} == {LOG}
    assert (sync, mark) == (Synced(LOG, apsw.SQLITE_SYNC_NORMAL), Marked("answered"))


def test_the_folder_is_synced_with_the_first_sync_of_a_new_log(tmp_path: Path) -> None:
    with Recorder(tmp_path) as recorder:
        store, _ = open_store(tmp_path / FILE, recorder.connect)
        store.write(Put("t", entry_key("list"), {"n": 1}))
        found = [(type(one), one.file) for one in operations(recorder, Created, Deleted, FolderSynced)]
        store.database.close()
    assert found[:4] == [(Created, FILE), (Created, JOURNAL), (FolderSynced, JOURNAL), (Deleted, JOURNAL)]
    assert [one for one in found if one[1] == LOG] == [(Created, LOG), (FolderSynced, LOG)]


def test_cuts_and_deletions_are_recorded(tmp_path: Path) -> None:
    with Recorder(tmp_path) as recorder:
        store, connection = open_store(tmp_path / FILE, recorder.connect)
        store.write(Put("t", entry_key("list"), {"n": 1}))
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        assert Truncated(LOG, 0) in operations(recorder, Truncated)
        connection.close()
        assert operations(recorder, Deleted)[-1] == Deleted(LOG)


def test_the_flags_of_a_sync_are_recorded(tmp_path: Path) -> None:
    """On macOS, only a full one reaches the disk."""
    with Recorder(tmp_path) as recorder:
        connection = recorder.connect(str(tmp_path / FILE))
        connection.executescript("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA fullfsync = ON")
        before = len(operations(recorder, Synced))
        connection.execute("CREATE TABLE t (a)")
        assert {one.flags for one in operations(recorder, Synced)[before:] if isinstance(one, Synced)} == {
            apsw.SQLITE_SYNC_FULL
        }


def test_files_that_are_there_already_belong_to_the_recording(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"")
    (tmp_path / "folder").mkdir()
    with Recorder(tmp_path) as recorder:
        assert recorder.recording() == Recording((Found(FILE, b""),))


def test_the_whole_recording_is_what_the_folder_holds(tmp_path: Path) -> None:
    """Nothing that SQLite does to a file escapes it: in the end, the image is the folder."""
    with Recorder(tmp_path) as recorder:
        story = StoreStory(transactions=10)
        story.play(recorder)
        recorder.connect(str(tmp_path / FILE)).execute("INSERT INTO items VALUES ('t', 'p', 's', x'00', NULL)")
        recording = recorder.recording()
        [last] = points(recording, [Case(len(recording.operations), How.ALL)])
        there = {path.name: path.read_bytes() for path in tmp_path.iterdir() if not path.name.endswith("-shm")}
    assert last.files == there
    assert {Answered(1), Answered(10)} <= set(recording.marks)


def test_a_file_elsewhere_is_refused(tmp_path: Path) -> None:
    """An image without it would be none of what a power cut leaves."""
    (tmp_path / "data").mkdir()
    with Recorder(tmp_path / "data") as recorder, pytest.raises(ValueError, match="would be without it"):
        recorder.connect(str(tmp_path / FILE))


@pytest.mark.parametrize(
    ("kind", "code", "text"),
    [
        (Written, apsw.SQLITE_FULL, "database or disk is full"),
        (Written, apsw.SQLITE_IOERR_WRITE, "disk I/O error"),
        (Synced, apsw.SQLITE_IOERR_FSYNC, "disk I/O error"),
    ],
)
def test_an_operation_can_fail(tmp_path: Path, kind: type[Operation], code: int, text: str) -> None:
    """The engine is told so as by `sqlite3`, and the disk has not got it."""
    with Recorder(tmp_path) as recorder:
        store, _ = open_store(tmp_path / FILE, recorder.connect)
        before = len(operations(recorder, kind))
        recorder.fault = lambda operation: code if isinstance(operation, kind) else apsw.SQLITE_OK
        with pytest.raises((Unavailable, Broken), match=text) as refused:
            store.write(Put("t", entry_key("list"), {"n": 1}))
        recorder.fault = no_fault
        error = refused.value.__cause__
        assert isinstance(error, sqlite3.OperationalError)
        assert error.sqlite_errorcode == code
        assert len(operations(recorder, kind)) == before


def test_one_thread_writes_while_others_read(tmp_path: Path) -> None:
    """As in the engine: connections of their own, which only read."""
    done = Event()

    def read() -> int:
        reader = recorder.connect(f"file:{tmp_path / FILE}?mode=ro", uri=True)
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            reader.execute("DELETE FROM items")
        counts = [0]
        while not done.is_set() or counts[-1] < 50:
            [count] = reader.execute("SELECT count(*) FROM items").fetchone()
            counts.append(count)
        assert counts == sorted(counts)
        reader.close()
        return counts[-1]

    with Recorder(tmp_path) as recorder, ThreadPoolExecutor(2) as threads:
        store, connection = open_store(tmp_path / FILE, recorder.connect)
        readers = [threads.submit(read) for _ in range(2)]
        for number in range(50):
            store.write(Put("t", entry_key("list", str(number)), {}))
        done.set()
        assert [reader.result() for reader in readers] == [50, 50]
        connection.close()
