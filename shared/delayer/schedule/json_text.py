"""JSON that is read and written again (ADR 0148), and how much work a JSON Schema can make."""

import json
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from functools import cache, lru_cache
from itertools import chain, zip_longest
from typing import Any, Final

import msgspec

MOST_OF_PYTHON: Final = 4_300  # digits of an integer that Python reads and writes
MOST_DIGITS: Final = 309  # of an integer that a float of 64 bits can hold
LARGEST_FLOAT: Final = sys.float_info.max
MOST_WRITTEN_OUT: Final = 20  # digits of an integer that came with a point or an exponent
_ENCODER: Final = msgspec.json.Encoder(decimal_format="number")
MOST: Final = 500_000  # for one value: half a second of a core; a function with 256 MB has a seventh of one
_OF_KEYWORD: Final = 7.0  # if it holds, or if its error ends the matter
_OF_BRANCH: Final = 14.0  # in a branch of anyOf: all errors are made
_OF_NAME: Final = 0.3  # of the keyword's own, for each name that it requires
_OF_FIELD: Final = 0.02  # the same, for each field that it knows
_OF_CONSTANT: Final = 0.15  # the same, for each value that it compares with
_OF_OTHERS: Final = 0.1  # the same, for each field of the value, to find those that it does not know
_OF_BYTE: Final = 1 / 350  # the same, for each byte of the value: an error names it
_ANNOTATIONS: Final = frozenset({"title", "description", "default", "examples", "writeOnly", "x-allowed", "format"})
_INNER: Final = ("additionalProperties", "items")


def read(text: str | bytes) -> Any:
    """The value in a JSON text. Raises ValueError or RecursionError.

    Numbers keep their decimal digits: an epoch second of 1795251600.25 must not gain a millisecond.
    """
    if isinstance(text, str):
        return json.loads(text, **_EXACT)
    return _reader().decode(text.decode(json.detect_encoding(text), "surrogatepass"))


def read_as_floats(text: str) -> Any:
    """The value in a JSON text, as most readers have it. Raises as `read`.

    A number that no float holds is an int; if Python cannot write it as one either, a msgspec.Raw with its text.
    """
    return json.loads(text, parse_float=_float, parse_int=_any_int, parse_constant=refuse_constant)


def write(value: Any) -> str:
    """A value as compact JSON. It may have Decimals, and msgspec.Raw with the digits of a number.

    Half a surrogate pair, which a foreign text may have, stays an escape; beside it, a number may become a text.
    """
    try:
        return in_characters_of_sqs(_ENCODER.encode(value).decode())
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":"), default=_as_text)


def in_characters_of_sqs(text: str) -> str:
    """U+FFFE and U+FFFF are JSON, but SQS refuses them: escaped, they mean the same, and are twice as long."""
    return text.replace("\ufffe", "\\ufffe").replace("\uffff", "\\uffff")


def integer(digits: str) -> int | Decimal:
    """The number of these digits. One with very many is no int: Python would refuse it, or take long."""
    return int(digits) if len(digits) <= MOST_DIGITS else Decimal(digits)


def beyond_floats(value: Any, path: str) -> Iterator[str]:
    """Where in a value there are numbers that no float of 64 bits holds, as most readers of JSON have them."""
    if isinstance(value, dict | list):
        for name, one in value.items() if isinstance(value, dict) else enumerate(value):
            if isinstance(one, dict | list | int | Decimal):
                yield from beyond_floats(one, f"{path}.{name}")
    elif isinstance(value, int | Decimal) and not isinstance(value, bool) and math.isinf(float(str(value))):
        yield path


def refuse_constant(name: str) -> None:
    """Python reads and writes NaN and Infinity, which are no JSON. Raises ValueError."""
    raise ValueError(f"{name} is no JSON number")


