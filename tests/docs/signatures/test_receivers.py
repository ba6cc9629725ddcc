"""The receivers on the page about signatures, run as they stand there, and called by the function itself."""

import http.client
import json
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

from delayer.actions.rules.model import Done, Refused, Result
from delayer.engines.memory import ManualClock
from delayer.schedule.instants import MINUTE
from delayer.signing.rules import OVERLAP
from delayer.signing.sign import OwnSecrets, Sign
from delayer.wiring.build import build
from local.stack.ports import free_port
from tests.cfn import ROOT
from tests.samples import NOW, OWNER, an_executor_message, an_id
from tests.unit.targets.apps import app_of
from tests.world import World

PAGE = (ROOT / "docs/use/signatures.md").read_text()
LANGUAGES = ("python", "javascript", "go")
START_SECONDS = 20


def receiver_in(language: str) -> str:
    """The one block of this language on the page."""
    [block] = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    return str(block)


def command_for(language: str, folder: Path) -> list[str]:
    """Skips the test if the language is not on this machine."""
    match language:
        case "python":
            (folder / "receiver.py").write_text(receiver_in(language))
            return [sys.executable, "receiver.py"]
        case "javascript":
            (folder / "receiver.mjs").write_text(receiver_in(language))
            return [needed("node"), "receiver.mjs"]
        case _:
            (folder / "receiver.go").write_text(receiver_in(language))
            subprocess.run([needed("go"), "build", "-o", "receiver", "receiver.go"], cwd=folder, check=True)
            return ["./receiver"]


def needed(program: str) -> str:
    found = shutil.which(program)
    if found is None:
        pytest.skip(f"{program} is not on this machine")
    return found


@frozen
class Stack:
    """A world by the clock on the wall, and a receiver."""

    world: World
    port: int
    printed: Path

    def send(self, payload: str, owner: str = OWNER, due: int = NOW, **action: Any) -> Result:
        """One attempt of the function."""
        app = app_of("http-request")
        app.handler.sign = build(Sign, self.world.ports("executor-http-request"))
        url = f"http://127.0.0.1:{self.port}/hook"
        text = json.dumps({"type": "http-request", "url": url, **action})
        message = an_executor_message(due, action=text, payload=payload, owner=owner)
        result: Result = app.handler.target(message)
        return result


@contextmanager
def running(language: str, folder: Path, world: World) -> Iterator[Stack]:
    port = free_port()
    secret = build(OwnSecrets, world.ports("api")).show(OWNER).current
    environment = {"SIGNING_SECRET": secret, "PORT": str(port), "PATH": "/usr/bin:/bin", "HOME": str(folder)}
    printed = folder / "printed"
    command = command_for(language, folder)
    with printed.open("w") as output, subprocess.Popen(command, cwd=folder, env=environment, stdout=output) as process:
        try:
            wait_until_open(port, process)
            yield Stack(world, port, printed)
        finally:
            process.terminate()


def wait_until_open(port: int, process: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        assert process.poll() is None, "it has ended"
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.02)
        else:
            return
    raise AssertionError("it does not listen")


@pytest.fixture(scope="module", params=LANGUAGES)
def stack(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    world = World()
    world.clock = ManualClock(time.time_ns() // 1_000_000)
    with pytest.MonkeyPatch.context() as patch, running(request.param, tmp_path_factory.mktemp("r"), world) as stack:
        patch.setenv("ALLOW_PRIVATE_TARGETS", "true")
        yield stack


@pytest.fixture(autouse=True)
def _by_the_clock_on_the_wall(stack: Stack) -> None:
    stack.world.clock.at = time.time_ns() // 1_000_000


@pytest.mark.parametrize("payload", ['{"order": 17}', "", '"\u00e4 \U0001f600 \u2028"', " [1.0e2,\n 1.00] "], ids=ascii)
def test_it_takes_what_is_signed(stack: Stack, payload: str) -> None:
    assert stack.send(payload) == Done("HTTP 204")


def test_it_handles_a_schedule_once(stack: Stack) -> None:
    before = stack.printed.read_text().count("once")
    due = NOW + MINUTE
    assert an_id(due) != an_id(NOW)
    for _ in range(3):
        assert stack.send('"once"', due=due) == Done("HTTP 204")
    assert stack.printed.read_text().count("once") == before + 1


def test_it_refuses_a_request_for_another_owner(stack: Stack) -> None:
    assert stack.send("{}", owner="another") == Refused("HTTP 401")


@pytest.mark.parametrize("minutes", [-6, 6])
def test_it_refuses_what_is_old_or_from_the_future(stack: Stack, minutes: int) -> None:
    stack.world.clock.move(minutes * MINUTE)
    assert stack.send("{}") == Refused("HTTP 401")


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"webhook-id": "a", "webhook-timestamp": "0", "webhook-signature": "v1,AAAA"},
        {"webhook-id": "a", "webhook-timestamp": "now", "webhook-signature": "v1"},
        {"webhook-id": "a", "webhook-timestamp": "{now}", "webhook-signature": ""},
        {"webhook-id": "a", "webhook-timestamp": "{now}", "webhook-signature": "v1"},
        {"webhook-id": "a", "webhook-timestamp": "{now}", "webhook-signature": "v1,"},
        {"webhook-id": "a", "webhook-timestamp": "{now}", "webhook-signature": "v1,!!!!,v1"},
        {"webhook-id": "a", "webhook-timestamp": "{now}", "webhook-signature": "v2,AAAA v1a,AAAA"},
        {"webhook-id": "a", "webhook-timestamp": "{now}", "webhook-signature": "v1," + "A" * 43 + "="},
    ],
    ids=str,
)
def test_it_refuses_what_is_forged(stack: Stack, headers: dict[str, str]) -> None:
    """And lives on."""
    sent = {name: value.replace("{now}", str(int(time.time()))) for name, value in headers.items()}
    connection = http.client.HTTPConnection("127.0.0.1", stack.port, timeout=10)
    connection.request("POST", "/hook", b"{}", sent)
    assert connection.getresponse().status == 401
    connection.close()
    assert stack.send("{}") == Done("HTTP 204")


def test_z_it_takes_what_comes_after_a_rotation(stack: Stack) -> None:
    """With the old secret, which signs, too. The name of this test makes it the last one."""
    build(OwnSecrets, stack.world.ports("api")).rotate(OWNER, OVERLAP)
    assert stack.send("{}") == Done("HTTP 204")
