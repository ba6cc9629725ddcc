"""What is kept of the answer of a target: bounded, and masked as all else is that people may see (ADR 0109).

An answer is nobody's definition: nothing says which of its fields are secret but their names. What is JSON is masked as
JSON, and each text in it as a text. In any other text, and in JSON that was cut off, the value behind a name that may
be secret is masked by the text alone: rather more than too little.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from itertools import islice, takewhile
from typing import Any, Final

from delayer.core.masking.anyhow import masked_anyhow, without_tokens
from delayer.core.masking.mask import MASK, masked_text, masked_value, read_json
from delayer.core.masking.secrets import LOOKED_AT
from delayer.core.schemas.json_text import write

MOST_BODY: Final = 1_024  # bytes of a body that are kept
MOST_HEADERS: Final = 15
LONGEST_HEADER: Final = 120  # characters of its value
LARGEST: Final = 2_048  # bytes of all that is kept, as JSON
_NO_TEXT: Final = re.compile("[\ufffd\x00-\x08\x0e-\x1f]")
MOST_OF_NO_TEXT: Final = 0.1  # of the characters of what still counts as a text


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
