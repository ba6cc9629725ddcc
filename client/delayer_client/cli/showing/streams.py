"""Standard output and standard error, when they take nothing more: a full disk, a descriptor that was closed."""

import errno
import os
from contextlib import suppress
from typing import TextIO


class NotWritten(Exception):
    """The text that was to go to standard output is on standard error."""

    def __init__(self, error: OSError) -> None:
        super().__init__(
            f"Standard output takes nothing: {error.strerror}. The answer is on standard error. What was asked for may "
            "have been done: look before you repeat it."
        )


def check(stream: TextIO | None) -> TextIO:
    """The stream. Raises OSError for one that was closed before the program began."""
    if stream is None:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
    return stream


def write(stream: TextIO | None, line: str) -> None:
    """At once: what stays in a buffer is lost without a word. Raises OSError."""
    check(stream).write(line)
    check(stream).flush()


def abandon(stream: TextIO | None) -> None:
    """Nothing is written there any more: what is in its buffer would fail once more when the program ends."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), check(stream).fileno())
