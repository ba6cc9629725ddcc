"""Reads the values of flags: JSON, files, standard input, tags."""

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from delayer_client.cli.reading.durations import NotRead

if TYPE_CHECKING:
    import msgspec

STDIN: Final = "-"


def in_file(name: str) -> str:
    """The name of a file, or `-`, as `text_of` takes it; it may have its @ already."""
    return name if name == STDIN or name.startswith("@") else f"@{name}"


def text_of(given: str, flag: str) -> str:
    """The text itself, `@file`, or `-` for standard input. `@@…` is a text that begins with an @. Raises NotRead."""
    if given.startswith("@@"):
        return given[1:]
    if not _is_elsewhere(given):
        return given
    try:
        if given == STDIN:
            return sys.stdin.buffer.read().decode()
        return Path(given[1:]).expanduser().read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text in UTF-8"
        where = "standard input" if given == STDIN else f"the file {given[1:]}"
        raise NotRead(f"{flag}: {where} cannot be read: {reason}.") from error


def _is_elsewhere(given: str) -> bool:
    """Whether it only names what holds the text."""
    return given == STDIN or (given.startswith("@") and not given.startswith("@@"))


def json_of(given: str, flag: str) -> Any:
    """JSON, as text, `@file` or `-`. Raises NotRead."""
    return _parsed(text_of(given, flag), flag, given)


def raw_json_of(given: str, flag: str) -> "msgspec.Raw":
    """The same, as it was written: no digit of a number is lost, and no name of an object. Raises NotRead."""
    import msgspec

    text = text_of(given, flag)
    _parsed(text, flag, given)
    return msgspec.Raw(text.encode())


def _parsed(text: str, flag: str, given: str = "") -> Any:
    from delayer_client.calls.decoding import decoded

    try:
        found = json.loads(text, parse_constant=_refuse, parse_int=str)
        json.dumps(found, ensure_ascii=False).encode()  # "\ud800" is half a sign, and no text
        return decoded(text, object)
    except (ValueError, RecursionError) as error:
        where = f" (line {error.lineno}, column {error.colno})" if isinstance(error, json.JSONDecodeError) else ""
        said = f"{flag} is not JSON: {_why(error)}{where}."
        if not _is_elsewhere(given):
            said += (
                f" A text has its own quotes: {flag} '\"hello\"'. "
                f"An object: {flag} '{{\"order\": 17}}'. A file: {flag} @order.json."
            )
        raise NotRead(said) from error


def _why(error: Exception) -> str:
    match error:
        case json.JSONDecodeError():
            return error.msg
        case UnicodeEncodeError():
            return "it has half a sign of two (\\ud800 to \\udfff), which is no text"
        case RecursionError():
            return "it is nested too deeply"
    return str(error)


def _refuse(word: str) -> None:
    raise ValueError(f"{word} is no number of JSON")


def object_of(given: str, flag: str) -> dict[str, Any]:
    """A JSON object. Raises NotRead."""
    return _an_object(json_of(given, flag), flag)


def members_of(given: str, flag: str) -> dict[str, Any]:
    """A JSON object with its texts, and all other members as they were written. Raises NotRead."""
    import msgspec

    raw = raw_json_of(given, flag)
    found = _an_object(_parsed(bytes(raw).decode(), flag), flag)
    written = msgspec.json.decode(raw, type=dict[str, msgspec.Raw])
    return {name: value if isinstance(value, str) else written[name] for name, value in found.items()}


def _an_object(found: Any, flag: str) -> dict[str, Any]:
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
