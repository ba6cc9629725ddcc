"""A secret that a target has sent back is not kept, however the target has written it (ADR 0105, 0109).

What masks an answer by names cannot know that a value without a name is the token of a connection. So the values that
were sent along are looked for: as they are, as JSON, as part of a URL and as HTML write them. The text is read once in
each of these ways, and the secrets are looked for in what it says then: no character of a secret is tried twice,
however long and however like each other the text and the secret are.
"""

import re
from collections.abc import Callable, Collection, Iterator
from html import unescape
from typing import Final

from attrs import field, frozen

from delayer.core.masking.mask import MASK

LOOKED_AT: Final = 1_024  # characters of a header

_MASK: Final = MASK.encode()
_SHORT: Final = {b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t"}  # in JSON, behind a backslash

Span = tuple[int, int]


@frozen(kw_only=True)
class Way:
    """A way of writing characters as something else."""

    escape: re.Pattern[bytes]
    meaning: Callable[[bytes], bytes]
    unfinished: re.Pattern[bytes]  # what may become one, at the end of a text


@frozen(kw_only=True)
class Said:
    """What a text says if it is read in one way."""

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
    """Where secrets stand that are written in this way."""
    said = _read(text, way)
    for secret in secrets:
        yield from _whole_ones(said, _normal(secret, way))
    if not is_whole:
        begun = way.unfinished.search(text)
        rest = _read(text[: begun.start()], way) if begun else said
        starts = [_begins(rest, _normal(secret, way)) for secret in secrets]
        at = min((start for start in starts if start is not None), default=begun.start() if begun else len(text))
        yield from [(at, len(text))] if at < len(text) else []


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
    """Those that overlap are one."""
    found: list[Span] = []
    for start, end in sorted(spans):
        if found and start < found[-1][1]:
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
    return secret.replace(b"+", b" ") if way is _URL else secret


def _of_json(escape: bytes) -> bytes:
    units = escape.split(b"\\u")[1:]
    if units:
        return b"".join(bytes.fromhex(one.decode()) for one in units).decode("utf-16-be", "replace").encode()
    return _SHORT.get(escape[1:], escape[1:])


def _of_url(escape: bytes) -> bytes:
    meant = escape if escape == b"+" else bytes.fromhex(escape[1:].decode())
    return meant.replace(b"+", b" ")


def _of_html(escape: bytes) -> bytes:
    return unescape(escape.decode()).encode("utf-8", "replace")


_AS_IT_IS: Final = Way(escape=re.compile(rb"(?!)"), meaning=bytes, unfinished=re.compile(rb"(?!)"))
_HIGH, _LOW = rb"\\u[dD][89abAB][0-9a-fA-F]{2}", rb"\\u[dD][c-fC-F][0-9a-fA-F]{2}"  # two of them are one character
_JSON: Final = Way(
    escape=re.compile(_HIGH + _LOW + rb"|\\(?:u[0-9a-fA-F]{4}|[bfnrt]|[^A-Za-z0-9])", re.DOTALL),
    meaning=_of_json,
    unfinished=re.compile(b"(?:" + _HIGH + rb")?\\(?:u[0-9a-fA-F]{0,3})?\Z|" + _HIGH + rb"\Z"),
)
_URL: Final = Way(
    escape=re.compile(rb"%[0-9a-fA-F]{2}|\+"),
    meaning=_of_url,
    unfinished=re.compile(rb"%[0-9a-fA-F]?\Z"),
)
_HTML: Final = Way(
    escape=re.compile(rb"&(?:#[0-9]{1,8}|#[xX][0-9a-fA-F]{1,7}|[a-z]{2,4});"),
    meaning=_of_html,
    unfinished=re.compile(rb"&(?:#[0-9]{0,8}|#[xX][0-9a-fA-F]{0,7}|[a-z]{0,4})\Z"),
)
WAYS: Final = (_AS_IT_IS, _JSON, _URL, _HTML)
