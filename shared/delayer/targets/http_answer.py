"""Reads the head of an answer to an HTTP request. Two numbers are all that is kept of it: no text of the target."""

import re
from email.utils import parsedate_to_datetime
from time import time
from typing import BinaryIO, Final

from attrs import frozen

MAX_HEAD: Final = 65_536  # bytes of status lines and headers together; a target that sends more says nothing
STATUS: Final = re.compile(rb"HTTP/1\.[0-9] +([1-9][0-9]{2})(?: [^\r\n]*)?\r?\n")
RETRY_AFTER: Final = re.compile(rb"retry-after:[ \t]*([^\r\n]{0,64}?)[ \t]*\r?\n", re.IGNORECASE)
LONGEST: Final = 10**9  # seconds; longer than any policy lets a schedule wait
SWITCHING: Final = 101  # the only interim status that nothing follows


class NotHttp(ValueError):
    """What came is not an answer."""


@frozen(kw_only=True)
class Answer:
    """What counts of an answer."""

    status: int
    retry_after: int | None = None  # seconds, if the target asked for a delay


def read_answer(stream: BinaryIO) -> Answer:
    """The final status, behind any number of interim ones such as `103 Early Hints`. Raises NotHttp or OSError.

    A status that came whole counts, whatever becomes of the headers behind it.
    """
    left = MAX_HEAD
    while True:
        line = _line(stream, left)
        left -= len(line)
        found = STATUS.fullmatch(line)
        if not found:
            raise NotHttp
        status = int(found.group(1))
        if status >= 200 or status == SWITCHING:
            return Answer(status=status, retry_after=_retry_after_in(stream, left))
        while line.strip(b"\r\n"):
            line = _line(stream, left)
            left -= len(line)


def _line(stream: BinaryIO, at_most: int) -> bytes:
    line = stream.readline(at_most + 1)
    if len(line) > at_most:
        raise NotHttp
    if not line.endswith(b"\n"):
        raise ConnectionResetError
    return line


def _retry_after_in(stream: BinaryIO, left: int) -> int | None:
    """From the first such header. They are read to their end, so that the target can finish writing them."""
    value = b""
    try:
        while (line := _line(stream, left)).strip(b"\r\n"):
            left -= len(line)
            found = RETRY_AFTER.fullmatch(line)
            value = value or (found.group(1) if found else b"")
    except (NotHttp, OSError):
        pass
    return seconds_of(value.decode("latin-1"))


def seconds_of(retry_after: str) -> int | None:
    """Seconds, from either form that RFC 9110 allows; None for anything else."""
    if retry_after.isdecimal() and retry_after.isascii():
        return min(int(retry_after), LONGEST)
    try:
        return min(max(int(parsedate_to_datetime(retry_after).timestamp() - time()), 0), LONGEST)
    except (TypeError, ValueError, OverflowError, IndexError):
        return None
