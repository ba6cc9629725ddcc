"""JSON, as it is sent: what JSON does not have is refused, and nothing is altered in silence."""

import math
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
            pass
        case float():
            if not math.isfinite(value):
                raise WrongArgument(f"{where or 'The body'} is {value}, which JSON does not have. {REMEDY}")
        case str():
            _check_text(value, where)
        case dict():
            for name, one in value.items():
                if not isinstance(name, str):
                    raise WrongArgument(f"{where or 'The body'} has the name {name!r}; in JSON it is a text. {REMEDY}")
                _check_text(name, where)
                _check(one, f"{where}.{name}" if where else name)
        case list() | tuple():
            for number, one in enumerate(value):
                _check(one, f"{where}[{number}]")
        case _:
            kind = type(value).__name__
            raise WrongArgument(f"{where or 'The body'} is a {kind}, which JSON does not have. {REMEDY}")


def _check_text(text: str, where: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise WrongArgument(f"{where or 'The body'} has half a character (a lone surrogate). {REMEDY}") from error
