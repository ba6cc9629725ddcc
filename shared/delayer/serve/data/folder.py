"""The data folder: it has one engine at a time, and a database that this version can read."""

import errno
import os
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from enum import Enum, auto
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path
from typing import Final

from attrs import frozen

from delayer.serve.data.filesystems import filesystem_of, is_network
from delayer.serve.refusal import Refusal

DATABASE: Final = "delayer.db"
PROCESS: Final = "engine.pid"  # for the sentence of a second engine; the lock decides
OTHERS: Final = 0o077  # rights of the group and of everybody
HEADER_BYTES: Final = 100
MAGIC: Final = b"SQLite format 3\0"
FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT})
CHOOSE: Final = "Choose another folder"


class Existing(Enum):
    """Says what the file of the database is, before it is opened."""

    NOTHING = auto()  # it is new, or no table was ever made in it
    CURRENT = auto()
    OLDER = auto()  # to be migrated; there is room for that


@frozen(kw_only=True, eq=False)
class DataFolder:
    """An open folder, and the lock on it, for as long as this process lives.

    The lock is that of the descriptor. It is closed in a child process, unless that gets it by `pass_fds`: then the
    folder stays locked until the child has ended, too.
    """

    path: Path
    descriptor: int

    @property
    def database(self) -> Path:
        """Its path."""
        return self.path / DATABASE

    def free(self) -> int:
        """Bytes that can still be written to its disk by this user."""
        found = os.fstatvfs(self.descriptor)
        return found.f_bavail * found.f_frsize

    def examine(self, application: int, version: int) -> Existing:
        """Says what SQLite would find, by the header of the file. If there is none it is made: nobody else may read it.

        Only before the database is opened for the first time in this process: to close a file gives up all locks that
        the process has on it, and SQLite would not know. A version may also stand in the log alone, until that is
        written back: who opens the database asks for `application_id` and `user_version` again. Raises Refusal.
        """
        where = str(self.database)
        try:
            descriptor = os.open(self.database, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            try:
                header = os.read(descriptor, HEADER_BYTES)
            finally:
                os.close(descriptor)
        except OSError as error:
            do = "Give the file to the user who runs Delayer, or put the right one in its place"
            raise Refusal(what=f"The database cannot be opened: {error.strerror}", where=where, do=do) from None
        log = self._size("-wal")  # it may be there without the file
        found = judge(header, application, version, where=where, log=log, is_interrupted=self._size("-journal") > 0)
        if found is Existing.OLDER:
            check_room(self.size(), self.free(), where)
        return found

    def keep_copy(self, connection: sqlite3.Connection, version: int) -> Path:
        """Copies the database of an older version before it is migrated, in the place of a former copy of that version.

        The connection has no transaction. Raises sqlite3.Error and OSError.
        """
        kept = self.path / f"{DATABASE}.version-{version}"
        fresh = self.path / f"{kept.name}.new"
        fresh.unlink(missing_ok=True)
        fresh.touch(mode=0o600)
        connection.execute("VACUUM INTO ?", (str(fresh),))
        _sync(fresh)
        fresh.replace(kept)
        os.fsync(self.descriptor)
        return kept

    def close(self) -> None:
        """Gives up the lock, unless a child has the descriptor, too."""
        with suppress(OSError):
            (self.path / PROCESS).unlink(missing_ok=True)
        os.close(self.descriptor)

    @property
    def open_to(self) -> int:
        """The rights that others than its user have, as a mode; 0: none."""
        return os.fstat(self.descriptor).st_mode & OTHERS

    def size(self) -> int:
        """Bytes of the database, with its log."""
        return self._size("") + self._size("-wal")

    def _size(self, suffix: str) -> int:
        path = self.path / f"{DATABASE}{suffix}"
        return path.stat().st_size if path.exists() else 0


def open_folder(path: Path, kind_of: Callable[[int, Path], str] = filesystem_of) -> DataFolder:
    """Makes the folder if it is not there, for its user alone, and locks it. Raises Refusal."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise unusable(error, str(path)) from None
    try:
        if is_network(kind := kind_of(descriptor, path)):
            what = f"The data folder is on a network filesystem of the type {kind}, where no lock can be trusted"
            raise Refusal(what=what, where=str(path), do="Choose a folder on a disk of this machine")
        _lock(descriptor, path)
        try:
            _say_who(path)
        except OSError as error:
            raise unusable(error, str(path)) from None
    except BaseException:
        os.close(descriptor)
        raise
    return DataFolder(path=path, descriptor=descriptor)


def judge(
    header: bytes, application: int, version: int, *, where: str, log: int = 0, is_interrupted: bool = False
) -> Existing:
    """By the first 100 bytes of the file and the size of its log. `is_interrupted`: SQLite will restore the file first.

    Raises Refusal: it never begins empty where something was.
    """
    if is_interrupted:
        return Existing.CURRENT
    if not header and log:
        do = "Put both files of a backup in their place, or move both away to begin anew"
        raise Refusal(what="The database is empty, but its log `-wal` is not", where=where, do=do)
    if not header:
        return Existing.NOTHING
    if len(header) < HEADER_BYTES or not header.startswith(MAGIC):
        raise Refusal(what="The file is no database of SQLite", where=where, do=f"Move it away, or: {CHOOSE.lower()}")
    has_tables, its_version, its_application = (int.from_bytes(header[at : at + 4], "big") for at in (40, 60, 68))
    if not has_tables and its_application in (0, application):
        return Existing.NOTHING
    check_versions(its_application, its_version, application, version, where)
    return Existing.CURRENT if its_version == version else Existing.OLDER


def check_versions(its_application: int, its_version: int, application: int, version: int, where: str) -> None:
    """Its `application_id` and `user_version`, and ours. Raises Refusal if it is not ours, or of a newer version."""
    if its_application != application:
        raise Refusal(what="The database is that of another application", where=where, do=CHOOSE)
    if its_version > version:
        raise Refusal(
            what=f"The database has the layout {its_version}, and this version of Delayer knows {version} at most",
            where=where,
            do="Run the version of Delayer that has written it, or a newer one",
        )


def check_room(size: int, free: int, where: str) -> None:
    """Whether a database of this size can be migrated: a copy is kept, and all may be written anew. Raises Refusal."""
    if free < 2 * size:
        raise Refusal(
            what=f"To migrate the database takes {2 * size // 10**6 + 1} MB of free space; there are {free // 10**6}",
            where=where,
            do="Make room on this disk; nothing was changed",
        )


def unusable(error: OSError, path: str) -> Refusal:
    """Why a folder cannot be the data folder."""
    match error.errno:
        case errno.ENOTDIR | errno.EEXIST:
            return Refusal(what="The data folder is not a folder", where=path, do=CHOOSE)
        case errno.EACCES | errno.EPERM | errno.EROFS:
            do = "Give it to the user who runs Delayer, or choose another folder"
            return Refusal(what="The data folder cannot be written", where=path, do=do)
    return Refusal(what=f"The data folder cannot be used: {error.strerror}", where=path, do=CHOOSE)


def write_durably(path: Path, text: str) -> None:
    """Writes a small file for this user alone, whole or not at all. It is on the disk when this returns."""
    fresh = path.with_name(f"{path.name}.new")
    fresh.unlink(missing_ok=True)
    try:
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(text)
        _sync(fresh)
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)
    _sync(path.parent)


def _lock(descriptor: int, path: Path) -> None:
    try:
        flock(descriptor, LOCK_EX | LOCK_NB)
    except BlockingIOError:
        who = f", process {pid}," if (pid := _pid(path)) else ""
        do = "Stop that one first, or choose another folder"
        raise Refusal(what=f"Another engine{who} runs on this folder", where=str(path), do=do, status=1) from None
    except OSError as error:
        raise Refusal(what=f"The data folder cannot be locked: {error.strerror}", where=str(path), do=CHOOSE) from None


def _say_who(path: Path) -> None:
    """It is no error if the disk is full: the engine begins then, restricted. So no former process may be named."""
    (path / PROCESS).unlink(missing_ok=True)
    try:
        write_durably(path / PROCESS, f"{os.getpid()}\n")
    except OSError as error:
        if error.errno not in FULL:
            raise


def _pid(path: Path) -> int | None:
    with suppress(OSError, ValueError):
        return int((path / PROCESS).read_text())
    return None


def _sync(path: Path) -> None:
    """Until the content of a file, or the names in a folder, are on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
