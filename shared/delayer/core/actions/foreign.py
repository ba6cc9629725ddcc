"""What is accepted of a class that another stack registers: nothing that could harm those who validate with it.

Its schema is data from outside. Each POST of its type is validated with it, in the functions that all owners share. So
it is small, refers to nothing, asks little of each value, and its patterns cannot take long, whatever text they are
given. How many values a request may have then follows from the schema (`core/schemas/work.py`).
"""

import json
import re
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any, Final

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError

from delayer.core.actions import patterns
from delayer.core.actions.action_type import LARGEST_PAYLOAD, ActionType, problem_in
from delayer.core.addresses.spelling import HOST
from delayer.core.schemas.work import levels_of, values_in

TYPE: Final = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
LONGEST_TYPE: Final = 40  # characters
LARGEST: Final = 8_192  # bytes of JSON
DEEPEST: Final = 24  # levels of JSON, schemas and examples alike
LONGEST_MATCHED: Final = 2_048  # characters of a text that a pattern may be given
MOST_WORK: Final = 700  # microseconds for one value: about a hundred keywords, or fifty in branches of `anyOf`
MOST_STEPS: Final = 128  # of one pattern, for each character of a text
MOST_STEPS_IN_ALL: Final = 512  # of all patterns of a schema: a payload may be matched with each of them

KEYWORDS: Final = frozenset({
    "type", "const", "enum", "anyOf", "properties", "required", "additionalProperties", "propertyNames", "items",
    "pattern", "minLength", "maxLength", "format", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
    "multipleOf", "minItems", "maxItems", "minProperties", "maxProperties",
    "title", "description", "default", "examples", "writeOnly", "x-allowed",
})  # fmt: skip
_OF_SCHEMAS: Final = ("additionalProperties", "items", "propertyNames")  # keywords whose value is a schema


class Unsafe(ValueError):
    """It is not registered; the text says why."""


def check(action: ActionType) -> None:
    """Raises Unsafe for what Delayer does not take from another stack."""
    if not TYPE.fullmatch(action.type) or len(action.type) > LONGEST_TYPE:
        raise Unsafe(f"a type has up to {LONGEST_TYPE} small letters and digits, with single hyphens between")
    if action.internal:
        raise Unsafe("an action of another stack cannot be internal")
    if not 0 <= action.largest_payload <= LARGEST_PAYLOAD:
        raise Unsafe(f"the largest payload is between 0 and {LARGEST_PAYLOAD:,} bytes")
    schema = _checked("schema", action.schema)
    _check_shape(action, schema)
    if action.payload:
        _checked("payload", action.payload)


def _checked(name: str, text: str) -> Mapping[str, Any]:
    """The schema in a text. Raises Unsafe."""
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > LARGEST:
        raise Unsafe(f"the {name} has {size:,} bytes; at most {LARGEST:,} are allowed")
    schema = _parsed(name, text)
    if _is_too_deep(schema):
        raise Unsafe(f"the {name} is nested more than {DEEPEST} levels deep")
    if not isinstance(schema, Mapping):
        raise Unsafe(f"the {name} is no JSON object")
    schemas = [*_schemas_in(schema, name)]
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        where = ".".join([name, *(str(step) for step in error.absolute_path)])
        raise Unsafe(f"{where} is no JSON Schema") from error
    if max(levels_of(text)) > MOST_WORK:
        raise Unsafe(f"the {name} asks too much of one value: it has too many keywords, or too large branches of anyOf")
    steps = sum(_steps(one, path) for path, one in schemas if "pattern" in one)
    if steps > MOST_STEPS_IN_ALL:
        raise Unsafe(f"all patterns of the {name} together could take too long")
    return schema


def _parsed(name: str, text: str) -> Any:
    try:
        text.encode()
        return json.loads(text, parse_constant=_refuse_constant, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        raise Unsafe(f"the {name} is no JSON") from error


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON number")


def _finite(digits: str) -> float:
    if (number := float(digits)) in (float("inf"), float("-inf")):
        raise ValueError(f"{digits} is too large")
    return number


def _is_too_deep(value: Any) -> bool:
    level = [value]
    for _ in range(DEEPEST):
        level = [*chain.from_iterable(map(values_in, level))]
    return bool(level)


def _check_shape(action: ActionType, schema: Mapping[str, Any]) -> None:
    """It says of which type it is, and takes no fields that it does not name."""
    fields = schema.get("properties", {})
    if fields.get("type") != {"const": action.type} or "type" not in schema.get("required", []):
        raise Unsafe(f'the schema requires a field "type" that is {action.type!r}')
    if schema.get("type") != "object" or schema.get("additionalProperties") is not False:
        raise Unsafe("the schema is that of an object without additional properties")
    if action.fair_by and action.fair_by.removeprefix(HOST) not in fields:
        raise Unsafe("the schema does not have the field to be fair by")
    if problem := problem_in(action.reaches, fields):
        raise Unsafe(f"what it reaches: {problem[:200]}")


def _schemas_in(schema: Any, path: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """It, and all within it, each with its path. Raises Unsafe."""
    if isinstance(schema, bool):
        return
    if not isinstance(schema, Mapping):
        raise Unsafe(f"{path} is no schema")
    if unknown := sorted(set(schema) - KEYWORDS):
        raise Unsafe(f"{path} has a keyword that is not allowed: {unknown[0][:40]}")
    if not isinstance(schema.get("x-allowed", ""), str):
        raise Unsafe(f"{path}.x-allowed is no text")
    yield path, schema
    fields, choices = schema.get("properties", {}), schema.get("anyOf", [])
    if not isinstance(fields, Mapping) or not isinstance(choices, list):
        raise Unsafe(f"{path} is no JSON Schema")
    inner = [*fields.items(), *((f"anyOf[{number}]", one) for number, one in enumerate(choices))]
    for name, one in [*inner, *((name, schema[name]) for name in _OF_SCHEMAS if name in schema)]:
        yield from _schemas_in(one, f"{path}.{name[:40]}")


def _steps(schema: Mapping[str, Any], path: str) -> int:
    """How many steps its pattern may take for each character of a text. Raises Unsafe."""
    longest = schema.get("maxLength")
    if not isinstance(longest, int) or longest > LONGEST_MATCHED:
        raise Unsafe(f"{path} has a pattern: it needs a maxLength of at most {LONGEST_MATCHED:,}, too")
    try:
        steps = patterns.most_steps(schema["pattern"], longest) // max(longest, 1)
    except patterns.Unpredictable as error:
        raise Unsafe(f"the pattern of {path} {error}") from error
    if steps > MOST_STEPS:
        raise Unsafe(
            f"the pattern of {path} could take too long: let what follows a repeat begin with a character that the "
            "repeat does not match, or make maxLength smaller"
        )
    return steps
