"""`python -m local.emulator`: the emulator's process, on 127.0.0.1 only.

`local.stack.process` starts it. Its settings come from the environment, as ministack's own do: GATEWAY_PORT (the AWS
port), AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (the pair of this run, for ministack the one of its root user),
DELAYER_API_PORT, DELAYER_LOG_FOLDER, DELAYER_METERING. With DELAYER_TLS the functions use a port of TLS, the
others do not.
"""

import asyncio
import os
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import uvicorn
import uvloop

from local.emulator.access.certificate import ADDRESS, certificate_in
from local.emulator.application import application
from local.emulator.asgi import Application
from local.errors import EmulatorError
from local.key_pair import KeyPair


def end_with_parent() -> None:
    """End this process and its Lambda workers as soon as the process that started it has ended.

    That process holds the other end of standard input, so the read below returns even if it was killed by SIGKILL.
    """
    sys.stdin.buffer.read()
    os.killpg(0, signal.SIGKILL)


def server_of(app: Application, **more: Any) -> uvicorn.Server:
    """An HTTP server. Its parser and its event loop are written in C: here every request of AWS goes through them."""
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
            **more,
        )
    )


def listening_at(port: int) -> socket.socket:
    """Of this machine alone. OSError if another program uses the port."""
    return socket.create_server((ADDRESS, port), backlog=1024)


def server_of_functions(app: Application) -> tuple[uvicorn.Server, socket.socket]:
    """One that speaks TLS, and its port. Functions that start from now on use it, and trust it."""
    made, port = certificate_in(Path(tempfile.gettempdir())), listening_at(0)
    os.environ["AWS_CA_BUNDLE"] = str(made.certificate)
    os.environ["DELAYER_ENDPOINT_OF_FUNCTIONS"] = f"https://{ADDRESS}:{port.getsockname()[1]}"
    return server_of(app, lifespan="off", ssl_certfile=made.certificate, ssl_keyfile=made.key), port


async def serve(servers: Sequence[tuple[uvicorn.Server, list[socket.socket]]]) -> None:
    """All of them, until the first one ends."""
    serving = [asyncio.create_task(server.serve(sockets=ports)) for server, ports in servers]
    await asyncio.wait(serving, return_when=asyncio.FIRST_COMPLETED)


def pair_given() -> KeyPair:
    """The pair that the starter has made."""
    return KeyPair(access_key_id=os.environ["AWS_ACCESS_KEY_ID"], secret_access_key=os.environ["AWS_SECRET_ACCESS_KEY"])


def main() -> None:
    """Serve until this process is ended."""
    threading.Thread(target=end_with_parent, daemon=True, name="end-with-parent").start()
    aws_port, api_port = int(os.environ["GATEWAY_PORT"]), int(os.environ["DELAYER_API_PORT"])
    try:
        ports = [listening_at(aws_port), listening_at(api_port)]
        log_folder = Path(os.environ["DELAYER_LOG_FOLDER"])
        metering = bool(os.environ.get("DELAYER_METERING"))
        app = application(api_port, log_folder, metering, pair_given())
        servers = [(server_of(app), ports)]
        if os.environ.get("DELAYER_TLS"):
            server, port = server_of_functions(app)
            servers.append((server, [port]))
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(serve(servers))
    except (EmulatorError, OSError) as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
