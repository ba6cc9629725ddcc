"""A secret that a target has sent back is not kept, however the target has written it (ADR 0105, 0109).

What masks an answer by names cannot know that a value without a name is the token of a connection. So the values that
were sent along are looked for: as they are, as JSON, as part of a URL and as HTML write them.
"""

import json
from collections.abc import Collection
from html import escape
from typing import Final

from delayer.core.masking.mask import MASK

Spelled = tuple[tuple[bytes, ...], ...]  # for each character all that it may be written as

_NOT_HERE: Final = 0
_CUT: Final = -1  # the text ends within the secret
_LONGEST: Final = 16  # bytes; no character is spelled with more
_MASK: Final = MASK.encode()


def without_secrets(text: bytes, secrets: Collection[str], *, is_whole: bool = True) -> bytes:
    """The text with a mask in place of each secret.

    Of one that is not whole, the end is masked, too, if a secret may have begun there: no half of it is kept.
    """
    forms = [form for secret in secrets if secret for form in _forms(secret)]
    firsts = {one[0] for form in forms for one in form[0]}
    shown, at = bytearray(), 0
    while at < len(text):
        ends = [_end(text, at, form) for form in forms] if text[at] in firsts else []
        if _CUT in ends and not is_whole:
            return bytes(shown + _MASK)
        if (end := max(ends, default=_NOT_HERE)) > at:
            shown += _MASK
            at = end
        else:
            shown.append(text[at])
            at += 1
    return bytes(shown)


def header_without_secrets(value: str, secrets: Collection[str]) -> str:
    """A header as it was read: each of its characters is a byte."""
    return without_secrets(value.encode("latin-1", "replace"), secrets).decode("latin-1")


def _end(text: bytes, at: int, form: Spelled) -> int:
    """Where a secret ends that begins here."""
    for spellings in form:
        found = next((one for one in spellings if text.startswith(one, at)), None)
        if found is None:
            rest = text[at : at + _LONGEST]
            return _CUT if any(one.startswith(rest) for one in spellings) else _NOT_HERE
        at += len(found)
    return at


def _forms(secret: str) -> set[Spelled]:
    """No two spellings of a character begin another within one form, so that nothing is tried twice."""
    return {tuple(map(spell, secret)) for spell in (_as_it_is, _in_json, _in_url, _in_html)}


def _as_it_is(character: str) -> tuple[bytes, ...]:
    return (character.encode("utf-8", "replace"),)


def _in_json(character: str) -> tuple[bytes, ...]:
    plain = json.dumps(character, ensure_ascii=False)[1:-1]
    units = character.encode("utf-16-be", "replace")
    code = "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
    return _spellings(character, plain, f"\\{character}", code, code.upper().replace("U", "u"), but="\\")


def _in_url(character: str) -> tuple[bytes, ...]:
    code = "".join(f"%{one:02x}" for one in character.encode("utf-8", "replace"))
    return _spellings(character, character, code, code.upper(), *("+" if character == " " else ""), but="%")


def _in_html(character: str) -> tuple[bytes, ...]:
    number = ord(character)
    codes = (f"&#{number};", f"&#x{number:x};", f"&#x{number:X};", f"&#0{number};")
    return _spellings(character, character, escape(character), "&apos;" * (character == "'"), *codes, but="&")


def _spellings(character: str, *others: str, but: str) -> tuple[bytes, ...]:
    """`but` begins all that is not the character itself: where it stands for itself, it is spelled otherwise."""
    if character.isascii() and character.isalnum():
        return (character.encode(),)
    found = {one.encode("utf-8", "replace") for one in others if one and (one, character) != (but, but)}
    return tuple(sorted(found))
