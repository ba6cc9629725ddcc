"""Messages between the emulator, the parents and the functions' processes: a length, and JSON."""

import json
import socket
import struct
import time
from typing import Any, Final

LENGTH: Final = struct.Struct(">I")
CHUNK: Final = 1 << 16


def send(channel: socket.socket, content: Any, files: tuple[int, ...] = ()) -> None:
    """Send one message, with open files if there are some. Raises OSError if nobody receives any more."""
    send_encoded(channel, json.dumps(content).encode(), files)


def send_encoded(channel: socket.socket, body: bytes, files: tuple[int, ...] = ()) -> None:
    """The same, of what is JSON already."""
    data = LENGTH.pack(len(body)) + body
    if files:
        data = data[socket.send_fds(channel, [data], files) :]
    channel.sendall(data)


def receive(channel: socket.socket, seconds: float | None = None) -> Any:
    """The next message. Raises EOFError if there will be none, TimeoutError if none has come in this time."""
    deadline = None if seconds is None else time.monotonic() + seconds
    try:
        (length,) = LENGTH.unpack(_read(channel, LENGTH.size, deadline))
        return json.loads(_read(channel, length, deadline))
    finally:
        if deadline is not None:
            channel.settimeout(None)


def receive_with_files(channel: socket.socket) -> tuple[Any, list[int]]:
    """The next message, and the files that came with it. Raises EOFError."""
    head, files, _, _ = socket.recv_fds(channel, LENGTH.size, 8)
    head += _read(channel, LENGTH.size - len(head), None) if head else b""
    if not head:
        raise EOFError
    (length,) = LENGTH.unpack(head)
    return json.loads(_read(channel, length, None)), files


def _read(channel: socket.socket, length: int, deadline: float | None) -> bytes:
    parts = []
    while length:
        if deadline is not None:
            channel.settimeout(max(deadline - time.monotonic(), 0.001))
        part = channel.recv(min(length, CHUNK))
        if not part:
            raise EOFError
        parts.append(part)
        length -= len(part)
    return b"".join(parts)
