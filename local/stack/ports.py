"""TCP ports of this machine."""

import os
import socket

from local.errors import EmulatorError


def free_ports() -> tuple[int, int]:
    """Two ports on which no program listens."""
    with socket.create_server(("127.0.0.1", 0)) as first, socket.create_server(("127.0.0.1", 0)) as second:
        return first.getsockname()[1], second.getsockname()[1]


def refuse_used(port: int) -> None:
    """EmulatorError if another program listens on this port."""
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except OverflowError:
        raise EmulatorError(f"There is no port {port}; choose one from 1024 to 65533.") from None
    except OSError as error:
        reason = os.strerror(error.errno or 0).lower()
        remedy = "stop the program that uses it, or choose another with PORT=9090"
        raise EmulatorError(f"Port {port} cannot be used ({reason}): {remedy}.") from None
