"""Checks the class that another stack registers: it must not harm those who validate with it.

Its schema is data from outside. Each POST of its type is validated with it, in the functions that all owners share. So
it is small, refers to nothing, asks little of each value, and its patterns cannot take long, whatever text they are
given. How many values a request may have then follows from the schema (`schedule/json_text.py`).
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, reduce
from importlib import import_module
from importlib.resources import files
from itertools import chain, combinations
from typing import Any, Final

import msgspec
from attrs import evolve, frozen
from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError

from delayer.actions.rules.addresses import HOST
from delayer.actions.rules.model import LARGEST_PAYLOAD, ActionType, decode, problem_in
from delayer.schedule.json_text import levels_of, refuse_constant, values_in

_parser: Final[Any] = import_module("re._parser")  # the parser of Python's own patterns
_ASCII: Final = frozenset(range(128))
_OTHER: Final = 128  # stands for all characters beyond ASCII: two sets that have some of them may have the same
_END: Final = frozenset({-1})  # no character: the text must end here
_EVERY: Final = _ASCII | {_OTHER}
_IN_CATEGORY: Final = {"DIGIT": r"\d", "SPACE": r"\s", "WORD": r"\w"}
_REPEATS: Final = frozenset({"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"})
_MANY: Final = 10**9  # ways or steps: more are not counted
LONGEST: Final = 1_024  # characters of a pattern

Set = frozenset[int]
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


class Unpredictable(ValueError):
    """A pattern that is refused; the text continues "the pattern …"."""


@frozen(kw_only=True)
class _Part:
    """Facts about a part of a pattern."""

    first: Set  # the characters that it can begin with
    is_empty: bool  # whether what follows can come at once
    takes: bool  # whether it takes a character at least
    ways: int = 1  # to match at one place, those that fail at the next character not counted
    fixed: int = 1  # steps of one try, however long the text is
    passes: int = 0  # how often one try goes through the text


_NOTHING: Final = _Part(first=frozenset(), is_empty=True, takes=False)


def most_steps(pattern: str, longest: int) -> int:
    """For a text of up to `longest` characters that does not end with a line feed. Raises Unpredictable."""
    if len(pattern) > LONGEST:
        raise Unpredictable(f"has more than {LONGEST:,} characters")
    try:
        tree = _parser.parse(pattern)
        re.compile(pattern)
        if tree.state.flags != re.UNICODE.value:
            raise Unpredictable("sets flags")
        if not tree or [str(one) for one in tree[0]] != ["AT", "AT_BEGINNING"]:
            raise Unpredictable("must begin with ^: otherwise it is tried at each character")
        part = _sequence(tree, frozenset(), longest)
    except (re.error, RecursionError, OverflowError) as error:
        raise Unpredictable("is none") from error
    return min(part.fixed + part.passes * (longest + 1), _MANY)


def _sequence(nodes: Iterable[Any], follow: Set, longest: int) -> _Part:
    """One part after the other. `follow` is what can come after them all."""
    parts: list[_Part] = []
    after = _NOTHING
    for node in reversed(list(nodes)):
        part = _part(node, after.first | follow if after.is_empty else after.first, longest)
        parts.append(part)
        first = part.first | after.first if part.is_empty else part.first
        after = _Part(first=first, is_empty=part.is_empty and after.is_empty, takes=part.takes or after.takes)
    ways, fixed, passes = 1, 1, 0
    for part in reversed(parts):  # each is tried once for each way in which those before it match
        fixed, passes = fixed + ways * part.fixed, passes + ways * part.passes
        ways = min(ways * part.ways, _MANY)
    return evolve(after, ways=ways, fixed=fixed, passes=passes)


def _part(node: Any, follow: Set, longest: int) -> _Part:
    operation, argument = str(node[0]), node[1]
    if operation in _REPEATS:
        return _repeat(*argument, follow=follow, longest=longest)
    match operation:
        case "LITERAL" | "NOT_LITERAL" | "IN" | "ANY":
            return _Part(first=_characters(operation, argument), is_empty=False, takes=True)
        case "AT":
            is_end = str(argument) in ("AT_END", "AT_END_STRING")
            return evolve(_NOTHING, first=_END, is_empty=False) if is_end else _NOTHING
        case "SUBPATTERN":
            if argument[1] or argument[2]:
                raise Unpredictable("sets flags")
            return _sequence(argument[3], follow, longest)
        case "ATOMIC_GROUP":
            return _sequence(argument, follow, longest)
        case "BRANCH":
            return _branch([_sequence(one, follow, longest) for one in argument[1]], follow)
    raise Unpredictable("looks around, or refers to a group")


def _branch(parts: Sequence[_Part], follow: Set) -> _Part:
    """The alternatives are tried one after the other; those that cannot begin here fail at once."""
    firsts = [one.first | follow if one.is_empty else one.first for one in parts]
    is_clear = all(not one & other for one, other in combinations(firsts, 2))
    return _Part(
        first=reduce(frozenset.union, (one.first for one in parts)),
        is_empty=any(one.is_empty for one in parts),
        takes=all(one.takes for one in parts),
        ways=max(one.ways for one in parts) if is_clear else min(sum(one.ways for one in parts), _MANY),
        fixed=1 + sum(one.fixed for one in parts),
        passes=sum(one.passes for one in parts),
    )


def _repeat(least: int, most: int, nodes: Iterable[Any], *, follow: Set, longest: int) -> _Part:
    """From `least` to `most` times. Each turn but an empty one takes a character of the text."""
    items = list(nodes)
    least, most = min(int(least), _MANY), min(int(most), _MANY)
    body = _sequence(items, follow, longest)
    if most > 1:
        body = _sequence(items, follow | body.first, longest)
        if not body.takes:
            raise Unpredictable("repeats what may be empty")
        if body.ways > 1:
            raise Unpredictable("repeats what can match in more than one way")
    is_clear = least == most or not body.first & follow
    turns = min(most, longest + 1)
    stops = 1 if is_clear else max(turns - min(least, turns) + 1, 1)  # the numbers of turns that may be the right one
    return _Part(
        first=body.first,
        is_empty=least == 0 or body.is_empty,
        takes=least > 0 and body.takes,
        ways=min(body.ways * stops if most > 1 else body.ways + stops - 1, _MANY),
        fixed=1 + body.fixed if most <= 1 else 1 + 2 * body.fixed,
        passes=body.passes if most <= 1 else 2 * (body.fixed + body.passes),
    )


def _characters(operation: str, argument: Any) -> Set:
    match operation:
        case "LITERAL":
            return _only(argument)
        case "NOT_LITERAL":
            return _EVERY - (_only(argument) & _ASCII)
        case "ANY":
            return _EVERY - {ord("\n")}
    members = [(str(kind), value) for kind, value in argument]
    found = reduce(frozenset.union, (_member(kind, value) for kind, value in members), frozenset[int]())
    return _EVERY - (found & _ASCII) if members[0][0] == "NEGATE" else found


def _member(kind: str, value: Any) -> Set:
    match kind:
        case "LITERAL":
            return _only(value)
        case "RANGE":
            low, high = value
            beyond = frozenset({_OTHER}) if high >= _OTHER else frozenset[int]()
            return beyond | frozenset(range(low, min(high, _OTHER - 1) + 1))
        case "NEGATE":
            return frozenset()
    name = str(value).removeprefix("CATEGORY_")
    known = _IN_CATEGORY.get(name.removeprefix("NOT_"))
    if known is None:
        return _EVERY
    inside = frozenset(code for code in _ASCII if re.fullmatch(known, chr(code)))
    return (_ASCII - inside if name.startswith("NOT_") else inside) | {_OTHER}


def _only(code: int) -> Set:
    return frozenset({min(code, _OTHER)})


class Unsafe(ValueError):
    """A schema that is not registered; the text says why."""


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
        return json.loads(text, parse_constant=refuse_constant, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        raise Unsafe(f"the {name} is no JSON") from error


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
    """Returns the schema and all schemas within it, each with its path. Raises Unsafe."""
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
        steps = most_steps(schema["pattern"], longest) // max(longest, 1)
    except Unpredictable as error:
        raise Unsafe(f"the pattern of {path} {error}") from error
    if steps > MOST_STEPS:
        raise Unsafe(
            f"the pattern of {path} could take too long: let what follows a repeat begin with a character that the "
            "repeat does not match, or make maxLength smaller"
        )
    return steps


@cache
def built_in() -> Mapping[str, ActionType]:
    """By type, the internal ones among them."""
    texts = msgspec.json.decode(
        files("delayer.actions.rules").joinpath("built_in.json").read_bytes(), type=dict[str, str]
    )
    return {kind: decode(text) for kind, text in texts.items()}
