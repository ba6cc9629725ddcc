"""A VFS of SQLite that records each operation which changes a file of a database.

It stands before the default one, which does the work. Nothing is synced for real: no power will be cut, and a story
takes a tenth of the time. The shared memory of the log (`-shm`) is no part of it: it does not outlive a power cut.
"""

from collections.abc import Callable
from itertools import count
from pathlib import Path
from threading import RLock
from typing import Any, Final, TypeAlias

import apsw
from attrs import define, field

from tests.crashes.apsw_connection import ApswConnection
from tests.crashes.recording import (
    Created,
    Deleted,
    Event,
    FolderSynced,
    Found,
    Marked,
    Operation,
    Recording,
    Synced,
    Truncated,
    Written,
)

Fault: TypeAlias = Callable[[Operation], int]  # SQLite's code that an operation fails with (SQLITE_IOERR_FSYNC), or 0
SHARED_MEMORY: Final = "-shm"
# SQLite syncs the folder when it first syncs one of these, if it has asked for it to be created.
WITH_FOLDER: Final = apsw.SQLITE_OPEN_WAL | apsw.SQLITE_OPEN_MAIN_JOURNAL | apsw.SQLITE_OPEN_SUPER_JOURNAL
_numbers: Final = count()


def no_fault(operation: Operation) -> int:
    """Every operation succeeds."""
    return apsw.SQLITE_OK


def _resolved(folder: Path) -> Path:
    return folder.resolve()  # as SQLite names its files


@define(eq=False)
class Recorder:
    """Records what happens to the databases of one folder. All threads may use its connections.

    Files that are there already belong to the recording, as they are.
    """

    folder: Path = field(converter=_resolved)
    fault: Fault = no_fault
    _events: list[Event] = field(factory=list, init=False)
    _lock: RLock = field(factory=RLock, init=False)
    _vfs: "_Vfs" = field(init=False)

    def __attrs_post_init__(self) -> None:
        for path in sorted(self.folder.iterdir()):
            if path.is_file() and not path.name.endswith(SHARED_MEMORY):
                self._events.append(Found(path.name, path.read_bytes()))
        self._vfs = _Vfs(self, f"recorder-{next(_numbers)}")

    def __enter__(self) -> "Recorder":
        return self

    def __exit__(self, *_: object) -> None:
        self.fault = no_fault  # whatever is still open can be closed
        self._vfs.unregister()

    def connect(self, path: str, *, uri: bool = False, **_: Any) -> ApswConnection:
        """In the place of `sqlite3.connect`, whose other arguments do not matter here."""
        return ApswConnection(path, self._vfs.vfs_name, is_uri=uri)

    def mark(self, what: object) -> None:
        """Notes what the program told the world now."""
        with self._lock:
            self._events.append(Marked(what))

    def recording(self) -> Recording:
        """All until now."""
        with self._lock:
            return Recording(tuple(self._events))

    def note(self, operation: Operation, do: Callable[[], Any]) -> None:
        """Performs an operation, and records it if it succeeded: in the order in which the disk got them."""
        with self._lock:
            if code := self.fault(operation):
                raise apsw.exception_for(code)
            do()
            self._events.append(operation)

    def name_of(self, path: str) -> str:
        """The name of a file in the folder. Raises ValueError for one elsewhere, which no image would have."""
        file = Path(path)
        if file.parent != self.folder:
            raise ValueError(f"{path} is not in {self.folder}: the recording would be without it")
        return file.name


class _Vfs(apsw.VFS):
    def __init__(self, recorder: Recorder, name: str) -> None:
        self._recorder = recorder
        self.vfs_name = name
        super().__init__(name, "")

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:  # noqa: N802 - SQLite's name
        if name is None:  # a temporary file of SQLite's, which nobody finds again
            return apsw.VFSFile("", name, flags)
        return _File(self._recorder, name, flags)

    def xDelete(self, name: str, sync: bool) -> None:  # noqa: N802
        file = self._recorder.name_of(name)
        self._recorder.note(Deleted(file), lambda: super(_Vfs, self).xDelete(name, False))
        if sync:
            self._recorder.note(FolderSynced(file), lambda: None)


class _File(apsw.VFSFile):
    def __init__(self, recorder: Recorder, name: Any, flags: list[int]) -> None:
        path = name if isinstance(name, str) else name.filename()
        self._recorder, self._name = recorder, recorder.name_of(path)
        is_created = flags[0] & apsw.SQLITE_OPEN_CREATE
        self._syncs_folder = bool(is_created and flags[0] & WITH_FOLDER)

        def open_it() -> None:
            super(_File, self).__init__("", name, flags)

        if is_created and not Path(path).exists():
            recorder.note(Created(self._name), open_it)
        else:
            open_it()

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        kept = bytes(data)
        self._recorder.note(Written(self._name, offset, kept), lambda: super(_File, self).xWrite(kept, offset))

    def xTruncate(self, size: int) -> None:  # noqa: N802
        self._recorder.note(Truncated(self._name, size), lambda: super(_File, self).xTruncate(size))

    def xSync(self, flags: int) -> None:  # noqa: N802
        self._recorder.note(Synced(self._name, flags), lambda: None)
        if self._syncs_folder:
            self._recorder.note(FolderSynced(self._name), lambda: None)
            self._syncs_folder = False
