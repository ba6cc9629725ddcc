"""The console beside the API: imported with the first request of it, and with no other."""

import asyncio
import subprocess
import sys
from typing import Any

import pytest

from local.emulator.asgi import Message, Receive, Scope, Send
from local.emulator.console.first_request import console, is_console
from local.emulator.gateway import Gateway
from tests.cfn import ROOT


@pytest.mark.parametrize(
    ("path", "expected"),
    [("/console", True), ("/console/", True), ("/console/series", True), ("/consoles", False), ("/schedules", False)],
)
def test_its_paths_are_those_below_console(path: str, expected: bool) -> None:
    assert is_console(path) is expected


def test_the_emulator_starts_without_it() -> None:
    """What it needs takes a second to import."""
    program = "import sys, local.emulator.__main__; print(*(name.partition('.')[0] for name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) & {"delayer_client", "starlette", "jinja2", "httpx"} == set()


def answered(path: str, headers: dict[str, str], has_console: bool = True) -> int:
    """The status of a GET at the API's port."""
    sent: list[Message] = []

    async def emulator(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 204, "headers": []})

    async def receive() -> Message:
        return {"type": "http.request", "body": b""}

    async def send(message: Message) -> None:
        sent.append(message)

    scope: Any = {
        "type": "http",
        "method": "GET",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        "server": ("127.0.0.1", 8080),
    }
    gateway = Gateway(emulator, console=console(8080) if has_console else None)
    gateway.api_id = "api"
    asyncio.run(gateway(scope, receive, send))
    return int(sent[0]["status"])


LINK = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}


def test_a_link_opens_the_console_and_nothing_of_the_api() -> None:
    assert answered("/console", {"host": "localhost:8080", **LINK}) == 200
    assert answered("/schedules", {"host": "localhost:8080", **LINK}) == 403


def test_another_name_opens_neither() -> None:
    assert answered("/console", {"host": "evil.example"}) == 403
    assert answered("/schedules", {"host": "evil.example"}) == 403


def test_without_a_console_its_path_is_one_of_the_api() -> None:
    assert answered("/console", {"host": "localhost:8080"}, has_console=False) == 204
