"""Handles text that nobody may read any more: the pipe's reader has ended, or the terminal is closed."""

import os
import sys
from contextlib import suppress
from typing import Any


class Unread:
    """A stream that swallows its errors: what is printed is worth less than what is done meanwhile."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)

    def write(self, text: str) -> int:
        """Write, if somebody reads."""
        try:
            self.stream.write(text)
        except OSError:
            self.give_up()
        return len(text)

    def flush(self) -> None:
        """Flush, if somebody reads."""
        try:
            self.stream.flush()
        except OSError:
            self.give_up()

    def give_up(self) -> None:
        """From now on it goes nowhere, the rest of its buffer too: Python would complain of it at its end."""
        with suppress(OSError, ValueError):  # a stream without a file
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.stream.fileno())
            os.close(nowhere)


def allow_unread() -> None:
    """Let no error of the output end what is done from now on."""
    sys.stdout, sys.stderr = Unread(sys.stdout), Unread(sys.stderr)
