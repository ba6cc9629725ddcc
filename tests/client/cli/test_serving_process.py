"""The real process of `delayer serve`: it answers, fires, ends when it is told to, and finds everything again."""

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread, Timer
from typing import Final

import pytest
from attrs import define, field

from delayer_client import Delayer, HttpRequest
from delayer_client.operator import OperatorEngine
from tests.cfn import ROOT

GREETING: Final = r"Delayer serves (http://127\.0\.0\.1:\d+); its data is in (.*)\. Ctrl-C ends it\.\n"
LONGEST: Final = 60.0  # seconds that a process may live
SECONDS: Final = 20.0  # that a test waits for what comes soon


@define(slots=False)
class Target:
    """Answers at once, but below /slow only when it may."""

    reached: list[str] = field(factory=list)
    is_reached: Event = field(factory=Event)
    may_answer: Event = field(factory=Event)

    def __attrs_post_init__(self) -> None:
        target = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                target.reached.append(self.path)
                target.is_reached.set()
                if self.path == "/slow":
                    target.may_answer.wait(SECONDS)
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        Thread(target=self.server.serve_forever, daemon=True).start()

    def at(self, path: str) -> HttpRequest:
        return HttpRequest(url=f"http://127.0.0.1:{self.server.server_port}{path}")

    def wait(self) -> None:
        assert self.is_reached.wait(SECONDS)
        self.is_reached.clear()


@pytest.fixture
def target() -> Iterator[Target]:
    made = Target()
    yield made
    made.may_answer.set()
    made.server.shutdown()
    made.server.server_close()


@define
class Served:
    """A process that serves."""

    process: subprocess.Popen[str]
    client: Delayer

    def ends(self) -> tuple[int, str]:
        """Its exit status, and what else it has said."""
        out, err = self.process.communicate(timeout=SECONDS)
        return self.process.returncode, out + err


@contextmanager
def serving(folder: Path) -> Iterator[Served]:
    """Nothing of it is left behind, whatever a test has come to."""
    command = [sys.executable, "-m", "delayer_client.cli", "serve", "--data", str(folder), "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT)
    bound = Timer(LONGEST, process.kill)  # its output ends then, whoever waits for it
    bound.start()
    try:
        assert process.stdout
        greeting = process.stdout.readline()
        found = re.fullmatch(
            r"Delayer serves (http://127\.0\.0\.1:\d+); its data is in (.*)\. Ctrl-C ends it\.\n", greeting
        )
        assert found, greeting or (process.stderr and process.stderr.read())
        assert found[2] == str(folder)
        with Delayer(found[1]) as client:
            yield Served(process, client)
    finally:
        bound.cancel()
        process.kill()
        process.wait()


def test_it_fires_ends_and_goes_on(tmp_path: Path, target: Target) -> None:
    """It takes some seconds: two processes, an attempt that is waited for, and a schedule that is due a second later.

    The port answers as soon as that is said, an attempt under way at SIGTERM is waited for, and the next life knows
    all schedules.
    """
    folder = tmp_path / "data"
    with serving(folder) as first:
        client = first.client
        client.schedule(target.at("/near"), delay=timedelta(milliseconds=100))
        target.wait()
        far = client.schedule(target.at("/far"), delay=timedelta(days=2))
        slow = client.schedule(target.at("/slow"), delay=timedelta(milliseconds=100))
        target.wait()
        operator = OperatorEngine(folder)
        status = operator.status()
        assert (status["waiting"], status["underWay"], status["process"]) == (1, 1, first.process.pid)
        assert sum(one["number"] for one in status["lateness"]) == 1
        assert operator.flow.list()["suspensions"] == []
        first.process.send_signal(signal.SIGTERM)
        assert first.process.stdout
        assert first.process.stdout.readline().startswith("1 attempt is under way: waiting, 30 s at most.")
        target.may_answer.set()
        assert first.ends() == (0, "")
    with serving(folder) as second:
        client = second.client
        assert client.get(slow.id).state == "executed"
        assert client.get(far.id).state == "scheduled"
        after = OperatorEngine(folder).status()
        assert (after["waiting"], after["life"] - status["life"]) == (1, 1)
        client.schedule(target.at("/near"), delay=timedelta(milliseconds=100))
        target.wait()
        second.process.send_signal(signal.SIGINT)
        assert second.ends() == (0, "")
    assert target.reached == ["/near", "/slow", "/near"]
    assert not (folder / "control.sock").exists()


def test_a_second_ctrl_c_waits_for_nothing_and_a_second_engine_says_who_runs(tmp_path: Path, target: Target) -> None:
    """It takes some seconds: what is cut off is attempted again by the next process, with the same key."""
    with serving(tmp_path) as first:
        first.client.schedule(target.at("/slow"), delay=timedelta(milliseconds=100))
        target.wait()
        command = [sys.executable, "-m", "delayer_client.cli", "serve", "--data", str(tmp_path), "--port", "0"]
        other = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False, cwd=ROOT)
        assert (other.returncode, other.stdout) == (1, "")
        assert other.stderr.startswith(f"Another engine, process {first.process.pid}, runs on this folder")
        first.process.send_signal(signal.SIGINT)
        assert first.process.stdout
        assert first.process.stdout.readline().startswith("1 attempt is under way")
        first.process.send_signal(signal.SIGINT)
        assert first.ends() == (130, "")
    with serving(tmp_path) as second:
        target.wait()
        target.may_answer.set()
        second.process.send_signal(signal.SIGTERM)
        assert second.ends()[0] == 0
    assert target.reached == ["/slow", "/slow"]
