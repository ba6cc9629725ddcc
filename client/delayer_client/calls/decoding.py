"""JSON, as it is read and shown: whatever the API takes in a payload, a caller sees."""

import json
import math
from decimal import Decimal, InvalidOperation
from typing import Any, Final, TypeVar

import msgspec

Value = TypeVar("Value")

MOST_DIGITS: Final = 4_300  # of an integer that Python reads and writes


def decoded(text: bytes | str, kind: type[Value]) -> Value:
    """The value in a JSON text. Raises msgspec.DecodeError, UnicodeDecodeError.

    A number that no float holds, such as 1e400, is an int. If Python cannot write it as one either, it is a msgspec.Raw
    with its text, which can be sent again as it is.
    """
    try:
        return msgspec.json.decode(text, type=kind)
    except msgspec.ValidationError:
        return msgspec.convert(json.loads(text, parse_float=_number, parse_int=_integer), kind)


def shown(value: Any, indent: int = 0) -> str:
    """A value that was read, as JSON for people; on one line without an indent."""
    return msgspec.json.format(msgspec.json.encode(value), indent=indent).decode()


def _number(digits: str) -> Any:
    number = float(digits)
    return _beyond_floats(digits) if math.isinf(number) else number


def _integer(digits: str) -> Any:
    return int(digits) if len(digits) <= MOST_DIGITS else msgspec.Raw(digits.encode())


def _beyond_floats(digits: str) -> Any:
    try:
        number = Decimal(digits)
    except InvalidOperation:  # an exponent of twenty digits
        return msgspec.Raw(digits.encode())
    is_int = number.adjusted() < MOST_DIGITS and number == number.to_integral_value()
    return int(number) if is_int else msgspec.Raw(digits.encode())
