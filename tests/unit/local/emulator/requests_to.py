"""Requests to the emulator's applications, without a server."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from attrs import frozen

from local.emulator.asgi import Application, Message, Receive, Scope, Send, body_of, respond

API, AWS = 8080, 8081


class Recorded:
    """An ASGI application that keeps the scopes it was called with, and the bodies."""

    def __init__(self) -> None:
        self.scopes: list[Scope] = []
        self.bodies: list[bytes] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.scopes.append(scope)
        self.bodies.append(await body_of(receive))
        await respond(send, 200, "reached")


@frozen(kw_only=True)
class Answer:
    """What was sent back."""

    status: int
    headers: dict[str, str]
    text: str

    @property
    def body(self) -> dict[str, Any]:
        read: dict[str, Any] = json.loads(self.text)
        return read


def scope_of(
    port: int, path: str = "/schedules", method: str = "POST", query: str = "", headers: Mapping[str, str] | None = None
) -> Scope:
    pairs = {"host": f"localhost:{port}", **(headers or {})}.items()
    encoded = [(name.encode(), value.encode()) for name, value in pairs]
    address = {"path": path, "query_string": query.encode(), "server": ("127.0.0.1", port)}
    return {"type": "http", "method": method, "headers": encoded, **address}


def ask(application: Application, scope: Scope, body: bytes = b"") -> Answer:
    sent = messages_of(application, scope, body)
    headers = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return Answer(status=sent[0]["status"], headers=headers, text=sent[1]["body"].decode())


def messages_of(application: Application, scope: Scope, body: bytes = b"") -> list[Message]:
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": body}

    async def send(message: Message) -> None:
        sent.append(message)

    async def served() -> None:
        await application(scope, receive, send)

    asyncio.run(served())
    return sent
