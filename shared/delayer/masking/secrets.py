"""A secret that a target has sent back is not kept, however the target has written it (ADR 0105, 0109).

What masks an answer by names cannot know that a value without a name is the token of a connection. So the values that
were sent along are looked for: as they are, and as JSON, HTML, a URL, or a URL within a URL writes them. The text is
read once in each of these ways, and the secrets are looked for in what it says then: no character of a secret is tried
twice, however long and however like each other the text and the secret are. What looks like base64 or hexadecimal
digits there is decoded once, wherever its beginning may be, and masked as a whole if a secret is in it
(ADR 0151). What a target has written in any other way, or in two of these within each other, is not found.
"""

import re
from base64 import b64decode
from collections.abc import Callable, Collection, Iterator
from html import unescape
from typing import Final

from attrs import field, frozen

from delayer.masking.mask import MASK

LOOKED_AT: Final = 1_024  # characters of a header

SHORTEST_ENCODED: Final = 3  # bytes of a secret that is looked for in base64 and hex: less is there by chance

_MASK: Final = MASK.encode()
_BASE64: Final = re.compile(rb"[A-Za-z0-9+/_-]{4,}+(?:\r?\n[A-Za-z0-9+/_-]++)*+")  # long ones are wrapped
_BASE64_OF_URL: Final = re.compile(rb"[A-Za-z0-9+/_ -]{4,}+")  # a plus may be read as a blank
_HEX: Final = re.compile(rb"[0-9a-fA-F]{6,}+")
_ONE_ALPHABET: Final = bytes.maketrans(b"-_ ", b"+/+")
_SHORT: Final = {b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t"}  # in JSON, behind a backslash

Span = tuple[int, int]


@frozen(kw_only=True)
class Way:
    """A way of writing characters as something else."""

    escape: re.Pattern[bytes]
    meaning: Callable[[bytes], bytes]
    unfinished: re.Pattern[bytes]  # what may become one, at the end of a text
    is_read: bool = True  # also where there is no escape: others say the same then

    def says_nothing_else(self, text: bytes) -> bool:
        """Whether the text says in this way only what it says as it is."""
        return not (self.is_read or self.escape.search(text) or self.unfinished.search(text))


@frozen(kw_only=True)
class Said:
    """The facts that a text says if it is read in one way."""

    plain: bytes
    spans: list[Span] = field(repr=False)  # for each byte where it is written in the text


def without_secrets(text: bytes, secrets: Collection[str], *, is_whole: bool = True) -> bytes:
    """The text with a mask in place of each secret.

    Of one that is not whole, the end is masked, too, if a secret may have begun there: no half of it is kept.
    """
    wanted = {secret.encode("utf-8", "replace") for secret in secrets if secret}
    spans = [span for way in WAYS for span in _spans(text, way, wanted, is_whole=is_whole)] if wanted else []
    shown, at = b"", 0
    for start, end in _apart(spans):
        shown += text[at:start] + _MASK
        at = end
    return shown + text[at:]


def header_without_secrets(value: str, secrets: Collection[str]) -> str:
    """The beginning of a header as it was read: each of its characters is a byte."""
    text = value[:LOOKED_AT].encode("latin-1", "replace")
    return without_secrets(text, secrets, is_whole=len(value) <= LOOKED_AT).decode("latin-1")


def _spans(text: bytes, way: Way, secrets: Collection[bytes], *, is_whole: bool) -> Iterator[Span]:
    """Where secrets stand that are written in this way, or are encoded in what is written in it."""
    if way.says_nothing_else(text):
        return
    begun = None if is_whole else way.unfinished.search(text)
    end = begun.start() if begun else len(text)
    said = _read(text[:end], way)
    for secret in secrets:
        yield from _whole_ones(said, _normal(secret, way))
    if begun or way is _AS_IT_IS or way.escape.search(text):
        yield from _encoded(said, way, secrets, is_whole=is_whole)
    if not is_whole:
        starts = [start for secret in secrets if (start := _begins(said, _normal(secret, way))) is not None]
        at = min(starts, default=end)
        yield from [(at, len(text))] if at < len(text) else []


def _encoded(said: Said, way: Way, secrets: Collection[bytes], *, is_whole: bool) -> Iterator[Span]:
    """Where base64 or hexadecimal digits stand that mean a secret: all of them, as its border is within a digit."""
    long_ones = [secret for secret in secrets if len(secret) >= SHORTEST_ENCODED]
    for runs, decoded in ((_BASE64_OF_URL if way in _OF_URLS else _BASE64, _of_base64), (_HEX, _of_hex)):
        for run in runs.finditer(said.plain):
            is_cut = not is_whole and run.end() == len(said.plain)
            if any(_is_in(secret, meant, is_cut=is_cut) for meant in decoded(run[0]) for secret in long_ones):
                yield said.spans[run.start()][0], said.spans[run.end() - 1][1]


def _is_in(secret: bytes, meant: bytes, *, is_cut: bool) -> bool:
    """Whether it is there, or may have begun shortly before a cut."""
    return secret in meant or (is_cut and secret[:SHORTEST_ENCODED] in meant[-len(secret) :])


def _of_base64(run: bytes) -> Iterator[bytes]:
    """In either alphabet. A text may have begun with one, two or three digits that belong to what stands before."""
    digits = run.translate(_ONE_ALPHABET, b"\r\n")
    for start in range(min(4, len(digits))):
        rest = digits[start:]
        yield b64decode(rest[: len(rest) - (len(rest) % 4 == 1)] + b"==")


def _of_hex(run: bytes) -> Iterator[bytes]:
    for start in (0, 1):
        yield bytes.fromhex(run[start : len(run) - (len(run) - start) % 2].decode())


def _whole_ones(said: Said, secret: bytes) -> Iterator[Span]:
    at = said.plain.find(secret)
    while at >= 0:
        end = at + len(secret)
        yield said.spans[at][0], said.spans[end - 1][1]
        at = said.plain.find(secret, end)


def _begins(said: Said, secret: bytes) -> int | None:
    """Where a secret begins that goes on behind the end."""
    longest = min(len(secret) - 1, len(said.plain))
    length = next((one for one in range(longest, 0, -1) if said.plain.endswith(secret[:one])), 0)
    return said.spans[-length][0] if length else None


def _apart(spans: Collection[Span]) -> list[Span]:
    """Those that overlap, or follow each other at once, are one."""
    found: list[Span] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def _read(text: bytes, way: Way) -> Said:
    plain, spans, at = bytearray(), list[Span](), 0
    for found in way.escape.finditer(text):
        meant = way.meaning(found[0])
        plain += text[at : found.start()] + meant
        spans += [(one, one + 1) for one in range(at, found.start())] + [found.span()] * len(meant)
        at = found.end()
    spans += [(one, one + 1) for one in range(at, len(text))]
    return Said(plain=bytes(plain + text[at:]), spans=spans)


def _normal(secret: bytes, way: Way) -> bytes:
    """As the text says it: in a URL a plus and a blank cannot be told apart."""
    return secret.replace(b"+", b" ") if way in _OF_URLS else secret


def _of_json(escape: bytes) -> bytes:
    units = escape.split(b"\\u")[1:]
    if units:
        return b"".join(bytes.fromhex(one.decode()) for one in units).decode("utf-16-be", "replace").encode()
    return _SHORT.get(escape[1:], escape[1:])


def _of_url(escape: bytes) -> bytes:
    meant = escape if escape == b"+" else bytes.fromhex(escape[-2:].decode())
    return meant.replace(b"+", b" ")


def _of_html(escape: bytes) -> bytes:
    return unescape(escape.decode()).encode("utf-8", "replace")


_AS_IT_IS: Final = Way(escape=re.compile(rb"(?!)"), meaning=bytes, unfinished=re.compile(rb"(?!)"))
_HIGH, _LOW = rb"\\u[dD][89abAB][0-9a-fA-F]{2}", rb"\\u[dD][c-fC-F][0-9a-fA-F]{2}"  # two of them are one character
_JSON: Final = Way(
    escape=re.compile(_HIGH + _LOW + rb"|\\(?:u[0-9a-fA-F]{4}|[bfnrt]|[^A-Za-z0-9])", re.DOTALL),
    meaning=_of_json,
    unfinished=re.compile(b"(?:" + _HIGH + rb")?\\(?:u[0-9a-fA-F]{0,3})?\Z|" + _HIGH + rb"\Z"),
    is_read=False,
)
_URL: Final = Way(
    escape=re.compile(rb"%[0-9a-fA-F]{2}|\+"),
    meaning=_of_url,
    unfinished=re.compile(rb"%[0-9a-fA-F]?\Z"),
)
_URL_IN_URL: Final = Way(  # in which %25 is the sign of an escape: %252F
    escape=re.compile(rb"%(?:25){0,2}[0-9a-fA-F]{2}|\+"),
    meaning=_of_url,
    unfinished=re.compile(rb"%[0-9a-fA-F]{0,5}\Z"),
    is_read=False,
)
_HTML: Final = Way(
    escape=re.compile(rb"&(?:#[0-9]{1,8}|#[xX][0-9a-fA-F]{1,7}|[a-z]{2,4});"),
    meaning=_of_html,
    unfinished=re.compile(rb"&(?:#[0-9]{0,8}|#[xX][0-9a-fA-F]{0,7}|[a-z]{0,4})\Z"),
    is_read=False,
)
_OF_URLS: Final = (_URL, _URL_IN_URL)
WAYS: Final = (_AS_IT_IS, _JSON, _URL, _URL_IN_URL, _HTML)
