"""A host that harms whoever waits for it: it accepts and never answers, refuses, or answers byte by byte."""

import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Final, Self

DRIP_SECONDS: Final = 0.5  # between two bytes
WAITING: Final = 1024  # connections that the system accepts before this program does


class BadTarget:
    """Listens on 127.0.0.1, or no more if it refuses."""

    def __init__(self, kind: str) -> None:
        self._answer: Callable[[socket.socket], None] = {"hangs": _hang, "drips": _drip}.get(kind, _hang)
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=WAITING)
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._refuses = kind == "refuses"
        self._open: list[socket.socket] = []

    def __enter__(self) -> Self:
        if self._refuses:
            self._listener.close()  # nobody else gets the port for a while, and a connection to it is refused
        else:
            threading.Thread(target=self._serve, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._listener.close()
        for connection in self._open:
            connection.close()

    def _serve(self) -> None:
        with suppress(OSError):  # closed
            while True:
                connection, _ = self._listener.accept()
                self._open.append(connection)
                threading.Thread(target=self._answer, args=(connection,), daemon=True).start()


def _hang(connection: socket.socket) -> None:
    """It reads, and says nothing."""
    with suppress(OSError):
        while connection.recv(65_536):
            pass


def _drip(connection: socket.socket) -> None:
    """An answer that never ends: each byte would begin the timeout of a socket anew."""
    with suppress(OSError):
        for byte in b"HTTP/1.1 200 OK\r\nX-Drip: " + b"x" * 10_000:
            connection.sendall(bytes([byte]))
            time.sleep(DRIP_SECONDS)
