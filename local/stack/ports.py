"""TCP ports of this machine."""

import os
import random
import socket
from collections.abc import Iterator
from functools import cache
from itertools import cycle, islice
from typing import Final

from local.errors import EmulatorError

LOOPBACK: Final = "127.0.0.1"
# No system gives these to connections that go out, which would take one between its choice and its use: Linux gives
# those from 32,768, macOS those from 49,152, and sandboxes those from 16,000 on.
CHOSEN: Final = range(10_000, 16_000)
OF_A_PROCESS: Final = 60
NEIGHBOURS: Final = 3  # those of `make local-aws`: the API's, that of AWS's endpoint and the receiver's


def free_port() -> int:
    """The first of three in a row that no program uses, and no other process gets from here."""
    _, rows = _own_ports()
    for first in islice(rows, OF_A_PROCESS // NEIGHBOURS):
        try:
            for port in range(first, first + NEIGHBOURS):
                refuse_used(port)
        except EmulatorError:
            continue
        return first
    raise EmulatorError("No three free ports in a row were found.")


@cache
def _own_ports() -> tuple[socket.socket, Iterator[int]]:
    """This process's. While it lives it holds the UDP port of the first one's number, by which the others see it."""
    for first in random.SystemRandom().sample(CHOSEN[::OF_A_PROCESS], len(CHOSEN) // OF_A_PROCESS):
        held = socket.socket(type=socket.SOCK_DGRAM)
        try:
            held.bind((LOOPBACK, first))
        except OSError:
            held.close()
            continue
        return held, cycle(range(first, first + OF_A_PROCESS, NEIGHBOURS))
    raise EmulatorError(f"All ports from {CHOSEN[0]} to {CHOSEN[-1]} are in use.")


def refuse_used(port: int) -> None:
    """EmulatorError if another program listens on this port."""
    try:
        socket.create_server((LOOPBACK, port)).close()
    except OverflowError:
        raise EmulatorError(f"There is no port {port}; choose one from 1024 to 65533.") from None
    except OSError as error:
        reason = os.strerror(error.errno or 0).lower()
        remedy = "stop the program that uses it, or choose another with PORT=9090"
        raise EmulatorError(f"Port {port} cannot be used ({reason}): {remedy}.") from None
