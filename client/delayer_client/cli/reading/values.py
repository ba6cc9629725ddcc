"""What flags hold: JSON, files, standard input, tags."""

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from delayer_client.cli.reading.durations import NotRead

STDIN: Final = "-"


def text_of(given: str, flag: str) -> str:
    """The text itself, `@file`, or `-` for standard input. `@@…` is a text that begins with an @. Raises NotRead."""
    if given == STDIN:
        return sys.stdin.read()
    if given.startswith("@@"):
        return given[1:]
    if not given.startswith("@"):
        return given
    try:
        return Path(given[1:]).expanduser().read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text in UTF-8"
        raise NotRead(f"{flag}: the file {given[1:]} cannot be read: {reason}.") from error


def json_of(given: str, flag: str) -> Any:
    """JSON, as text, `@file` or `-`. Raises NotRead."""
    text = text_of(given, flag)
    try:
        return json.loads(text, parse_constant=_refuse)
    except ValueError as error:
        where = f" (line {error.lineno}, column {error.colno})" if isinstance(error, json.JSONDecodeError) else ""
        reason = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
        raise NotRead(
            f"{flag} is not JSON: {reason}{where}. A text has its own quotes: {flag} '\"hello\"'. "
            f"An object: {flag} '{{\"order\": 17}}'. A file: {flag} @order.json."
        ) from error


def _refuse(word: str) -> None:
    raise ValueError(f"{word} is no number of JSON")


def object_of(given: str, flag: str) -> dict[str, Any]:
    """A JSON object. Raises NotRead."""
    found = json_of(given, flag)
    if not isinstance(found, dict):
        raise NotRead(f"{flag} has to be a JSON object, such as '{{\"order\": 17}}'.")
    return found


def pairs(given: Iterable[str], flag: str) -> dict[str, str]:
    """`Name: value` or `name=value`, whichever sign comes first. Raises NotRead."""
    found: dict[str, str] = {}
    for one in given:
        colon, equals = one.find(":"), one.find("=")
        at = min((place for place in (colon, equals) if place > 0), default=-1)
        if at < 0:
            raise NotRead(f"{flag} {one!r}: write it {flag} 'Name: value' or {flag} name=value.")
        found[one[:at].strip()] = one[at + 1 :].strip() if one[at] == ":" else one[at + 1 :]
    return found


def tags(given: Iterable[str]) -> dict[str, str]:
    """`key=value`. Raises NotRead."""
    found: dict[str, str] = {}
    for one in given:
        key, equals, value = one.partition("=")
        if not equals or not key:
            raise NotRead(f"--tag {one!r}: write it --tag key=value.")
        found[key] = value
    return found
