"""A door on a free port of this machine, with an engine behind it that answers from a thread of its own."""

import json
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Any

from attrs import frozen

from delayer.engines.memory import MemoryObserver
from delayer.http.answers import Response, response
from delayer.serve.door.address import Admitted
from delayer.serve.door.application import Door, WaitingCall, deliver
from delayer.serve.door.server import DoorServer, bound

SECONDS = 30.0  # that a test waits for what comes at once
LOCAL = Admitted(host="127.0.0.1", port=0, is_own=True, allow_private=True, private=())


def echo(call: WaitingCall) -> Response:
    """Returns what has come."""
    request = call.request
    seen = {"function": call.function, "route": request.route, "body": request.body.decode("latin-1")}
    more = {"query": request.query, "parameters": request.parameters, "owner": request.headers.get("delayer-owner")}
    return response(200, {**seen, **more, "address": request.caller.address, "claims": request.caller.claims})


class Engine:
    """Answers calls, all that have come at once. While it is held, none."""

    def __init__(self, answer: Callable[[WaitingCall], Response] = echo, *, is_held: bool = False) -> None:
        self.answer = answer
        self.came: SimpleQueue[WaitingCall | None] = SimpleQueue()
        self.thread = Thread(target=self.work, daemon=True)
        if not is_held:
            self.thread.start()

    def work(self) -> None:
        while (call := self.came.get(timeout=SECONDS)) is not None:
            calls = [call]
            while not self.came.empty():
                calls += [one] if (one := self.came.get()) else []
            deliver([(one, self.answer(one)) for one in calls])

    def one(self) -> WaitingCall:
        """The next call of an engine that is held."""
        call = self.came.get(timeout=SECONDS)
        assert call is not None
        return call


@frozen(kw_only=True)
class Served:
    """A door that is open."""

    door: Door
    engine: Engine
    server: DoorServer
    observer: MemoryObserver
    port: int

    def connect(self) -> "Client":
        return Client(self.port)

    def call(self, request: bytes) -> "Reply":
        """On a connection of its own."""
        with self.connect() as client:
            client.send(request)
            return client.reply()


@contextmanager
def served(
    engine: Engine | None = None,
    *,
    submit: Callable[[WaitingCall], None] | None = None,
    certificate: Path | None = None,
    key: Path | None = None,
    **settings: Any,
) -> Iterator[Served]:
    engine, observer = engine or Engine(), MemoryObserver()
    door = Door(submit or engine.came.put, observer, **settings)
    listening = bound(LOCAL)
    server = DoorServer(door, listening, certificate=certificate, key=key)
    port = listening.getsockname()[1]
    thread = Thread(target=server.run, daemon=True)
    thread.start()
    try:
        yield Served(door=door, engine=engine, server=server, observer=observer, port=port)
    finally:
        engine.came.put(None)
        server.stop()
        thread.join(SECONDS)
        assert not thread.is_alive()


@frozen(kw_only=True)
class Reply:
    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def kind(self) -> str:
        """Of a problem."""
        assert self.headers["content-type"] == "application/problem+json"
        found = self.json()
        assert found["status"] == self.status
        return str(found["type"]).removeprefix("urn:delayer:problem:")


class Client:
    """One connection, of which every byte is the test's."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=SECONDS)
        self.file = self.socket.makefile("rb")
        self.host = f"127.0.0.1:{port}"

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()
        self.socket.close()

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def reply(self) -> Reply:
        """The next answer."""
        status = int(self.file.readline().split()[1])
        headers: dict[str, str] = {}
        while line := self.file.readline().strip():
            name, _, value = line.decode("latin-1").partition(":")
            headers[name.lower()] = value.strip()
        return Reply(status=status, headers=headers, body=self.file.read(int(headers.get("content-length", "0"))))

    def is_closed(self) -> bool:
        """Whether the server closes it, and says nothing before that."""
        try:
            return self.file.read(1) == b""
        except ConnectionError:
            return True


def get(path: str, *headers: str, method: str = "GET", host: str = "localhost") -> bytes:
    return "\r\n".join((f"{method} {path} HTTP/1.1", f"Host: {host}", *headers, "", "")).encode("latin-1")


def post(path: str, body: bytes, *headers: str) -> bytes:
    return get(path, f"Content-Length: {len(body)}", *headers, method="POST") + body
