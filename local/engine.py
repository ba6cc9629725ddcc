"""`make local`: `delayer serve` with a receiver beside it, whose requests this terminal shows.

The process that was started becomes the engine, so signals and the exit status are the engine's own. The receiver is a
process of its own, because the engine should be as fast as without it; it ends when the engine has ended, however.
"""

import argparse
import json
import os
import signal
import sys
import threading
from collections.abc import Sequence
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Final, NoReturn
from urllib.parse import urlsplit

from local.arrivals import show
from local.command.demonstration import example_body
from local.command.output import allow_unread
from local.errors import EmulatorError
from local.receiver import Receiver
from local.signatures import Signatures
from local.stack.ports import refuse_used

LAST_PORT: Final = 65533  # the receiver has the second one after it
BESIDE: Final = 2  # ports further
LOOKED_EVERY: Final = 0.05  # seconds
COMMAND: Final = Path(sys.executable).with_name("delayer")


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Becomes the engine. Exits with status 1 and a sentence if a port is in use."""
    given, others = parser().parse_known_args(arguments)
    try:
        if not 1 <= given.port <= LAST_PORT:
            raise EmulatorError(f"Port {given.port} cannot be used: choose one from 1 to {LAST_PORT}.")
        for port in (given.port, given.port + BESIDE):
            refuse_used(port)
        url = f"http://127.0.0.1:{given.port}"
        end = receiver_beside(given.port + BESIDE, url)
    except EmulatorError as error:
        sys.exit(str(error))
    os.set_inheritable(end, True)
    command = [str(COMMAND), "serve", "--data", given.data, "--port", str(given.port), *others]
    os.execv(COMMAND, command)  # noqa: S606 - no shell is wanted


def parser() -> argparse.ArgumentParser:
    """The parser: all that it does not know goes to `delayer serve`."""
    parser = argparse.ArgumentParser(
        prog="python -m local.engine",
        description="Runs `delayer serve`, and beside it a receiver, which shows the requests that reach it.",
        epilog="All other options are those of `delayer serve`.",
        allow_abbrev=False,
    )
    parser.add_argument("--port", type=int, default=8080, help="of the API; the receiver has the one two further on")
    parser.add_argument("--data", default="delayer-data", help="the folder of the engine")
    return parser


def receiver_beside(port: int, api_url: str) -> int:
    """Starts it in a process of its own, which ends when nobody has the returned end of a pipe open any more."""
    reading, writing = os.pipe()
    receiver = Receiver(port)
    if os.fork():
        receiver.server.server_close()
        os.close(reading)
        return writing
    os.close(writing)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):  # the whole terminal's: the engine may need a while
        signal.signal(number, signal.SIG_IGN)
    allow_unread()
    receive(receiver, Signatures(api_url), reading)
    os._exit(0)


def receive(receiver: Receiver, signatures: Signatures, pipe: int) -> None:
    """Shows what arrives until the other end of the pipe is closed."""
    ended = threading.Event()

    def wait() -> None:
        os.read(pipe, 1)
        ended.set()
        with receiver.changed:
            receiver.changed.notify_all()

    def invite() -> None:
        while not ended.wait(LOOKED_EVERY):
            if answers(signatures.api_url):
                print(explanation(receiver, signatures.api_url), flush=True)
                return

    threading.Thread(target=wait, daemon=True, name="end").start()
    threading.Thread(target=invite, daemon=True, name="invitation").start()
    with receiver:
        show(receiver, signatures, lambda: not ended.is_set())


def answers(api_url: str) -> bool:
    """Whether the engine does: it listens before, and an invitation to what cannot begin would be a riddle."""
    address = urlsplit(api_url)
    connection = HTTPConnection(str(address.hostname), address.port, timeout=1)
    try:
        connection.request("HEAD", "/")
        connection.getresponse()
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()
    return True


def explanation(receiver: Receiver, api_url: str) -> str:
    """Tells the user what to try now."""
    return f"""
Requests to {receiver.url} are shown below. Try, in a second terminal:

  curl -i {api_url}/schedules -H 'Content-Type: application/json' \\
    -d '{json.dumps(example_body(receiver))}'

Console:  {api_url}/console   (what is due, what fired, what waits)
"""


if __name__ == "__main__":
    main()
