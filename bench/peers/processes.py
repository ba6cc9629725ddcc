"""Programs of other schedulers: each in a session of its own, and ended by its id with all that it has started."""

import json
import os
import pwd
import signal
import subprocess
import threading
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from bench.peers.contender import Unavailable
from local.project import PROJECT

PASSED_ON = ("PATH", "LANG", "LC_ALL", "HOME")
PROC = Path("/proc")
MEGABYTE_KB = 1024


class Program:
    """A program in a session of its own, with its log in a file."""

    def __init__(
        self,
        command: Sequence[str],
        log: Path,
        variables: Mapping[str, str] | None = None,
        *,
        folder: Path = PROJECT,
        user: str | None = None,
    ) -> None:
        """It starts in this folder; as another user only if root asks for it."""
        self.log = log
        self.lock = threading.Lock()
        with log.open("ab") as file:
            self.process = subprocess.Popen(
                command,
                cwd=folder,
                env={name: os.environ[name] for name in PASSED_ON if name in os.environ} | dict(variables or {}),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=file,
                start_new_session=True,
                text=True,
                **as_user(user),
            )

    def ask(self, do: str, **arguments: Any) -> Any:
        """A command, and its answer; Unavailable if the program has ended."""
        with self.lock:
            try:
                self.write(json.dumps({"do": do, **arguments}))
            except OSError:
                raise self.ended() from None
            return self.answer()

    def write(self, line: str) -> None:
        """One line to its standard input."""
        assert self.process.stdin
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def answer(self) -> Any:
        """The next line from its standard output; Unavailable if there is none."""
        assert self.process.stdout
        line = self.process.stdout.readline()
        if not line:
            raise self.ended()
        return json.loads(line)

    def ended(self) -> Unavailable:
        """Why: the last line of its log."""
        lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines()
        said = next((line.strip() for line in reversed(lines) if line.strip()), "it logged nothing")
        return Unavailable(f"{self.log.stem} has ended: {said}")

    def stop(self, how: signal.Signals, seconds: float) -> None:
        """Ask it by a signal to end, and end it with SIGKILL if it has not within this time."""
        if self.process.poll() is None:
            self.process.send_signal(how)
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(seconds)
        self.kill()

    def kill(self) -> None:
        """End it with SIGKILL, and all processes of its session; a second call does nothing."""
        if self.process.poll() is None:
            family = [number for number, _ in session_of(self.process.pid)]
            os.killpg(self.process.pid, signal.SIGKILL)
            for number in family:  # of other groups
                with suppress(ProcessLookupError):
                    os.kill(number, signal.SIGKILL)
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            if stream:
                with suppress(OSError):
                    stream.close()


def as_user(name: str | None) -> dict[str, Any]:
    """What `subprocess` is told to run a program as this user, without the groups of this process."""
    return {"user": name, "group": pwd.getpwnam(name).pw_gid, "extra_groups": ()} if name else {}


def session_of(leader: int) -> list[tuple[int, int]]:
    """The processes of a session, each with its parent."""
    return [(number, parent) for number, parent, session in processes() if session == leader]


def processes() -> list[tuple[int, int, int]]:
    """All that have not ended, each with its parent and its session. Linux says; elsewhere there are none."""
    found = []
    for entry in PROC.glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = entry.read_text().rpartition(")")[2].split()  # state, parent, group, session, …
            if fields[0] != "Z":
                found.append((int(entry.parent.name), int(fields[1]), int(fields[3])))
    return found


def children_of(number: int) -> list[int]:
    """The processes that this one has started, also those that have made sessions of their own."""
    return [child for child, parent, _ in processes() if parent == number]


def workers_of(leader: int) -> list[int]:
    """The processes that do the work: they have no children, and their parent is not the leader."""
    family = session_of(leader)
    parents = {parent for _, parent in family}
    return [number for number, parent in family if number not in parents and parent not in (leader, os.getpid())]


def memory_mb(leaders: Iterable[int]) -> float | None:
    """Of all processes of these sessions, and of the children of their leaders. None if this machine does not say."""
    numbers = {number for leader in leaders for number in (*dict(session_of(leader)), *children_of(leader))}
    return sum(map(proportional_mb, numbers)) if numbers else None


def proportional_mb(number: int) -> float:
    """Pages that processes share are divided between them. 0 if it has ended."""
    try:
        lines = (PROC / str(number) / "smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / MEGABYTE_KB


def files_mb(files: Iterable[Path]) -> float:
    """Of those that are there."""
    return sum(file.stat().st_size for file in files if file.is_file()) / 1024**2
