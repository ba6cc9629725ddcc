"""The real process of `delayer serve`, on a folder of its own: as a user has it, started in a second."""

import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from threading import Condition, Thread
from typing import Final, Self

from attrs import define, field

from local.stack.ports import free_port
from tests.cfn import ROOT

READY: Final = 60.0  # seconds, on a machine that is busy with all the other tests
ENDED: Final = 40.0  # seconds: it waits 30 for its attempts
OWN: Final = ("AWS_", "DELAYER_")  # settings of whoever runs the tests

# Settings with which the actions are there whose targets are in AWS. Nobody listens there.
UNREACHED: Final[Mapping[str, str]] = {
    "AWS_REGION": "eu-west-1",
    "AWS_ACCOUNT_ID": "000000000000",
    "AWS_ENDPOINT_URL": "http://127.0.0.1:9",
    "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE",
    "AWS_SECRET_ACCESS_KEY": "secret",
}


def environment() -> dict[str, str]:
    """That of a shell in which nobody has set anything."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(OWN) and name != "COLUMNS"}
    return {**kept, "PYTHONPATH": "shared:client", "PYTHONUNBUFFERED": "1", "TZ": "UTC"}


@define
class RunningEngine:
    """The API is at `port`; `folder` has its data. All that it says is in `lines`.

    It is ended when the context is left. `kill` and `start` are the crash and the return of the same engine.
    """

    folder: Path
    port: int = field(factory=free_port)
    settings: Mapping[str, str] = field(factory=dict)  # of its environment
    lines: list[str] = field(factory=list)
    process: "subprocess.Popen[str] | None" = field(default=None, init=False)
    _said: Condition = field(factory=Condition, init=False)

    @property
    def api_url(self) -> str:
        """The address, as the engine says it."""
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Returns when it answers."""
        command = [sys.executable, "-m", "delayer_client.cli", "serve", "--data", str(self.folder)]
        self.process = subprocess.Popen(
            [*command, "--port", str(self.port)],
            cwd=ROOT,
            env={**environment(), **self.settings},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        before = len(self.lines)
        Thread(target=self._read, args=(self.process,), daemon=True).start()
        try:
            self._wait_for_greeting(before)
        except BaseException:
            self.kill()
            raise

    def _read(self, process: "subprocess.Popen[str]") -> None:
        assert process.stdout
        with process.stdout as said:
            for line in said:
                with self._said:
                    self.lines.append(line)
                    self._said.notify_all()
        with self._said:
            self._said.notify_all()

    def _wait_for_greeting(self, before: int) -> None:
        deadline = time.monotonic() + READY
        with self._said:
            while not any(line.startswith("Delayer serves") for line in self.lines[before:]):
                assert self.process
                assert self.process.poll() is None, "".join(self.lines[before:])
                assert self._said.wait(deadline - time.monotonic()), "".join(self.lines[before:])

    def stop(self) -> None:
        """As a service manager does it: what is under way comes to its end."""
        if self.process:
            self.process.terminate()
            try:
                status = self.process.wait(ENDED)
            finally:
                self.kill()
            assert status == 0, "".join(self.lines[-20:])

    def kill(self) -> None:
        """As a crash does it."""
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None
