"""`make local KEEP=1` as a user has it: Ctrl-C saves, a kill does not, and what cannot be used is refused."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.cfn import ROOT
from tests.e2e.local.ports import three_free

pytestmark = pytest.mark.thorough

SERVES = "Delayer serves"
SECONDS = 120


@pytest.fixture
def port() -> Iterator[int]:
    """One whose two neighbours are free."""
    port = three_free()
    yield port
    shutil.rmtree(ROOT / ".local" / str(port), ignore_errors=True)


class Run:
    """The command, and what it has printed."""

    def __init__(self, port: int, *more: str) -> None:
        command = [sys.executable, "-m", "local", "--port", str(port), "--no-demo", *more]
        self.process = subprocess.Popen(
            command,
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={"PYTHONUNBUFFERED": "1"},
        )
        self.text = ""

    def until(self, text: str) -> str:
        """All that was printed until then."""
        assert self.process.stdout
        for line in self.process.stdout:
            self.text += line
            if text in line:
                return self.text
        raise AssertionError(self.text)

    def end(self, number: signal.Signals) -> tuple[int, str]:
        """The exit code after a signal, and the rest."""
        self.process.send_signal(number)
        text, _ = self.process.communicate(timeout=SECONDS)
        return self.process.returncode, text


def state_of(port: int) -> Path:
    return ROOT / ".local" / str(port) / "state"


def test_ctrl_c_saves_and_a_kill_says_what_it_has_lost(port: int) -> None:
    """It takes half a minute: a stack starts three times."""
    first = Run(port, "--keep")
    first.until("a kill saves nothing")
    code, text = first.end(signal.SIGKILL)
    second = Run(port, "--keep")
    text = second.until("a kill saves nothing")
    assert "was killed (its last sign of life" in text
    assert "everything that was scheduled, changed, cancelled or fired in that time is lost." in text
    code, text = second.end(signal.SIGINT)
    assert code == 0, text
    assert f"Saved in .local/{port}/state:" in text
    file = state_of(port) / "saved.json"
    manifest, contents = file.read_bytes().split(b"\n", 1)
    file.write_bytes(json.dumps({**json.loads(manifest), "delayer": "99.0.0"}).encode() + b"\n" + contents)
    before = file.read_bytes()
    refused = subprocess.run(
        [sys.executable, "-m", "local", "--port", str(port), "--keep"], cwd=ROOT, capture_output=True, text=True
    )
    assert refused.returncode == 1
    assert "cannot be used: Delayer 99.0.0 has saved it" in refused.stderr
    assert "KEEP=1 PORT=9090" in refused.stderr
    assert file.read_bytes() == before
    without = Run(port)
    assert "only KEEP=1 uses it" in without.until(SERVES)
    code, text = without.end(signal.SIGTERM)
    assert (code, "Stopped. Nothing was saved." in text) == (0, True)
    assert file.read_bytes() == before


def test_a_pipe_that_has_ended_takes_nothing_with_it(port: int) -> None:
    """Ctrl-C in `make local KEEP=1 | tee log` ends `tee`, too. It takes some seconds to start a stack."""
    run = Run(port, "--keep")
    run.until("a kill saves nothing")
    assert run.process.stdout
    run.process.stdout.close()
    run.process.send_signal(signal.SIGINT)
    assert run.process.wait(SECONDS) == 0
    assert {one.name for one in state_of(port).iterdir()} == {"lock", "saved.json"}


def test_a_terminal_that_is_closed_takes_nothing_with_it(port: int) -> None:
    """Its hangup comes twice: from the system and from the shell. What is printed then is an error.

    It takes some seconds to start a stack.
    """
    ours, theirs = os.openpty()
    command = [sys.executable, "-m", "local", "--port", str(port), "--no-demo", "--keep"]
    process = subprocess.Popen(command, cwd=ROOT, stdin=theirs, stdout=theirs, stderr=theirs, env={})
    os.close(theirs)
    shown = b""
    while b"a kill saves nothing" not in shown:
        shown += os.read(ours, 1 << 16)
    os.close(ours)
    process.send_signal(signal.SIGHUP)
    process.send_signal(signal.SIGHUP)
    process.wait(SECONDS)
    assert {one.name for one in state_of(port).iterdir()} == {"lock", "saved.json"}


def test_after_a_kill_the_older_state_is_taken_if_the_user_says_so(port: int) -> None:
    """What was waiting in it is there, and the refusal before that names a command that works.

    It takes half a minute: a stack starts three times.
    """
    first = Run(port, "--keep")
    first.until("a kill saves nothing")
    kept = post(port)
    assert first.end(signal.SIGINT)[0] == 0
    second = Run(port, "--keep")
    second.until("a kill saves nothing")
    lost = post(port)
    second.end(signal.SIGKILL)
    refused = Run(port, "--keep").until("Choose: ")
    assert f"`make local KEEP=old PORT={port}` begins with it all the same" in refused
    third = Run(port, "--keep", "old")
    text = third.until("a kill saves nothing")
    assert "was killed" in text
    assert "It begins with the state of" in text
    assert [state_at(port, one) == "scheduled" for one in (kept, lost)] == [True, False]
    assert third.end(signal.SIGTERM)[0] == 0


def post(port: int) -> str:
    """The id of a schedule that is due in an hour."""
    body = {"delaySeconds": 3600, "action": {"type": "http-request", "url": "http://127.0.0.1:9/"}}
    with httpx.Client(trust_env=False, timeout=60) as client:
        answer = client.post(f"http://127.0.0.1:{port}/schedules", json=body)
    assert answer.status_code == 201, answer.text
    schedule_id: str = answer.json()["scheduleId"]
    return schedule_id


def state_at(port: int, schedule_id: str) -> str:
    """What the API says of it. An id stays genuine when its schedule is lost: it is no longer scheduled then."""
    with httpx.Client(trust_env=False, timeout=60) as client:
        return str(client.get(f"http://127.0.0.1:{port}/schedules/{schedule_id}").json().get("state"))
