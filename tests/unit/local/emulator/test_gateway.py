"""The API's port reaches the stack's HTTP API; requests of web pages are refused."""

import asyncio
import json
from typing import Any

import pytest

from local.emulator.asgi import Message, Receive, Scope, Send, respond
from local.emulator.gateway import Gateway

API, AWS = 8080, 8081


class Recorded:
    """An ASGI application that keeps the scopes it was called with."""

    def __init__(self) -> None:
        self.scopes: list[Scope] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.scopes.append(scope)
        await respond(send, 200, "reached")


def scope_of(port: int, path: str = "/schedules", method: str = "POST", **headers: str) -> Scope:
    pairs = [(name.encode(), value.encode()) for name, value in {"host": f"localhost:{port}", **headers}.items()]
    return {"type": "http", "method": method, "path": path, "server": ("127.0.0.1", port), "headers": pairs}


def call(gateway: Gateway, scope: Scope, body: bytes = b"") -> int:
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": body}

    async def send(message: Message) -> None:
        sent.append(message)

    asyncio.run(gateway(scope, receive, send))
    status: int = sent[0]["status"]
    return status


@pytest.fixture
def emulator() -> Recorded:
    return Recorded()


@pytest.fixture
def gateway(emulator: Recorded) -> Gateway:
    return Gateway(emulator, API)


def test_the_api_is_unavailable_until_the_stack_is_there(gateway: Gateway, emulator: Recorded) -> None:
    assert call(gateway, scope_of(API)) == 503
    assert emulator.scopes == []


def test_the_apis_port_is_rewritten_once_the_api_is_known(gateway: Gateway, emulator: Recorded) -> None:
    assert call(gateway, scope_of(AWS, "/_local/api", "PUT"), json.dumps({"apiId": "abc"}).encode()) == 200
    assert call(gateway, scope_of(API, "/schedules/a b")) == 200
    rewritten = emulator.scopes[0]
    assert rewritten["path"] == "/_aws/execute-api/abc/$default/schedules/a b"
    assert rewritten["raw_path"] == b"/_aws/execute-api/abc/$default/schedules/a%20b"


def test_requests_of_the_aws_port_are_passed_on_unchanged(gateway: Gateway, emulator: Recorded) -> None:
    scope = scope_of(AWS, "/")
    assert call(gateway, scope) == 200
    assert emulator.scopes == [scope]


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8081", "localhost.evil.example"])
def test_a_foreign_host_is_refused(gateway: Gateway, host: str) -> None:
    assert call(gateway, scope_of(AWS, host=host)) == 403


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:8081", "bucket.localhost:8081"])
def test_this_machines_names_are_served(gateway: Gateway, host: str) -> None:
    assert call(gateway, scope_of(AWS, host=host)) == 200


def test_a_web_page_cannot_use_the_emulator(gateway: Gateway) -> None:
    headers: dict[str, Any] = {"origin": "https://evil.example"}
    assert call(gateway, scope_of(AWS, **headers)) == 403
