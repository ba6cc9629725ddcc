"""How the processes of a run come to the stacks that they share.

The first process that will need a stack starts its holder, before any test; the others find in a file where it is. All
of them hold a lock on a file as long as they live, and the holder waits for that lock: so it ends with the last of
them, also if they were killed.
"""

import fcntl
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any, Final

from attrs import define, field, frozen

from local.key_pair import KeyPair
from local.project import PROJECT
from local.receiver import ReceivedRequest
from local.stack.running_stack import RunningStack

LIFE: Final = "life"
REFUSING: Final = "refusing"
FAILED: Final = ".failed"  # what a stack could not start for
START_SECONDS: Final = 240  # on a machine that is busy with all the other tests


def outlive_nobody(folder: Path) -> None:
    """Ends this process when each process of the run has let go of the file, or has died: the system sees to it."""
    with (folder / LIFE).open() as life:
        fcntl.flock(life, fcntl.LOCK_EX)
    os.kill(os.getpid(), signal.SIGTERM)


def announced(folder: Path, name: str) -> Path:
    """The file that says where a stack is."""
    return folder / f"{name}.json"


def arrivals_of(folder: Path, name: str) -> Path:
    """The file with what has arrived at the holder's receiver."""
    return folder / f"{name}.arrivals"


def written(file: Path, stack: RunningStack, early: dict[str, dict[str, Any]]) -> None:
    """Says where a stack is; to this user alone, for its keys are there."""
    pair = {"access_key_id": stack.pair.access_key_id, "secret_access_key": stack.pair.secret_access_key}
    where = {"port": stack.port, "aws_port": stack.aws_port, "folder": str(stack.folder)}
    beside = file.with_suffix(".new")
    beside.write_text(json.dumps({**where, "pair": pair, "outputs": stack.outputs, "early": early}))
    beside.replace(file)


@frozen
class Arrivals:
    """What has arrived at the holder of a stack."""

    file: Path

    def of(self, path: str) -> list[ReceivedRequest]:
        """The requests for a path, in order of arrival."""
        lines = self.file.read_text(encoding="utf-8").splitlines() if self.file.exists() else []
        requests = [json.loads(line) for line in lines]
        return [ReceivedRequest(**one | {"body": one["body"].encode()}) for one in requests if one["path"] == path]

    def wait_for(self, count: int, path: str, seconds: float) -> list[ReceivedRequest]:
        """The requests for a path, once there are so many."""
        deadline = time.monotonic() + seconds
        while len(found := self.of(path)) < count:
            assert time.monotonic() < deadline, f"{len(found)} of {count} requests for {path} within {seconds} s"
            time.sleep(0.05)
        return found

    def refuse(self, refuses: bool) -> None:
        """Whether the webhook for failures is answered 503."""
        file = self.file.parent / REFUSING
        if refuses:
            file.touch()
        else:
            file.unlink(missing_ok=True)


@frozen
class Shared:
    """A stack of the run, what it was given early, and what has arrived of it."""

    stack: RunningStack
    early: dict[str, dict[str, Any]]  # by path, what the API answered
    arrivals: Arrivals


@define
class Run:
    """One process of a run of the tests."""

    folder: Path
    life: IO[str]
    holders: list["subprocess.Popen[bytes]"] = field(factory=list)  # those that this process has started

    @classmethod
    def join(cls, run_id: str) -> "Run":
        """The lock is shared, and is held until this process ends."""
        folder = Path(tempfile.gettempdir()) / f"delayer-e2e-{os.getuid()}-{run_id}"
        folder.mkdir(mode=0o700, exist_ok=True)
        life = (folder / LIFE).open("a")
        fcntl.flock(life, fcntl.LOCK_SH)
        return cls(folder, life)

    def begin(self, names: Iterable[str]) -> None:
        """Starts the holders of these stacks, but for those that another process has started."""
        with (self.folder / "beginning").open("a") as beginning:
            fcntl.flock(beginning, fcntl.LOCK_EX)
            for name in names:
                log = self.folder / f"{name}.log"
                if not log.exists():
                    self.hold(name, log)

    def hold(self, name: str, log: Path) -> None:
        """In a session of its own: what interrupts the tests does not end it in the middle of something."""
        with log.open("w") as said:
            holder = subprocess.Popen(
                [sys.executable, "-m", "tests.e2e.stacks", str(self.folder), name],
                cwd=PROJECT,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(("shared", "client", "."))},
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.holders.append(holder)

    def attach(self, name: str) -> Shared:
        """A stack, once it runs."""
        self.begin([name])
        file, failed = announced(self.folder, name), self.folder / f"{name}{FAILED}"
        deadline = time.monotonic() + START_SECONDS
        while not file.exists():
            assert not failed.exists(), failed.read_text()
            assert time.monotonic() < deadline, f"the stack {name} has not started in {START_SECONDS} s"
            time.sleep(0.05)
        found = json.loads(file.read_text())
        where = {"port": found["port"], "aws_port": found["aws_port"], "folder": Path(found["folder"])}
        stack = RunningStack(**where, pair=KeyPair(**found["pair"]), outputs=found["outputs"])
        return Shared(stack, found["early"], Arrivals(arrivals_of(self.folder, name)))
