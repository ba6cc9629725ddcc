"""A PostgreSQL of the system's packages, with its files in a temporary folder, reached by a socket in it."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from bench.peers.contender import Unavailable
from bench.peers.processes import Program, as_user, files_mb

DEBIAN = Path("/usr/lib/postgresql")  # a folder for each version; it is not on the PATH
ON_DISK = Path("/var/tmp")  # noqa: S108 - mkdtemp makes the folder; /tmp may be in memory, where a sync is free
NAME = "postgres"  # of the user, also of the system if root starts it
START_SECONDS = 60
STOP_SECONDS = 20
POLL_SECONDS = 0.05


class PostgreSql:
    """A server with its defaults, so with `fsync` and `synchronous_commit` on, and without a port."""

    def __init__(self) -> None:
        self.programs = programs()
        # It refuses to be run by root. Its package makes a user.
        self.user = NAME if os.geteuid() == 0 else None
        self.folder = Path(tempfile.mkdtemp(prefix="delayer-peers-", dir=ON_DISK))
        self.server: Program | None = None

    @property
    def address(self) -> str:
        """For its clients."""
        return f"host={self.folder} user={NAME} dbname={NAME}"

    def start(self) -> None:
        """Make its files, start it, and wait until it takes connections. Unavailable if it does not."""
        try:
            self.make_files()
            self.serve()
        except (LookupError, OSError, subprocess.SubprocessError) as error:
            raise Unavailable(f"PostgreSQL could not be started: {reason(error)}") from None

    def make_files(self) -> None:
        """A new database, of the user that the server runs as."""
        if self.user:
            shutil.chown(self.folder, self.user)
        self.run("initdb", "--auth=trust", f"--username={NAME}", "--encoding=UTF8", "--no-locale", "--pgdata=data")

    def serve(self) -> None:
        """Only at the socket, which nobody else can reach."""
        options = ("-D", "data", "-c", "listen_addresses=", "-c", f"unix_socket_directories={self.folder}")
        command = [str(self.programs / "postgres"), *options]
        self.server = Program(command, self.folder / "postgresql.log", folder=self.folder, user=self.user)
        deadline = time.monotonic() + START_SECONDS
        while self.run("pg_isready", "--quiet", f"--host={self.folder}", check=False).returncode:
            if self.server.process.poll() is not None:
                raise self.server.ended()
            if time.monotonic() > deadline:
                raise Unavailable(f"PostgreSQL took no connections within {START_SECONDS} s.")
            time.sleep(POLL_SECONDS)

    def run(self, program: str, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """One of its programs, in its folder, to the end."""
        return subprocess.run(
            [str(self.programs / program), *arguments],
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=check,
            timeout=START_SECONDS,
            **as_user(self.user),
        )

    def stop(self) -> None:
        """Its clients are cut off, as SIGINT tells it; then its files are deleted."""
        if self.server:
            self.server.stop(signal.SIGINT, STOP_SECONDS)
        shutil.rmtree(self.folder, ignore_errors=True)

    def tables_mb(self) -> float:
        """Tables and indexes. The log before them is left out: what it keeps depends on the last checkpoint."""
        return files_mb((self.folder / "data" / "base").rglob("*"))


def programs() -> Path:
    """The folder of its programs: that of the PATH, or the newest one of Debian. Unavailable if there is none."""
    if found := shutil.which("initdb"):
        return Path(found).resolve().parent  # a link leads to its folder
    folders = [one.parent for one in DEBIAN.glob("*/bin/initdb")]
    if not folders:
        raise Unavailable(
            f"PostgreSQL is not installed: initdb is neither on the PATH nor in {DEBIAN}. "
            "In Debian and Ubuntu it is the package postgresql."
        )
    return max(folders, key=version)


def version(folder: Path) -> list[int]:
    """As numbers, so that 15 is newer than 9.6."""
    return [int(part) for part in folder.parent.name.split(".") if part.isdecimal()]


def reason(error: Exception) -> str:
    """The last line of what a program said, or of the error itself."""
    said = error.stderr if isinstance(error, subprocess.CalledProcessError) else str(error)
    return ([line.strip() for line in str(said).splitlines() if line.strip()] or ["it said nothing"])[-1]
