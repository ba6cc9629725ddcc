"""The interpreter of the emulator: one thread serves all requests, and dozens of others compute beside it."""

import os
import sys
import threading
import uuid
from typing import Any, Final

# Seconds for which a thread may compute while another one waits for its turn; Python's own are ten times as many. The
# thread that serves gives its turn away with each call of the system, several times in each request.
TURN: Final = 0.0005
READ_AT_ONCE: Final = 4096  # random bytes


def take_short_turns() -> None:
    """Of all threads of this process, so that the one that serves waits less."""
    sys.setswitchinterval(TURN)


class RandomBytes:
    """Bytes of the system, which gives many at once for the price of a few: each question is a call of the system."""

    def __init__(self) -> None:
        self._left = b""
        self._turn = threading.Lock()

    def take(self, number: int) -> bytes:
        """So many, each of them once."""
        with self._turn:
            if len(self._left) < number:
                self._left = os.urandom(READ_AT_ONCE)
            taken, self._left = self._left[:number], self._left[number:]
            return taken


def make_ids_quickly(module: Any = uuid) -> None:
    """Let `uuid4` take its bytes from a store. MiniStack makes an id for everything, several for each request."""
    store = RandomBytes()
    module.uuid4 = lambda: uuid.UUID(bytes=store.take(16), version=4)
