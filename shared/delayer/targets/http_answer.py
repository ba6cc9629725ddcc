"""Reads an answer to an HTTP request: its head, and the beginning of its body if that is to be kept (ADR 0109).

Otherwise two numbers are all that is kept of it: no text of the target.
"""

import re
from collections.abc import Callable, Collection
from datetime import UTC
from email.utils import parsedate_to_datetime
from time import time
from typing import Final

from attrs import frozen

MAX_HEAD: Final = 65_536  # bytes of status lines and headers together; a target that sends more says nothing
STATUS: Final = re.compile(rb"HTTP/1\.([0-9]) +([1-9][0-9]{2})(?: [^\r\n]*)?\r?\n")
CHUNK: Final = re.compile(rb"([0-9A-Fa-f]{1,16})[ \t]*(?:;[^\r\n]*)?\r?\n")
LONGEST_CHUNK_HEAD: Final = 256
LONGEST_LENGTH: Final = 19  # digits
LONGEST_RETRY_AFTER: Final = 64
NO_BODY: Final = frozenset({101, 204, 304})
LONGEST: Final = 10**9  # seconds; longer than any policy lets a schedule wait
SWITCHING: Final = 101  # the only interim status that nothing follows
FRAMING: Final = ("content-length", "transfer-encoding")  # what says where a body ends
OF_THE_CONNECTION: Final = ("connection", "keep-alive")
KEEPS: Final = re.compile(r"\btimeout *= *([0-9]{1,9})", re.IGNORECASE)
LONGEST_REST: Final = 65_536  # bytes of a body behind which a connection is used again


class NotHttp(ValueError):
    """The bytes that came are not an answer."""


@frozen(kw_only=True)
class HttpAnswer:
    """The parts of an answer that count."""

    status: int
    retry_after: int | None = None  # seconds, if the target asked for a delay
    headers: tuple[tuple[str, str], ...] = ()  # those that were asked for, with the framing of the body
    keeps_for: float = 0  # seconds for which its connection may wait for another request; 0: it is not used again


def read_answer(readline: Callable[[int], bytes], wanted: Collection[str] = ()) -> HttpAnswer:
    """The final status, behind any number of interim ones such as `103 Early Hints`. Raises NotHttp or OSError.

    A status that came whole counts, whatever becomes of the headers behind it. `wanted` are the names of headers, in
    small letters, whose first values are kept, beside what says where the body ends. `readline` gives a line with its
    end, or at most so many bytes of it; less at the end of the connection.
    """
    left = MAX_HEAD
    while True:
        line = _line(readline, left)
        left -= len(line)
        found = STATUS.fullmatch(line)
        if not found:
            raise NotHttp
        status = int(found[2])
        if status >= 200 or status == SWITCHING:
            wanted = {*wanted, *FRAMING}
            said, is_whole = _headers_in(readline, left, {*wanted, "retry-after", *OF_THE_CONNECTION})
            after = seconds_of(said.get("retry-after", [""])[0])
            kept = tuple((name, values[0]) for name, values in said.items() if name in wanted)
            keeps_for = _keeps_for(status, said) if is_whole and found[1] != b"0" else 0
            return HttpAnswer(status=status, retry_after=after, headers=kept, keeps_for=keeps_for)
        while line.strip(b"\r\n"):
            line = _line(readline, left)
            left -= len(line)


def _line(readline: Callable[[int], bytes], at_most: int) -> bytes:
    line = readline(at_most + 1)
    if len(line) > at_most:
        raise NotHttp
    if not line.endswith(b"\n"):
        raise ConnectionResetError
    return line


Headers = dict[str, list[str]]


def _headers_in(readline: Callable[[int], bytes], left: int, wanted: Collection[str]) -> tuple[Headers, bool]:
    """All values of each name, and whether all have come. They are read to their end, so that the target can finish
    writing them.
    """
    found: Headers = {}
    try:
        while (line := _line(readline, left)).strip(b"\r\n"):
            left -= len(line)
            name, colon, value = line.partition(b":")
            key = name.decode("latin-1").lower()
            if colon and key in wanted:
                found.setdefault(key, []).append(value.strip(b" \t\r\n").decode("latin-1"))
    except (NotHttp, OSError):
        return found, False
    return found, True


def _keeps_for(status: int, said: Headers) -> float:
    """A second less than the target says, if it says so: its own clock began earlier.

    Where the body ends must be beyond doubt: what is left of it would be read as the answer to the next request.
    """
    tokens = {token.strip().lower() for value in said.get("connection", ()) for token in value.split(",")}
    lengths, codings = said.get("content-length", []), said.get("transfer-encoding", [])
    if status in NO_BODY:
        is_clear = status != SWITCHING and not codings and lengths in ([], ["0"])
    elif codings:
        is_clear = [coding.lower() for coding in codings] == ["chunked"] and not lengths
    else:
        is_clear = len(lengths) == 1 and 0 <= _length(lengths[0]) <= LONGEST_REST
    if not is_clear or "close" in tokens:
        return 0
    found = KEEPS.search(",".join(said.get("keep-alive", ())))
    return max(int(found[1]) - 1, 0) if found else float("inf")


def _length(text: str) -> int:
    """Bytes; -1 for what is no length."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < LONGEST_LENGTH else -1


def read_body(read: Callable[[int], bytes], answer: HttpAnswer, at_most: int) -> tuple[bytes, bool]:
    """The beginning of a body, and whether that is all of it. `read` gives at most so many bytes; none at the end.

    Whatever the target does, the answer counts without it: what comes after an error is left out.
    """
    if answer.status in NO_BODY:
        return b"", True
    named = dict(answer.headers)
    if named.get("transfer-encoding", "").lower().endswith("chunked"):
        return _chunks(_Bytes(read), at_most)
    expected = _length(named.get("content-length", ""))
    stream = _Bytes(read)
    body = stream.up_to(at_most + 1 if expected < 0 else min(expected, at_most + 1))
    is_whole = not stream.failed if expected < 0 else len(body) == expected
    return body[:at_most], is_whole and len(body) <= at_most


def has_ended(read: Callable[[int], bytes], answer: HttpAnswer, *, is_body_read: bool) -> bool:
    """Whether all of it has come, up to what ends a chunked one. `read` as for a body; it need not wait."""
    if not is_body_read and not read_body(read, answer, LONGEST_REST)[1]:
        return False
    is_chunked = answer.status not in NO_BODY and "transfer-encoding" in dict(answer.headers)
    return not is_chunked or _Bytes(read).line() == b"\r\n"


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
