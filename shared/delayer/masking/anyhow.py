"""Any text, such as an answer, with its secrets masked by what stands before them: names, tags, HTTP words (ADR 0109).

It may be a form, headers, YAML, XML, HTML, a line of a log, or half a document. Nobody can tell for sure where a value
ends in all of these, so more is masked rather than less: a line to its end, and what is indented below it.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from itertools import islice, takewhile
from typing import Any, Final

from delayer.masking.mask import (
    CONTENTS,
    LABELS,
    MASK,
    is_sensitive,
    masked_free_text,
    masked_text,
    masked_value,
    read_json,
)
from delayer.masking.secrets import LOOKED_AT
from delayer.schedule.json_text import write

# No pattern here may go through a text more than once: a target can send any text, and this is done in the time of all
# others. What is repeated is possessive wherever that changes nothing, and nothing begins within what was gone through.
_NAMED: Final = re.compile(  # a name, as JSON, forms, headers, YAML and query strings write it, and the sign behind it
    r"""(?P<name>(?<![\w$.-])[\w$.-]++(?:(?:\[|%5[bB])(?:\\{0,7}["'])?:?[\w$.-]{0,64}(?:\\{0,7}["'])?(?:\]|%5[dD])){0,8}+)"""
    r"""(?P<quote>\\{0,7}["']|&quot;|&\#3[49];)?+\s*+(?P<sign>[:=])(?P<space>[^\S\r\n]*+)"""
)
_LABEL: Final = re.compile(r"""\s*+(?:\\{0,7}["'])?+([^"'\\\r\n,;&<>{}=]{1,64}+)""")  # what stands behind `name`
_LISTED: Final = re.compile(  # the first of a list, in quotes
    r"""[\[(]\s*+(?P<quote>\\{0,7}["'])(?P<name>[^"'\\\r\n]{1,64}+)(?P=quote)\s*+,\s*+"""
)
_ITEM: Final = re.compile(r"[^,\])\r\n]*+")
_PART_NAME: Final = re.compile(r"""\bname\s{0,8}+=\s{0,8}+["']?+([^"'\r\n;]{1,100}+)""", re.IGNORECASE)
_LONGEST_HEAD: Final = 10  # lines of a part of a form, from its name to the empty line
_QUOTED: Final = re.compile(  # a text in quotes, up to its end or that of all; a list or an object up to the end of all
    r'''\s{0,80}+(?:"""(?s:.*?)(?:"""|\Z)|\'\'\'(?s:.*?)(?:\'\'\'|\Z)'''
    r"""|\\?"(?:[^"\\]|\\[^"])*(?:\\?"|\\?\Z)|'(?:[^']|\'\')*(?:'|\Z)|[\[{](?s:.*))"""
)
_LITERAL: Final = re.compile(r"[\w.+-]{1,40}+(?=\s*+[,}\]])")  # of JSON
_LINE: Final = re.compile(r"[^\r\n]*+")
_FIELD: Final = re.compile(r"[^\r\n&]*+")  # of a form or a query string
_WHOLE_LINE: Final = re.compile("cookie|auth", re.IGNORECASE)  # headers with several values, some of them in quotes

_SAYS_WHAT: Final = re.compile(  # attributes that name what others, or the content, hold
    r"""\b(?:name|id|key|type|property|itemprop|field)\s{0,8}+=\s{0,8}+["']?+([^"'\s>]{1,100}+)""", re.IGNORECASE
)
_VOID: Final = frozenset({"input", "meta", "link", "img", "br", "hr", "area", "base", "col", "embed", "source"})
_LABELLED: Final = re.compile(  # an element with a name in it, and the text of the next one
    r"(?P<before><(?P<tag>name|key|field|property|header|param|parameter|label|th|td|dt|span|b|strong)\b[^<>]{0,200}+>"
    r"\s*+(?P<name>[^<>]{1,64}+)</(?P=tag)\s{0,8}+>\s*+(?:<[^<>]{1,200}+>\s*+){1,4})[^<]+",
    re.IGNORECASE,
)

_TOKEN: Final = re.compile(
    r"\b(?:eyJ[\w-]{8,}+[\w.-]*+|(?:Bearer|Basic|Negotiate|NTLM|ApiKey)\s++[\w.~+/=-]{4,}+)", re.IGNORECASE
)
_CHALLENGE: Final = re.compile(  # several values in one line, named like anything
    r"\b(?:Digest|OAuth|Hawk|AWS4-HMAC-SHA256|Signature)\s++[\w-]{1,40}+\s{0,8}+=[^\r\n]*+", re.IGNORECASE
)
_PEM: Final = re.compile(r"-----BEGIN [^-]{0,40}KEY[^-]{0,40}+-----(?s:.*?)(?:-----END [^-]{0,80}+-----|\Z)")
_NAME: Final = r"(?P<tag>[A-Za-z_][\w.:-]*+)"
# What begins in one way of writing `<` may end in another: a template has escaped a part of it.
_CLOSES: Final = r"(?P<closed>/?)(?:>|&gt;|\\u003[eE]|\Z)"
_END: Final = re.compile(rf"(?:<|&lt;|\\u003[cC])\\?/{_NAME}\s{{0,8}}+(?:>|&gt;|\\u003[eE])")
_TAGS: Final = (  # the sign stands in no attribute that is written in the same way
    re.compile(rf"<{_NAME}(?P<attributes>\s[^<>]*+)?{_CLOSES}"),
    re.compile(rf"&lt;{_NAME}(?P<attributes>\s(?:[^<>&]|&(?![lg]t;))*+)?{_CLOSES}"),
    re.compile(rf"\\u003[cC]{_NAME}(?P<attributes>\s(?:[^<>\\]|\\(?!u003[cCeE]))*+)?{_CLOSES}"),
)
MOST_BODY: Final = 1_024  # bytes of a body that are kept
MOST_HEADERS: Final = 15
LONGEST_HEADER: Final = 120  # characters of its value
LARGEST: Final = 2_048  # bytes of all that is kept, as JSON
_NO_TEXT: Final = re.compile("[\ufffd\x00-\x08\x0e-\x1f]")
MOST_OF_NO_TEXT: Final = 0.1  # of the characters of what still counts as a text


def masked_anyhow(text: str) -> str:
    """The text as it may be shown."""
    shown = _LABELLED.sub(_labelled, _PEM.sub(MASK, text))
    for tag in _TAGS:
        shown = _without_elements(shown, tag)
    shown = _listed(_parts(shown))
    return without_tokens(masked_free_text(_named(_CHALLENGE.sub(MASK, shown))))


def without_tokens(text: str) -> str:
    """A text, or JSON, without what looks like a token whatever stands before it."""
    return _TOKEN.sub(MASK, text)


# ------------------------------------------------------------ names with a sign behind them


def _named(text: str) -> str:
    """A value that looks like a name of its own is gone through, too, if it is not masked."""
    shown, at, is_labelled = "", 0, False
    while found := _NAMED.search(text, at):
        name = found["name"].lower()
        shown += text[at : found.end()]
        at = found.end()
        is_secret = is_sensitive(found["name"]) or (is_labelled and name in CONTENTS)
        if name in LABELS:
            is_labelled = _is_label(text, at)
        if is_secret:
            end = _end_of_value(text, found)
            shown += MASK if end > at else ""
            at = end
    return shown + text[at:]


def _is_label(text: str, at: int) -> bool:
    """Whether what stands here says that the value beside it may be a secret."""
    found = _LABEL.match(text, at)
    return bool(found and is_sensitive(found[1]))


def _end_of_value(text: str, found: re.Match[str]) -> int:
    at = found.end()
    if found["quote"]:
        if whole := _QUOTED.match(text, at) or _LITERAL.match(text, at):
            return whole.end()
    elif not _WHOLE_LINE.search(found["name"]) and (quoted := _QUOTED.match(text, at)):  # and whatever is joined to it
        return _end_of_block(text, found.start(), _end_of(_LINE.match(text, quoted.end()), quoted.end()), is_bare=False)
    end = _end_of(_FIELD.match(text, at) if found["sign"] == "=" else _LINE.match(text, at), at)
    return end if text[end : end + 1] == "&" else _end_of_block(text, found.start(), end, is_bare=end == at)


def _listed(text: str) -> str:
    """The value of a list that begins with a name."""
    shown, at = "", 0
    while found := _LISTED.search(text, at):
        shown += text[at : found.end()]
        at = found.end()
        if is_sensitive(found["name"]):
            at = _end_of(_QUOTED.match(text, at) or _ITEM.match(text, at), at)
            shown += MASK
    return shown + text[at:]


def _parts(text: str) -> str:
    """Forms in several parts: the content of each that is named like a secret, from an empty line to a delimiter."""
    shown, left, hidden = list[str](), 0, None
    for line in text.split("\n"):
        if hidden is not None and not line.startswith("--"):
            hidden = line
            continue
        if hidden is not None:
            shown[-1] += hidden[len(hidden.rstrip("\r")) :]
            hidden = None
        shown.append(line)
        if any(map(is_sensitive, _PART_NAME.findall(line))):
            left = _LONGEST_HEAD
        elif left and not line.strip("\r"):
            shown.append(MASK)
            left, hidden = 0, ""
        else:
            left = max(left - 1, 0)
    return "\n".join(shown)


def _end_of(found: re.Match[str] | None, at: int) -> int:
    return found.end() if found else at


def _end_of_block(text: str, start: int, end: int, *, is_bare: bool) -> int:
    """The lines that are indented below the line of the name belong to it: in YAML, and in a header that is folded.

    `is_bare`: nothing stands behind the sign. Then the next line belongs to it in any case, and so do the items of a
    list that are not indented.
    """
    line = text[text.rfind("\n", 0, start) + 1 : start]
    indent, is_item = _indent(line), line.lstrip().startswith("-")
    at, is_first = end, is_bare
    while at < len(text):
        begin = at + (2 if text.startswith("\r\n", at) else 1)
        after = _end_of(_LINE.match(text, begin), begin)
        content = text[at:after].strip("\r\n")
        if content.strip():
            belongs = _indent(content) > indent or is_first
            if not (belongs or (is_bare and not is_item and content.lstrip().startswith("-"))):
                break
            end, is_first = after, False
        at = after
    return end


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


# ------------------------------------------------------------ tags


def _labelled(found: re.Match[str]) -> str:
    return f"{found['before']}{MASK}" if is_sensitive(found["name"]) else found[0]


def _without_elements(text: str, tag: re.Pattern[str]) -> str:
    """All that stands in an element that is named like a secret, or that says so itself, and its attributes."""
    shown, at = "", 0
    while found := tag.search(text, at):
        shown += text[at : found.start()]
        at = found.end()
        attributes = found["attributes"] or ""
        if not any(map(is_sensitive, [found["tag"], *_SAYS_WHAT.findall(attributes)])):
            shown += found[0]
            continue
        shown += found[0].replace(attributes.rstrip("/"), f" {MASK}", 1) if attributes else found[0]
        is_closed = bool(found["closed"]) or attributes.endswith("/")
        if not is_closed and found["tag"].lower() not in _VOID:
            at = _end_of_element(text, found["tag"].lower(), at)
            shown += MASK
    return shown + text[at:]


def _end_of_element(text: str, tag: str, at: int) -> int:
    """Where its end tag stands, or the end of all."""
    ends = (found.start() for found in _END.finditer(text, at) if found["tag"].lower() == tag)
    return next(ends, len(text))


# ------------------------------------------------------------ what is kept of an answer


def kept(
    status: int,
    millis: int,
    headers: Iterable[tuple[str, str]],
    body: bytes | None,
    *,
    is_whole: bool,
    is_over: Callable[[], bool] = lambda: False,
) -> str:
    """An answer as JSON of at most 2,048 bytes. `body` is None if there is none, or it did not come in time.

    `is_over` says whether the time of the attempt is used up: what is not masked by then is not kept.
    """
    shown: dict[str, Any] = {"status": status, "durationMs": millis}
    in_time = takewhile(lambda _: not is_over(), islice(headers, MOST_HEADERS))
    if named := {name.lower(): _header(name, value) for name, value in in_time}:
        shown["headers"] = named
    while len(_json(shown)) > LARGEST // 2:
        shown["headers"].popitem()
    if body is None:
        return _json(shown).decode()
    if is_over():
        return _json({**shown, "bodyOmitted": "no time was left to mask it"}).decode()
    encoding = named.get("content-encoding", "identity").strip().lower()
    text = "" if encoding not in ("", "identity") else _text(body)
    if body and not text:
        return _json({**shown, "bodyOmitted": f"not a text: {encoding}"[:60]}).decode()
    return _fitting(shown, masked_body(text), is_whole=is_whole and len(body) <= MOST_BODY).decode()


def _header(name: str, value: str) -> str:
    shown = str(masked_value(name, value))
    shown = shown if shown == MASK else masked_anyhow(shown[:LOOKED_AT])
    return shown if len(shown) <= LONGEST_HEADER else f"{shown[:LONGEST_HEADER]}..."


def _text(body: bytes) -> str:
    """Empty for what is none: nothing in it could be masked."""
    text = body[:MOST_BODY].decode("utf-8", "replace")
    if len(body) >= MOST_BODY:
        text = text.rstrip("\ufffd")  # a character that was cut in two
    return text if len(_NO_TEXT.findall(text)) <= MOST_OF_NO_TEXT * len(text) else ""


def masked_body(text: str) -> str:
    """A body, or the beginning of one, as it may be shown."""
    try:
        content = read_json(text)
        shown = read_json(masked_text(text))
        deeper = _texts_masked(shown)
    except (ValueError, RecursionError):
        return masked_anyhow(text)
    return without_tokens(text if deeper == content else write(deeper))


def _texts_masked(value: Any) -> Any:
    """JSON in which each text is masked for itself: a message, a line of a log, a document of another kind."""
    if isinstance(value, dict):
        return {name: _texts_masked(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_texts_masked(one) for one in value]
    return masked_body(value) if isinstance(value, str) else value


def _fitting(shown: Mapping[str, Any], body: str, *, is_whole: bool) -> bytes:
    """As much of the body as there is room for."""
    text = body.encode("utf-8", "replace")[:MOST_BODY].decode("utf-8", "ignore")
    while True:
        cut = {} if is_whole and text == body else {"bodyCut": True}
        made = _json({**shown, "body": text, **cut})
        if len(made) <= LARGEST:
            return made
        text = text[: len(text) - max((len(made) - LARGEST) // 6, 1)]


def _json(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "replace")
