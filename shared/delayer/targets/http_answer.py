"""Reads an answer to an HTTP request: its head, and the beginning of its body if that is to be kept (ADR 0109).

Otherwise two numbers are all that is kept of it: no text of the target.
"""

import re
from collections.abc import Callable, Collection
from datetime import UTC
from email.utils import parsedate_to_datetime
from time import time
from typing import BinaryIO, Final

from attrs import frozen

MAX_HEAD: Final = 65_536  # bytes of status lines and headers together; a target that sends more says nothing
STATUS: Final = re.compile(rb"HTTP/1\.[0-9] +([1-9][0-9]{2})(?: [^\r\n]*)?\r?\n")
CHUNK: Final = re.compile(rb"([0-9A-Fa-f]{1,16})[ \t]*(?:;[^\r\n]*)?\r?\n")
LONGEST_CHUNK_HEAD: Final = 256
LONGEST_LENGTH: Final = 19  # digits
LONGEST_RETRY_AFTER: Final = 64
NO_BODY: Final = frozenset({101, 204, 304})
LONGEST: Final = 10**9  # seconds; longer than any policy lets a schedule wait
SWITCHING: Final = 101  # the only interim status that nothing follows


class NotHttp(ValueError):
    """The bytes that came are not an answer."""


@frozen(kw_only=True)
class HttpAnswer:
    """The parts of an answer that count."""

    status: int
    retry_after: int | None = None  # seconds, if the target asked for a delay
    headers: tuple[tuple[str, str], ...] = ()  # those that were asked for, with the framing of the body


def read_answer(stream: BinaryIO, wanted: Collection[str] = ()) -> HttpAnswer:
    """The final status, behind any number of interim ones such as `103 Early Hints`. Raises NotHttp or OSError.

    A status that came whole counts, whatever becomes of the headers behind it. `wanted` are the names of headers, in
    small letters, whose first values are kept.
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
            found_headers = _headers_in(stream, left, {*wanted, "retry-after"})
            after = seconds_of(found_headers.get("retry-after", ""))
            kept = tuple((name, value) for name, value in found_headers.items() if name in wanted)
            return HttpAnswer(status=status, retry_after=after, headers=kept)
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


def _headers_in(stream: BinaryIO, left: int, wanted: Collection[str]) -> dict[str, str]:
    """The first of each name. They are read to their end, so that the target can finish writing them."""
    found: dict[str, str] = {}
    try:
        while (line := _line(stream, left)).strip(b"\r\n"):
            left -= len(line)
            name, colon, value = line.partition(b":")
            key = name.decode("latin-1").lower()
            if colon and key in wanted:
                found.setdefault(key, value.strip(b" \t\r\n").decode("latin-1"))
    except (NotHttp, OSError):
        pass
    return found


def read_body(read: Callable[[int], bytes], answer: HttpAnswer, at_most: int) -> tuple[bytes, bool]:
    """The beginning of a body, and whether that is all of it. `read` gives at most so many bytes; none at the end.

    Whatever the target does, the answer counts without it: what comes after an error is left out.
    """
    if answer.status in NO_BODY:
        return b"", True
    named = dict(answer.headers)
    if named.get("transfer-encoding", "").lower().endswith("chunked"):
        return _chunks(_Bytes(read), at_most)
    length = named.get("content-length", "")
    expected = int(length) if length.isascii() and length.isdecimal() and len(length) < LONGEST_LENGTH else None
    stream = _Bytes(read)
    body = stream.up_to(at_most + 1 if expected is None else min(expected, at_most + 1))
    is_whole = not stream.failed if expected is None else len(body) == expected
    return body[:at_most], is_whole and len(body) <= at_most


class _Bytes:
    """Reads until it has what is asked for, or there is no more."""

    def __init__(self, read: Callable[[int], bytes]) -> None:
        self.read = read
        self.failed = False

    def up_to(self, number: int) -> bytes:
        """Fewer only at the end, or after an error."""
        found = b""
        try:
            while len(found) < number and (more := self.read(number - len(found))):
                found += more
        except (OSError, ValueError):
            self.failed = True
        return found

    def line(self) -> bytes:
        """Of a chunk: short, or it is none."""
        found = b""
        while not found.endswith(b"\n") and len(found) < LONGEST_CHUNK_HEAD and (more := self.up_to(1)):
            found += more
        return found


def _chunks(stream: _Bytes, at_most: int) -> tuple[bytes, bool]:
    body = b""
    while len(body) <= at_most:
        head = CHUNK.fullmatch(stream.line())
        if not head:
            return body, False
        size = int(head[1], 16)
        if not size:
            return body, True
        body += stream.up_to(min(size, at_most + 1 - len(body)))
        if len(body) <= at_most and stream.line() not in (b"\r\n", b"\n"):
            return body, False
    return body[:at_most], False


def seconds_of(retry_after: str) -> int | None:
    """Seconds, from either form that RFC 9110 allows; None for anything else."""
    if len(retry_after) > LONGEST_RETRY_AFTER:
        return None
    if retry_after.isdecimal() and retry_after.isascii():
        return min(int(retry_after), LONGEST)
    try:
        at = parsedate_to_datetime(retry_after)  # asctime names no zone: it is GMT, whatever that of the machine is
        return min(max(int(at.replace(tzinfo=at.tzinfo or UTC).timestamp() - time()), 0), LONGEST)
    except (TypeError, ValueError, OverflowError, IndexError):
        return None
