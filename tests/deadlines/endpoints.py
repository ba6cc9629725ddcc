"""Endpoints of AWS that do not answer, or not in time."""

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from attrs import define, field

SILENT = "silent"  # takes the request, and says nothing
TRICKLING = "trickling"  # sends headers at once, and then a byte now and then
BEGUN = b"HTTP/1.1 200 OK\r\nContent-Type: application/x-amz-json-1.0\r\nContent-Length: 100000\r\n\r\n"
PAUSE = 0.05  # seconds between two bytes: shorter than any timeout of a read


@contextmanager
def nobody() -> Iterator[int]:
    """A port of this machine that refuses every connection: it is taken, so nobody comes to listen on it."""
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        yield deaf.getsockname()[1]


@define
class Port:
    """A port of this machine that accepts every connection, and serves each in a thread."""

    connections: int = field(default=0, init=False)
    over: threading.Event = field(factory=threading.Event, init=False)
    _server: socket.socket = field(init=False, factory=lambda: socket.create_server(("127.0.0.1", 0), backlog=512))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.getsockname()[1]}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.over.set()
        self._server.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._server.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection, suppress(OSError):  # the caller may have given up
            self.serve(connection)

    def serve(self, connection: socket.socket) -> None:
        """What it does with one; the connection is closed afterwards."""
        raise NotImplementedError


@define
class Hung(Port):
    """Behaves as `mode` says."""

    mode: str = SILENT

    def serve(self, connection: socket.socket) -> None:
        if self.mode == TRICKLING:
            connection.recv(65536)
            connection.sendall(BEGUN)
        while not self.over.wait(PAUSE):
            if self.mode == TRICKLING:
                connection.sendall(b" ")


Answer = Callable[[str, str], dict[str, Any] | None]  # of an operation and a body; None: it never comes


@define
class Answering:
    """One that answers some calls in AWS's JSON, and is silent to others."""

    answer: Answer
    _over: threading.Event = field(factory=threading.Event)
    _server: Any = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        answer_to, over = self.answer, self._over

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                answer = answer_to(self.headers["X-Amz-Target"].rpartition(".")[2], body)
                if answer is None:
                    over.wait()
                    return
                content = json.dumps(answer).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/x-amz-json-1.0")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._over.set()
        self._server.shutdown()
        self._server.server_close()
