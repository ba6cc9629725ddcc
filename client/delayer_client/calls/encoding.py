"""JSON, as it is sent: what JSON does not have is refused, and nothing is altered in silence."""

import math
from collections.abc import Iterable
from typing import Any, Final

import msgspec

from delayer_client.errors import WrongArgument

REMEDY: Final = "Give what JSON has, or msgspec.Raw with the text of your own encoder."


def encoded(body: Any) -> bytes:
    """The bytes. Raises WrongArgument with the place of what is no JSON: NaN, Decimal, bytes, sets and the like."""
    waiting: list[tuple[Any, str]] = [(body, "")]  # a payload may be nested deeper than calls may be
    while waiting:
        waiting += _checked(*waiting.pop())
    return msgspec.json.encode(body)


def _checked(value: Any, where: str) -> Iterable[tuple[Any, str]]:
    """Finds the values within it, each with its place."""
    match value:
        case None | bool() | int() | msgspec.Raw():
            return ()
        case str():
            _check_text(value, where)
            return ()
        case float() if math.isfinite(value):
            return ()
        case dict():
            return [(one, _name_in(name, where)) for name, one in value.items()]
        case list() | tuple():
            return [(one, f"{where}[{number}]") for number, one in enumerate(value)]
    kind = f"{value}" if isinstance(value, float) else f"a {type(value).__name__}"
    raise WrongArgument(f"{where or 'The body'} is {kind}, which JSON does not have. {REMEDY}")


def _name_in(name: Any, where: str) -> str:
    if not isinstance(name, str):
        raise WrongArgument(f"{where or 'The body'} has the name {name!r}; in JSON it is a text. {REMEDY}")
    _check_text(name, where)
    return f"{where}.{name}" if where else name


def _check_text(text: str, where: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise WrongArgument(f"{where or 'The body'} has half a character (a lone surrogate). {REMEDY}") from error
