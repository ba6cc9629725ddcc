"""`make local`: the engine, and beside it a receiver that shows what arrives and ends with the engine."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from attrs import define, field

from local.engine import BESIDE
from local.stack.ports import free_port
from tests.cfn import ROOT

SECONDS = 60  # a machine may be busy


@define
class Terminal:
    """The command, and the lines that it has printed."""

    process: subprocess.Popen[str]
    port: int
    lines: list[str] = field(factory=list)
    reader: threading.Thread = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self) -> None:
        """Until everybody who could print has ended."""
        assert self.process.stdout
        for line in self.process.stdout:
            self.lines.append(line)

    def until(self, pattern: str) -> str:
        """The first line that has it."""
        deadline = time.monotonic() + SECONDS
        ended = False
        while not ended and time.monotonic() < deadline:
            time.sleep(0.02)
            ended = not self.reader.is_alive()
            for line in list(self.lines):
                if re.search(pattern, line):
                    return line
        raise AssertionError(f"No line has {pattern!r}: {self.lines}")


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    port = free_port()
    command = [sys.executable, "-m", "local.engine", "--port", str(port), "--data", str(tmp_path / "data")]
    environment = {**os.environ, "PYTHONPATH": "shared:client", "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    shown = Terminal(process, port)
    try:
        yield shown
        shown.reader.join(SECONDS)
        assert not shown.reader.is_alive(), "the receiver has not ended"
    finally:
        process.kill()
        process.wait()


def test_it_shows_what_arrives_and_ends_whole(terminal: Terminal) -> None:
    """The request is shown with its signature. SIGTERM reaches the engine alone, and the receiver ends, too."""
    terminal.until("Console: ")
    said = "".join(terminal.lines)
    assert said.index("Delayer serves") < said.index("are shown below"), "nobody is invited before it answers"
    hello = {"type": "http-request", "url": f"http://127.0.0.1:{terminal.port + BESIDE}/hello"}
    body = {"delaySeconds": 0, "action": hello, "payload": {"order": 17}}
    url = f"http://127.0.0.1:{terminal.port}"
    assert httpx.post(f"{url}/schedules", json=body).status_code == 201
    assert "signature verified) POST /hello" in terminal.until("/hello .*17")
    assert httpx.get(f"{url}/console").status_code == 200
    terminal.process.terminate()
    assert terminal.process.wait(SECONDS) == 0


def test_an_engine_that_is_killed_takes_the_receiver_with_it(terminal: Terminal) -> None:
    terminal.until("Delayer serves")
    terminal.process.send_signal(signal.SIGKILL)
    terminal.process.wait(SECONDS)


def test_a_port_in_use_is_named(terminal: Terminal, tmp_path: Path) -> None:
    """Before anything is made. It may be free later: status 1."""
    terminal.until("Delayer serves")
    command = [sys.executable, "-m", "local.engine", "--port", str(terminal.port), "--data", str(tmp_path / "another")]
    second = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=SECONDS)
    terminal.process.terminate()
    assert second.returncode == 1
    assert f"Port {terminal.port} cannot be used" in second.stderr
    assert not (tmp_path / "another").exists()
