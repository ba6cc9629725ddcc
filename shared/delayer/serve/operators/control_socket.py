"""The socket in the data folder, on which operators' commands come: for the user of the engine alone.

A client finds it in the folder. The path of a UNIX socket may have about a hundred bytes; below a longer path the
folder has a file instead, with the path of a socket elsewhere.
"""

import os
import socket
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import BoundedSemaphore, Thread
from typing import Final

from attrs import define, field

from delayer.serve.data.folder import write_durably

SOCKET: Final = "control.sock"
PREFIX: Final = "delayer-"  # of the folder in which it is then, which is for its user alone
ELSEWHERE: Final = "control.path"  # the file with the path of the socket, if it is not in the folder
LONGEST: Final = 103  # bytes of the path of a UNIX socket on macOS; Linux has 107
LINE: Final = 4_000_000  # bytes of a command; a policy or the body of a schedule may be in it
CONNECTIONS: Final = 16
IDLE: Final = 60.0  # seconds that a client may take from one command to the next
BUSY: Final = b'{"failed": "the engine answers as many operators as it can"}\n'


@define(kw_only=True, eq=False)
class ControlSocket:
    """One thread accepts, and each client has one. `answer` gets a line and returns one."""

    folder: Path
    answer: Callable[[bytes], bytes]
    path: Path = field(init=False)  # of the socket
    _listening: socket.socket = field(init=False)
    _is_closed: bool = field(default=False, init=False)
    _free: BoundedSemaphore = field(factory=lambda: BoundedSemaphore(CONNECTIONS), init=False)

    def open(self) -> None:
        """Takes the place of what a former life has left. Raises OSError."""
        _remove(self.folder)
        self.path = self.folder.absolute() / SOCKET
        if is_too_long(self.path):
            self.path = Path(tempfile.mkdtemp(prefix=PREFIX)) / SOCKET
            write_durably(self.folder / ELSEWHERE, f"{self.path}\n")
        self._listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._listening.bind(str(self.path))
            self.path.chmod(0o600)  # before anybody can connect
            self._listening.listen(CONNECTIONS)
        except OSError:
            self._listening.close()
            _remove(self.folder)
            raise
        Thread(target=self._accept, name="control", daemon=True).start()

    def close(self) -> None:
        """No client is accepted any more; one that has a command under way gets its answer if there is time for it."""
        self._is_closed = True
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as waking:
            waking.connect(str(self.path))  # nothing else ends an `accept` on all systems
        self._listening.close()
        _remove(self.folder)

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            if self._is_closed:
                client.close()
                return
            if self._free.acquire(blocking=False):  # here, in the order in which they come
                Thread(target=self._serve, args=(client,), name="operator", daemon=True).start()
            else:
                with client, suppress(OSError):
                    client.settimeout(0)  # nothing keeps those who come next waiting
                    client.sendall(BUSY)

    def _serve(self, client: socket.socket) -> None:
        try:
            with client, suppress(OSError):
                client.settimeout(IDLE)
                self._converse(client)
        finally:
            self._free.release()

    def _converse(self, client: socket.socket) -> None:
        """Line by line, until the client closes. One that is too long ends it."""
        with client.makefile("rb") as lines:
            while (line := lines.readline(LINE)).endswith(b"\n"):
                client.sendall(self.answer(line))


def is_too_long(path: Path) -> bool:
    """For a UNIX socket."""
    return len(os.fsencode(path)) > LONGEST


def _remove(folder: Path) -> None:
    """The socket, wherever it is. A file that names a folder of somebody else removes nothing but itself."""
    with suppress(OSError):
        (folder / SOCKET).unlink(missing_ok=True)
    elsewhere = folder / ELSEWHERE
    with suppress(OSError, ValueError):
        path = Path(elsewhere.read_text().strip())
        if path.name == SOCKET and path.parent.name.startswith(PREFIX):
            path.unlink(missing_ok=True)
            path.parent.rmdir()
    with suppress(OSError):
        elsewhere.unlink(missing_ok=True)
