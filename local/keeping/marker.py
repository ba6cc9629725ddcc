"""The marker of a run that keeps its state: there while it runs, and left behind by one that was killed."""

import fcntl
import json
import os
import threading
from pathlib import Path
from typing import IO, Any, Final, Self

from attrs import asdict, frozen

from local.errors import EmulatorError
from local.keeping.commands import on_another
from local.keeping.saved import sync

FILE: Final = "running.json"
LOCK: Final = "lock"
SIGN_OF_LIFE_SECONDS: Final = 5.0


@frozen(kw_only=True)
class Marker:
    """A run says this of itself."""

    run: str
    pid: int
    began_at: int  # epoch seconds


@frozen(kw_only=True)
class Killed:
    """A run that has ended without saving."""

    marker: Marker
    alive_at: int  # its last sign of life, epoch seconds


class Lock:
    """Held by the one process that uses a state. It ends with the process, however that ends."""

    def __init__(self, file: IO[str]) -> None:
        self.file = file

    @classmethod
    def take(cls, folder: Path, port: int) -> Self:
        """EmulatorError if another process holds it."""
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o700)
        file = open_own(folder / LOCK, os.O_RDWR)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.close()
            raise EmulatorError(
                f"Another process uses the state in {folder}: stop it, or choose another port with "
                f"`{on_another(port)}`."
            ) from None
        return cls(file)

    def release(self) -> None:
        """Let another process have it."""
        self.file.close()


def open_own(file: Path, flags: int) -> IO[str]:
    """Open a file, which is made if there is none, for its user alone. One of before becomes so."""
    number = os.open(file, flags | os.O_CREAT, 0o600)
    os.fchmod(number, 0o600)
    return os.fdopen(number, "r+" if flags & os.O_RDWR else "w", encoding="utf-8")


def killed_in(folder: Path) -> Killed | None:
    """The run that was killed, if the last one was. Only who holds the lock may ask."""
    file = folder / FILE
    try:
        content: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        return Killed(marker=Marker(**content), alive_at=int(file.stat().st_mtime))
    except FileNotFoundError:
        return None
    except (ValueError, TypeError):
        since = int(file.stat().st_mtime)
        return Killed(marker=Marker(run="", pid=0, began_at=since), alive_at=since)


def put(folder: Path, marker: Marker) -> None:
    """On the disk before this returns: from now on the run may do what cannot be undone."""
    with open_own(folder / FILE, os.O_WRONLY | os.O_TRUNC) as file:
        json.dump(asdict(marker), file)
        file.flush()
        os.fsync(file.fileno())
    sync(folder)


def take_away(folder: Path) -> None:
    """The run has saved its state."""
    (folder / FILE).unlink(missing_ok=True)
    sync(folder)


class SignsOfLife:
    """A thread that gives the marker the present time, so that the next start knows until when a killed run ran."""

    def __init__(self, folder: Path, interval: float = SIGN_OF_LIFE_SECONDS) -> None:
        self.folder = folder
        self.interval = interval
        self.stopped = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True, name="signs-of-life")

    def start(self) -> None:
        """Start the thread."""
        self.thread.start()

    def stop(self) -> None:
        """End it."""
        self.stopped.set()

    def run(self) -> None:
        """One sign per interval."""
        while not self.stopped.wait(self.interval):
            try:
                os.utime(self.folder / FILE)
            except FileNotFoundError:  # somebody has deleted the folder
                return
