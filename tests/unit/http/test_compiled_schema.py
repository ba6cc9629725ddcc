"""The quick check of a schema is as strict as jsonschema, and what a body is answered does not depend on it."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from delayer.accept.rules.admission import admit, admit_change, check_payload
from delayer.accept.rules.window import policies
from delayer.actions.rules.foreign import built_in
from delayer.actions.rules.model import ActionType
from delayer.connections.admission import admit_connection
from delayer.http import field_errors
from delayer.http.field_errors import (
    CONNECTIONS,
    REQUEST,
    CompiledSchema,
    action_validator_of,
    errors_of,
    policy_validator_of,
    validator_of,
)
from delayer.http.problem import Invalid, Problem
from delayer.schedule.json_text import read
from delayer.series.rules.admission import admit_series, admit_series_change
from tests.samples import NOW

Reads = Callable[[bytes], Any]
SCHEMAS: dict[str, tuple[CompiledSchema, Reads]] = {
    **{name: (one, read) for name, one in vars(field_errors).items() if isinstance(one, CompiledSchema)},
    **{f"connection {kind}": (one, read) for kind, one in CONNECTIONS.items()},
    **{f"action {kind}": (action_validator_of(one.schema), msgspec.json.decode) for kind, one in built_in().items()},
    **{f"payload {kind}": (validator_of(one.payload), read) for kind, one in built_in().items() if one.payload},
    **{f"policy {name}": (policy_validator_of(schema), msgspec.json.decode) for name, schema in policies().items()},
}
ODD_TEXTS = (  # of JSON
    *("null", "true", "false", "0", "-1", "1.0", "13.5", "-0.0", "1e2", "1e25", "1e-400", "1e400", "9" * 30, "9" * 400),
    *('""', '"a"', '"a\\n"', '"\\ud800"', '"\\uffff"', f'"{"x" * 300}"', '"***"', "[]", "{}", "[null]", '{"a":1}'),
)
SOME_TEXT = st.text("ab.-:/\n\u00e9\ud800", max_size=5)


def fitting(schema: Any) -> st.SearchStrategy[Any]:
    """Values that mostly fit."""
    if not isinstance(schema, dict) or not {"type", "anyOf", "const", "enum"} & set(schema):
        return st.sampled_from([None, True, 1, "a", {}, []])
    if "anyOf" in schema:
        return st.one_of([fitting(one) for one in schema["anyOf"]])
    if "const" in schema or "enum" in schema:
        return st.sampled_from(schema.get("enum", [schema.get("const")]))
    named = schema["type"]
    return st.one_of([of_type(kind, schema) for kind in ([named] if isinstance(named, str) else named)])


def of_type(kind: str, schema: Any) -> st.SearchStrategy[Any]:
    match kind:
        case "string":
            written = st.from_regex(schema["pattern"]) if "pattern" in schema else SOME_TEXT
            return written | st.sampled_from(schema.get("examples", ["a"]))
        case "integer" | "number":
            return st.integers(int(schema.get("minimum", -3)), int(schema.get("maximum", 99)))
        case "array":
            return st.lists(fitting(schema.get("items")), max_size=min(schema.get("maxItems", 3) + 1, 12))
        case "object":
            fields = {name: fitting(one) for name, one in schema.get("properties", {}).items()}
            required = {name: fields.get(name, st.just(1)) for name in schema.get("required", ())}
            optional = {name: one for name, one in fields.items() if name not in required}
            known = st.fixed_dictionaries(required, optional=optional)
            more = schema.get("additionalProperties", {})
            others = st.dictionaries(SOME_TEXT, fitting(more), max_size=2) if isinstance(more, dict) else st.just({})
            return st.builds(lambda one, other: {**other, **one}, known, others)
    return st.booleans() if kind == "boolean" else st.none()


@st.composite
def bodies(draw: st.DrawFn, schema: Any) -> str:
    """As JSON: most of them fit, or nearly so. One place in it may be anything."""
    text = json.dumps(draw(fitting(schema)))
    if draw(st.booleans()):
        return text
    odd, marked, at = draw(st.sampled_from(ODD_TEXTS)), json.loads(text), draw(st.integers(0, 9))
    return json.dumps(replaced(marked, at)[0]).replace('"@odd@"', odd)


def replaced(value: Any, at: int) -> tuple[Any, int]:
    """With a mark in the place of a value: of the `at`th, counted from the outside."""
    if at == 0:
        return "@odd@", -1
    if isinstance(value, dict):
        new = {}
        for name, one in value.items():
            new[name], at = replaced(one, at - 1) if at > 0 else (one, at)
        return (new if at < 0 else {**new, "unknown": "@odd@"}), at
    if isinstance(value, list):
        items = []
        for one in value:
            item, at = replaced(one, at - 1) if at > 0 else (one, at)
            items.append(item)
        return items, at
    return value, at


@contextmanager
def without_the_check() -> Iterator[None]:
    """Each document is left to jsonschema, as it was before there was a check."""
    with patch.object(CompiledSchema, "is_right", lambda *_: False):
        yield


@pytest.mark.parametrize("name", SCHEMAS)
def test_each_schema_of_ours_is_understood(name: str) -> None:
    """One that is not would still be checked, but slowly."""
    assert SCHEMAS[name][0].rules


@pytest.mark.parametrize("name", SCHEMAS)
@settings(max_examples=60)
@given(data=st.data())
def test_what_is_right_is_what_has_no_error(name: str, data: st.DataObject) -> None:
    schema, reads = SCHEMAS[name]
    try:
        document = reads(data.draw(bodies(schema.schema)).encode())
    except (msgspec.DecodeError, ValueError):  # the class of an action cannot read 1e400, nor half a surrogate pair
        return
    assert schema.is_right(document) == (not [*schema.validator.iter_errors(document)])


keys = st.sampled_from(["a", "b", "c\n"])
constants = st.sampled_from([None, True, False, 0, 1, 1.0, 1.5, "a", "b", "", [], [1], {}, {"a": True}])
values = st.recursive(
    constants | st.sampled_from(ODD_TEXTS).map(lambda text: read(text.encode())),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=6,
)
kinds = st.sampled_from(["string", "integer", "number", "object", "array", "boolean", "null"])
bounds = st.sampled_from([0, 1, 2, 1.5])
schemas = st.recursive(
    st.booleans()
    | st.fixed_dictionaries(
        {},
        optional={
            "type": kinds | st.lists(kinds, min_size=1, max_size=3, unique=True),
            "const": constants,
            "enum": st.lists(constants, min_size=1, max_size=3),
            **dict.fromkeys(["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"], bounds),
            **dict.fromkeys(["minLength", "maxLength", "minItems", "maxItems", "minProperties"], st.integers(0, 2)),
            "multipleOf": st.sampled_from([1, 2, 0.5, 0.1]),
            "pattern": st.sampled_from(["^a*$", "b", "^$"]),
            "format": st.sampled_from(["date", "hours", "else"]),
            "title": st.just("is not looked at"),
        },
    ),
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "type": kinds,
            "properties": st.dictionaries(keys, inner, max_size=2),
            "required": st.lists(keys, max_size=2, unique=True),
            "additionalProperties": inner,
            "propertyNames": inner,
            "items": inner,
            "anyOf": st.lists(inner, min_size=1, max_size=3),
            "maxProperties": st.integers(0, 2),
            **dict.fromkeys(["if", "then", "else"], inner),
        },
    ),
    max_leaves=8,
)


@settings(max_examples=1_000)
@given(schema=schemas, value=values, compiled=st.sampled_from([validator_of, action_validator_of, policy_validator_of]))
def test_whatever_a_schema_says_it_is_as_strict_as_jsonschema(schema: Any, value: Any, compiled: Any) -> None:
    """It takes four seconds, for a thousand schemas: each keyword meets each kind of value, and others beside it."""
    one = compiled(json.dumps(schema))
    assert one.is_right(value) == (not [*one.validator.iter_errors(value)])


@pytest.mark.parametrize(
    "schema",
    [
        {"not": {"type": "string"}},
        {"properties": {"a": {"oneOf": [{"type": "string"}]}}},
        {"$ref": "#/$defs/a", "$defs": {"a": {"type": "integer"}}},
        {"if": {"not": {"type": "string"}}, "then": {"type": "array"}},
        {"items": {"dependentRequired": {"a": ["b"]}}},
        {"prefixItems": [{"type": "integer"}], "items": False},
    ],
    ids=lambda schema: next(iter(schema)),
)
def test_what_is_not_understood_is_left_to_jsonschema_as_a_whole(schema: Any) -> None:
    one = validator_of(json.dumps(schema))
    assert not one.rules
    for value in (1, "a", {"a": 1}, [1], [{"a": 1}]):
        assert not one.is_right(value)
        assert bool([*errors_of(one, value)]) == (not one.validator.is_valid(value))


def test_a_schema_that_is_none_is_left_to_jsonschema() -> None:
    for schema in ('{"properties": 5}', '{"type": "text"}', '{"pattern": "("}', '{"items": [1]}'):
        assert not validator_of(schema).is_right({})


ACTIONS = {
    **built_in(),
    "report": ActionType(
        type="report",
        schema=json.dumps({"type": "object", "properties": {"type": {"const": "report"}, "any": {}}}),
        payload=json.dumps({"type": "array", "items": {"type": "integer"}, "maxItems": 2}),
    ),
}
CALLS: dict[str, tuple[Callable[[bytes], Any], CompiledSchema]] = {
    "admit": (lambda body: admit(body, NOW, ACTIONS), REQUEST),
    "admit_change": (lambda body: admit_change(body, NOW), field_errors.CHANGE),
    "admit_series": (lambda body: admit_series(body, NOW, ACTIONS), field_errors.SERIES),
    "admit_series_change": (lambda body: admit_series_change(body, NOW, ACTIONS), field_errors.SERIES_CHANGE),
    "admit_connection": (admit_connection, CONNECTIONS["api-key"]),
}


def answer(call: Callable[[bytes], Any], body: bytes) -> Any:
    try:
        return call(body)
    except Problem as error:
        return type(error), str(error), error.members


def actions() -> st.SearchStrategy[Any]:
    """Of the types that are known, with what they may have."""
    fields = {kind: fitting(json.loads(one.schema)) for kind, one in ACTIONS.items()}
    return st.one_of([st.builds(lambda one, kind=kind: {**one, "type": kind}, some) for kind, some in fields.items()])


@pytest.mark.parametrize("name", CALLS)
@settings(max_examples=150)
@given(data=st.data())
def test_a_call_is_answered_as_without_the_check(name: str, data: st.DataObject) -> None:
    """Word for word, and byte for byte."""
    call, schema = CALLS[name]
    properties = schema.schema["properties"]
    if "action" in properties:
        properties = {**properties, "action": {"const": data.draw(actions())}}
    body = data.draw(bodies({**schema.schema, "properties": properties})).encode()
    quick = answer(call, body)
    with without_the_check():
        assert answer(call, body) == quick


def test_a_payload_is_checked_as_it_is_stored() -> None:
    check_payload(ACTIONS["report"], "[1, 2]")
    with pytest.raises(Invalid):
        check_payload(ACTIONS["report"], "[1, 2, 3]")