def _decimal(digits: str) -> int | Decimal:
    """13.0 is an integer, for JSON Schema and so for the contract; as 13 it is one for every reader.

    One with more digits stays as it was written, or 1e308 would be a hundred times as long; so does -0.0, for its sign.
    An exponent of twenty digits is JSON, too: a payload may have it, and in any other field it is out of bounds.
    """
    try:
        number = Decimal(digits)
    except InvalidOperation:
        return Decimal("Infinity")
    is_short = number.adjusted() < MOST_WRITTEN_OUT and not (number.is_zero() and number.is_signed())
    return int(number) if is_short and number == number.to_integral_value() else number


_EXACT: Final[Mapping[str, Any]] = {
    "parse_float": _decimal,
    "parse_int": integer,
    "parse_constant": refuse_constant,
}


@cache
def _reader() -> json.JSONDecoder:
    """For all bodies: `json.loads` makes one for each text."""
    return json.JSONDecoder(**_EXACT)


def _float(digits: str) -> Any:
    number = float(digits)
    return _int_or_raw(digits) if math.isinf(number) else number


def _any_int(digits: str) -> Any:
    return int(digits) if len(digits) <= MOST_OF_PYTHON else msgspec.Raw(digits.encode())


def _int_or_raw(digits: str) -> Any:
    try:
        number = Decimal(digits)
    except InvalidOperation:
        return msgspec.Raw(digits.encode())
    is_int = number.adjusted() < MOST_OF_PYTHON and number == number.to_integral_value()
    return int(number) if is_int else msgspec.Raw(digits.encode())


def _as_text(number: Any) -> str:
    return bytes(number).decode() if isinstance(number, msgspec.Raw) else str(number)


@lru_cache(maxsize=256)
def parsed(schema: str) -> Mapping[str, Any]:
    """A schema as an object. The same text gives the same object: do not change it."""
    content: Mapping[str, Any] = json.loads(schema)
    return content


Levels = tuple[float, ...]  # for one value at each depth: the first is that for the whole


@lru_cache(maxsize=256)
def levels_of(schema: str) -> Levels:
    """For a schema as JSON text. It has no references, and `anyOf` is the only keyword that tries schemas."""
    return _levels(msgspec.json.decode(schema), _OF_KEYWORD)


def most_work(levels: Levels, value: Any, size: int) -> float:
    """For this value, which has as many bytes."""
    work, level = size * sum(levels) * _OF_BYTE, [value]
    for time in levels:
        work += time * len(level)
        if work > MOST or not level:
            break
        level = [*chain.from_iterable(map(values_in, level))]
    return work


def _levels(schema: Any, each: float) -> Levels:
    """`each` is the time for a keyword."""
    if not isinstance(schema, Mapping):
        return (each,)
    own = each * sum(_weight(name, rule) for name, rule in schema.items() if name not in _ANNOTATIONS)
    others = each * _OF_OTHERS * ("additionalProperties" in schema)
    inner = [*schema.get("properties", {}).values(), *(schema[name] for name in _INNER if name in schema)]
    below = _merged(max, (_levels(one, each) for one in inner))
    names = _levels(schema["propertyNames"], each) if "propertyNames" in schema else ()
    branches = (_levels(one, _OF_BRANCH) for one in schema.get("anyOf", []))
    return _merged(sum, [(own, *_merged(sum, [below, names, (others,)])), *branches])


def _merged(how: Callable[[Sequence[float]], float], several: Iterable[Levels]) -> Levels:
    return tuple(map(how, zip_longest(*several, fillvalue=0.0)))


def _weight(name: str, rule: Any) -> float:
    match name:
        case "required":
            return 1 + _OF_NAME * len(rule)
        case "properties":
            return 1 + _OF_FIELD * len(rule)
        case "const" | "enum":
            return 1 + _OF_CONSTANT * _count(rule)
    return 2 if name == "multipleOf" else 1


def _count(value: Any) -> int:
    return 1 + sum(map(_count, values_in(value)))


def values_in(value: Any) -> Iterable[Any]:
    """The values that a JSON value holds."""
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()
