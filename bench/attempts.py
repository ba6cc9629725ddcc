"""The processor time of one attempt of http-request, over a new connection and over a kept one (ADR 0178).

Run as `python -m bench.attempts`, or with another number of attempts for each figure: `python -m bench.attempts 300`.
The target is a process of its own on this machine, so that only the side of Delayer is counted.
"""

import os
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any, Final

from delayer.actions.rules.model import Done, Message
from delayer.targets.http_request import HttpTarget, Request
from local.emulator.access.certificate import Certificate, certificate_in

ATTEMPTS: Final = 1000
ROUNDS: Final = 5  # of each; the median counts
ANSWER: Final = b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 12\r\n\r\n{"ok": true}'


def serve(*certificate: str) -> None:
    """Answers every request until its input ends. The first line that it prints is its port."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        print(listening.getsockname()[1], flush=True)
        context = None
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
        threading.Thread(target=accept, args=(listening, context), daemon=True).start()
        sys.stdin.read()


def accept(listening: socket.socket, context: ssl.SSLContext | None) -> None:
    """Each connection in a thread."""
    while True:
        accepted, _ = listening.accept()
        threading.Thread(target=answer, args=(accepted, context), daemon=True).start()


def answer(accepted: socket.socket, context: ssl.SSLContext | None) -> None:
    """Every request, which comes in one piece."""
    with suppress(OSError):
        served = context.wrap_socket(accepted, server_side=True) if context else accepted
        while served.recv(65_536):
            served.sendall(ANSWER)
        served.close()


@contextmanager
def target(own: Certificate | None = None) -> Iterator[str]:
    """The URL of a server; with a certificate it speaks TLS."""
    files = [str(own.certificate), str(own.key)] if own else []
    command = [sys.executable, "-m", "bench.attempts", "serve", *files]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin
        assert process.stdout
        port = process.stdout.readline().strip()
        yield f"http{'s' if own else ''}://127.0.0.1:{port}/hook"
        process.stdin.close()


def microseconds(url: str, attempts: int, *, is_kept: bool) -> float:
    """Of the processor, for one attempt."""
    http = HttpTarget(allow_private=True, resolve=lambda host, _port: [host])
    request = Request(url=url, method="POST", headers={}, timeout=10)
    fields: dict[str, Any] = {"owner": "o", "point_in_time": 0, "attempt": 1, "has_next": is_kept}
    message = Message[None](action=None, payload='{"order": 17}', schedule_id="id", **fields)
    assert http.send(request, message) == Done("HTTP 200")
    began = process_time()
    for _ in range(attempts):
        http.send(request, message)
    return (process_time() - began) / attempts * 1_000_000


def main(attempts: int = ATTEMPTS) -> None:
    """Prints what it has measured, the four by turns."""
    with tempfile.TemporaryDirectory() as folder:
        own = certificate_in(Path(folder))
        os.environ["SSL_CERT_FILE"] = str(own.certificate)
        with target() as http, target(own) as https:
            print("microseconds of processor time for an attempt: new connection, kept connection")
            for url in (http, https):
                taken = [
                    [microseconds(url, attempts, is_kept=is_kept) for is_kept in (False, True)] for _ in range(ROUNDS)
                ]
                new, kept = (median(figures) for figures in zip(*taken, strict=True))
                print(f"{url.partition(':')[0]:6}{new:8.0f}{kept:8.0f}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["serve"]:
        serve(*sys.argv[2:])
    else:
        main(*map(int, sys.argv[1:2]))
