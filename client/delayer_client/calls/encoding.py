"""JSON, as it is sent: what JSON does not have is refused, and nothing is altered in silence."""

import math
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from delayer_client.errors import WrongArgument

REMEDY: Final = "Give what JSON has, or msgspec.Raw with the text of your own encoder."


def encoded(body: Any) -> bytes:
    """The bytes. Raises WrongArgument with the place of what is no JSON: NaN, Decimal, bytes, sets and the like."""
    _check(body, "")
    return msgspec.json.encode(body)


def _check(value: Any, where: str) -> None:
    match value:
        case None | bool() | int() | msgspec.Raw():
            return
        case str():
            _check_text(value, where)
        case float() if math.isfinite(value):
            return
        case dict():
            _check_object(value, where)
        case list() | tuple():
            for number, one in enumerate(value):
                _check(one, f"{where}[{number}]")
        case _:
            kind = f"{value}" if isinstance(value, float) else f"a {type(value).__name__}"
            raise WrongArgument(f"{where or 'The body'} is {kind}, which JSON does not have. {REMEDY}")


def _check_object(value: Mapping[Any, Any], where: str) -> None:
    for name, one in value.items():
        if not isinstance(name, str):
            raise WrongArgument(f"{where or 'The body'} has the name {name!r}; in JSON it is a text. {REMEDY}")
        _check_text(name, where)
        _check(one, f"{where}.{name}" if where else name)


def _check_text(text: str, where: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise WrongArgument(f"{where or 'The body'} has half a character (a lone surrogate). {REMEDY}") from error
