"""`python -m local.emulator`: the emulator's process, on 127.0.0.1 only.

`local.stack.process` starts it. Its settings come from the environment, as ministack's own do: GATEWAY_PORT (the AWS
port), AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (the pair of this run, for ministack the one of its root user),
DELAYER_API_PORT, DELAYER_LOG_FOLDER, DELAYER_METERING; with a state that is kept, DELAYER_STATE_FOLDER and
DELAYER_STACK (the unique part of the stack's id).
"""

import os
import signal
import socket
import sys
import threading
from pathlib import Path

import uvicorn

from local.emulator.application import StateToKeep, application
from local.emulator.asgi import Application
from local.errors import EmulatorError
from local.key_pair import KeyPair


def end_with_parent() -> None:
    """End this process and its Lambda workers as soon as the process that started it has ended.

    That process holds the other end of standard input, so the read below returns even if it was killed by SIGKILL.
    """
    sys.stdin.buffer.read()
    os.killpg(0, signal.SIGKILL)


def server_of(app: Application) -> uvicorn.Server:
    """The HTTP server. Its parser and its event loop are written in C: here every request of AWS goes through them."""
    return uvicorn.Server(
        uvicorn.Config(
            app,
            http="httptools",
            loop="uvloop",
            ws="none",  # nothing here needs a WebSocket
            proxy_headers=False,
            timeout_keep_alive=75,
            access_log=False,
            log_level=os.environ.get("LOG_LEVEL", "WARNING").lower(),
            server_header=False,
            date_header=False,
        )
    )


def listening_at(port: int) -> socket.socket:
    """Of this machine alone. OSError if another program uses the port."""
    return socket.create_server(("127.0.0.1", port), backlog=1024)


def pair_given() -> KeyPair:
    """The pair that the starter has made."""
    return KeyPair(access_key_id=os.environ["AWS_ACCESS_KEY_ID"], secret_access_key=os.environ["AWS_SECRET_ACCESS_KEY"])


def kept_state() -> StateToKeep | None:
    """What is to be kept, if anything."""
    folder = os.environ.get("DELAYER_STATE_FOLDER")
    return StateToKeep(folder=Path(folder), stack=os.environ["DELAYER_STACK"]) if folder else None


def main() -> None:
    """Serve until this process is ended."""
    threading.Thread(target=end_with_parent, daemon=True, name="end-with-parent").start()
    aws_port, api_port = int(os.environ["GATEWAY_PORT"]), int(os.environ["DELAYER_API_PORT"])
    try:
        ports = [listening_at(aws_port), listening_at(api_port)]
        log_folder = Path(os.environ["DELAYER_LOG_FOLDER"])
        metering = bool(os.environ.get("DELAYER_METERING"))
        app = application(aws_port, api_port, log_folder, metering, pair_given(), kept_state())
        server_of(app).run(sockets=ports)
    except (EmulatorError, OSError) as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
