"""What is accepted of a class that another stack registers: nothing that could harm those who validate with it.

Its schema is data from outside. Each POST of its type is validated with it, in the functions that all owners share. So
it is small, refers to nothing, and its patterns cannot take long, whatever text they are given.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from typing import Any, Final

from delayer.core.actions.action_type import ActionType

TYPE: Final = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
LONGEST_TYPE: Final = 40  # characters
LARGEST: Final = 8_192  # bytes of JSON
DEEPEST: Final = 8
LONGEST_MATCHED: Final = 2_048  # characters of a text that a pattern may be given
MOST_REPEATS: Final = 2  # without an end, in one pattern: the time grows with the square of the text at most

KEYWORDS: Final = frozenset({
    "type", "const", "enum", "anyOf", "properties", "required", "additionalProperties", "propertyNames", "items",
    "pattern", "minLength", "maxLength", "format", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
    "multipleOf", "minItems", "maxItems", "minProperties", "maxProperties",
    "title", "description", "default", "examples", "writeOnly", "x-allowed",
})  # fmt: skip
_OF_SCHEMAS: Final = ("additionalProperties", "items", "propertyNames")  # keywords whose value is a schema
_ENDLESS: Final = frozenset({"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"})
_FORBIDDEN: Final = frozenset({"GROUPREF", "GROUPREF_EXISTS", "ASSERT", "ASSERT_NOT"})
_parser: Final[Any] = import_module("re._parser")  # the parser of Python's own patterns


class Unsafe(ValueError):
    """It is not registered; the text says why."""


def check(action: ActionType) -> None:
    """Raises Unsafe for what Delayer does not take from another stack."""
    if not TYPE.fullmatch(action.type) or len(action.type) > LONGEST_TYPE:
        raise Unsafe(
            f"a type has up to {LONGEST_TYPE} small letters and digits, with single hyphens between: {action.type!r}"
        )
    if action.internal:
        raise Unsafe("an action of another stack cannot be internal")
    for name, text in (("schema", action.schema), ("payload", action.payload)):
        if len(text.encode()) > LARGEST:
            raise Unsafe(f"the {name} has {len(text.encode()):,} bytes; at most {LARGEST:,} are allowed")
        if text:
            _check_schema(_parsed(name, text), name, 0)
    _check_shape(action)


def _parsed(name: str, text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Unsafe(f"the {name} is no JSON") from error


def _check_shape(action: ActionType) -> None:
    """It says of which type it is, and takes no fields that it does not name."""
    schema = _parsed("schema", action.schema)
    fields = schema.get("properties", {})
    if fields.get("type") != {"const": action.type} or "type" not in schema.get("required", []):
        raise Unsafe(f'the schema requires a field "type" that is {action.type!r}')
    if schema.get("type") != "object" or schema.get("additionalProperties") is not False:
        raise Unsafe("the schema is that of an object without additional properties")
    if action.fair_by and action.fair_by.rpartition(":")[2] not in fields:
        raise Unsafe(f"the schema has no field {action.fair_by!r} to be fair by")


def _check_schema(schema: Any, path: str, depth: int) -> None:
    if isinstance(schema, bool):
        return
    if not isinstance(schema, Mapping):
        raise Unsafe(f"{path} is no schema")
    if depth > DEEPEST:
        raise Unsafe(f"{path} is nested more than {DEEPEST} deep")
    if unknown := sorted(set(schema) - KEYWORDS):
        raise Unsafe(f"{path} has a keyword that is not allowed: {unknown[0]}")
    if "pattern" in schema:
        _check_pattern(schema, path)
    for name, inner in _schemas_in(schema):
        _check_schema(inner, f"{path}.{name}", depth + 1)


def _schemas_in(schema: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    fields = schema.get("properties", {})
    if not isinstance(fields, Mapping) or not isinstance(schema.get("anyOf", []), list):
        raise Unsafe("properties is no object, or anyOf no list")
    yield from fields.items()
    yield from ((f"anyOf[{number}]", one) for number, one in enumerate(schema.get("anyOf", [])))
    yield from ((name, schema[name]) for name in _OF_SCHEMAS if name in schema)


def _check_pattern(schema: Mapping[str, Any], path: str) -> None:
    pattern, longest = schema["pattern"], schema.get("maxLength")
    if not isinstance(longest, int) or longest > LONGEST_MATCHED:
        raise Unsafe(f"{path} has a pattern: it needs a maxLength of at most {LONGEST_MATCHED:,}, too")
    if not isinstance(pattern, str) or not pattern.startswith("^"):
        raise Unsafe(f"the pattern of {path} must begin with ^: otherwise it is tried at each character")
    try:
        tree = _parser.parse(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise Unsafe(f"the pattern of {path} is none: {error}") from error
    if _repeats(tree, path, inside=False) > MOST_REPEATS:
        raise Unsafe(f"the pattern of {path} has more than {MOST_REPEATS} repeats without an end")


def _repeats(tree: Iterable[Any], path: str, *, inside: bool) -> int:
    """How many repeats of a pattern have no end, or a far one. Raises Unsafe for one within another."""
    found = 0
    for operation, argument in tree:
        name = str(operation)
        if name in _FORBIDDEN:
            raise Unsafe(f"the pattern of {path} looks around, or refers to a group")
        repeats = name in _ENDLESS and argument[1] > 1
        if repeats and inside:
            raise Unsafe(f"the pattern of {path} has a repeat within a repeat")
        found += repeats and argument[1] > LONGEST_MATCHED // 8
        for inner in _trees_in(argument):
            found += _repeats(inner, path, inside=inside or bool(repeats))
    return found


def _trees_in(argument: Any) -> Iterator[Iterable[Any]]:
    """The patterns within an operation of the parser: the only values of this class in it."""
    if isinstance(argument, _parser.SubPattern):
        yield argument
    elif isinstance(argument, tuple | list):
        for one in argument:
            yield from _trees_in(one)
