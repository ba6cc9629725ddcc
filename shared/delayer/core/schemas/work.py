"""How long it can take to validate a value with a JSON Schema, at most, reckoned before it is done.

The times are in microseconds, measured with jsonschema on one core of 2.1 GHz. `anyOf` makes the difference: all its
branches are tried on the same value, each with all its errors. What a schema asks of a value adds up, and so do the
branches; of its fields and items the worst one counts.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain, zip_longest
from typing import Any, Final

import msgspec

MOST: Final = 500_000  # for one value: half a second of a core; a function with 256 MB has a seventh of one

_OF_KEYWORD: Final = 7.0  # if it holds, or if its error ends the matter
_OF_BRANCH: Final = 14.0  # in a branch of anyOf: all errors are made
_OF_NAME: Final = 0.3  # of the keyword's own, for each name that it requires
_OF_FIELD: Final = 0.02  # the same, for each field that it knows
_OF_CONSTANT: Final = 0.15  # the same, for each value that it compares with
_OF_OTHERS: Final = 0.1  # the same, for each field of the value, to find those that it does not know
_OF_BYTE: Final = 1 / 350  # the same, for each byte of the value: an error names it
_ANNOTATIONS: Final = frozenset({"title", "description", "default", "examples", "writeOnly", "x-allowed", "format"})

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


_INNER: Final = ("additionalProperties", "items")


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
