"""The schemas of other stacks are data: whatever they say, an error is a sentence, and shows no secret."""

import json
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from delayer.actions.rules.foreign import LONGEST_MATCHED, Unsafe, check
from delayer.actions.rules.model import ActionType
from delayer.http.field_errors import action_validator_of, errors_of, validator_of
from delayer.schedule.json_text import read as parse

A_RED_ONE = {"properties": {"is": {"const": "red"}}, "required": ["is"]}
A_BLUE_ONE = {"properties": {"is": {"const": "blue"}}, "required": ["is", "depth"]}


def errors(schema: Any, document: Any) -> list[tuple[str, str, str]]:
    found = errors_of(validator_of(json.dumps(schema)), document, "action")
    return [(one.field, one.problem, one.allowed) for one in found]


@pytest.mark.parametrize(
    ("schema", "document", "field", "allowed"),
    [
        ({"enum": [1, None, {"a": 2}, True]}, 5, "action", '1, null, {"a": 2}, true'),
        ({"const": None}, 5, "action", "null"),
        ({"const": [1, "a"]}, 5, "action", '[1, "a"]'),
        ({"required": ["it's"]}, {}, "action.it's", "required"),
        ({"required": ["a is b", "a"]}, {"a": 1}, "action.a is b", "required"),
        ({"additionalProperties": False}, {"x": 1}, "action.x", ""),
        ({"properties": {"x": False}}, {"x": 1}, "action", "nothing"),
        ({"anyOf": [{"const": "a" * 500}]}, 1, "action", "a" * 500),
        ({"anyOf": [False]}, 1, "action", "nothing"),
        ({"anyOf": [False, {"type": ["string", "null"]}, {"type": "array"}]}, 1, "action", "string or null or array"),
        ({"anyOf": [{"type": "null"}, {"type": "string", "minLength": 1}]}, "", "action", "at least 1 character"),
        ({"anyOf": [{"type": "string"}, {"items": {"type": "null"}}]}, [None, 7], "action.1", "null"),
        ({"anyOf": [A_RED_ONE, A_BLUE_ONE]}, {"is": "blue"}, "action.depth", "required"),
        ({"anyOf": [{"enum": ["a", "b"]}, {"type": "integer"}]}, "c", "action", "a, b"),
        ({"minLength": 2}, "a", "action", "at least 2 characters"),
        ({"maxLength": 1}, "ab", "action", "at most 1 character"),
        ({"minItems": 1}, [], "action", "at least 1 item"),
        ({"maxProperties": 1}, {"a": 1, "b": 2}, "action", "at most 1 field"),
        ({"minimum": 1}, 0, "action", "at least 1"),
        ({"exclusiveMaximum": 1.5}, 2, "action", "less than 1.5"),
        ({"multipleOf": 5}, 7, "action", "a multiple of 5"),
    ],
)
def test_each_error_is_a_sentence(schema: Any, document: Any, field: str, allowed: str) -> None:
    [(where, problem, rule)] = errors(schema, document)
    assert (where, rule) == (field, allowed)
    assert problem


@pytest.mark.parametrize(
    "field",
    [
        {"type": "integer", "writeOnly": True},
        {"anyOf": [{"type": "integer"}, {"type": "string", "maxLength": 3}], "writeOnly": True},
        {"anyOf": [{"type": "integer"}, {"type": "string", "maxLength": 3, "writeOnly": True}]},
        {"anyOf": [{"type": "integer", "writeOnly": True}, {"type": "null"}]},
    ],
    ids=str,
)
def test_a_secret_is_not_shown(field: Any) -> None:
    [(_, problem, _)] = errors({"properties": {"x": field}}, {"x": "hunter2"})
    assert "hunter2" not in problem


@pytest.mark.parametrize(
    ("step", "text", "is_one"),
    [
        (5, "10", True),
        (5, "7", False),
        (0.1, "0.3", True),
        (0.1, "0.35", False),
        (0.25, "1e3", True),
        (3, "1e400", False),
        (3, "1e400000000000000000000", False),
        (3, "1e999999", False),
        (3, "1e-999999", False),
        (2, "9" * 5_000, False),
        (2, "true", True),
        (2, '"7"', True),
    ],
)
def test_a_multiple_is_one_in_decimal_digits(step: float, text: str, is_one: bool) -> None:
    assert (errors({"multipleOf": step}, parse(text.encode())) == []) == is_one


@pytest.mark.parametrize(
    ("text", "of_a_payload", "of_an_action"),
    [
        ("1e25", True, False),
        ("1e999999999", True, False),
        ("-0.0", True, False),
        ("13.0", True, True),
        ("9" * 30, True, True),
        ("1.5", False, False),
        ("1e-999999", False, False),
        ("true", False, False),
    ],
)
def test_an_integer_of_a_payload_need_not_be_written_out(text: str, of_a_payload: bool, of_an_action: bool) -> None:
    """The class of an action reads 1e25 as a float: it is refused at the door, or each attempt would fail."""
    schema, value = json.dumps({"type": "integer"}), parse(text.encode())
    assert ([*errors_of(validator_of(schema), value)] == []) == of_a_payload
    assert ([*errors_of(action_validator_of(schema), value)] == []) == of_an_action


def test_a_secret_within_a_wrong_value_is_not_shown_either() -> None:
    schema = {"maxProperties": 1, "properties": {"note": {"type": "string", "writeOnly": True}}}
    [(_, problem, _)] = errors(schema, {"note": "hunter2", "more": 1})
    assert "hunter2" not in problem


def test_what_is_large_is_not_shown_for_each_of_its_errors() -> None:
    [(_, problem, _)] = errors({"maxItems": 1}, [0] * 200_000)
    assert problem == "out of bounds: 200,000 items"


def test_no_pattern_is_tried_on_what_is_too_long() -> None:
    """It could take long: how long is known up to `maxLength` only."""
    schema = {"type": "string", "pattern": "^[a-z]*[a-y]*!", "maxLength": 20}
    began = time.process_time()
    [(_, problem, _)] = errors(schema, "a" * 200_000)
    assert time.process_time() - began < 0.5
    assert problem.startswith("out of bounds")


texts = st.text("ab'\"é.!/\\", max_size=4)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([1.5, 1e300]) | texts,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(texts, inner, max_size=2),
    max_leaves=4,
)
schemas = st.recursive(
    st.booleans()
    | st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(["string", "integer", "number", "object", "array", ["null", "boolean"]]),
            "const": values,
            "enum": st.lists(values, min_size=1, max_size=2),
            "minimum": st.integers(-1, 1),
            "maxLength": st.integers(0, 3),
            "pattern": st.sampled_from(["^a*$", "^[ab]+", "^b"]),
            "required": st.lists(texts, max_size=2, unique=True),
            "maxItems": st.integers(0, 1),
            "writeOnly": st.booleans(),
            "x-allowed": texts,
        },
    ),
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "properties": st.dictionaries(texts, inner, max_size=2),
            "additionalProperties": inner,
            "propertyNames": inner,
            "items": inner,
            "anyOf": st.lists(inner, min_size=1, max_size=2),
            "required": st.lists(texts, max_size=2, unique=True),
        },
    ),
    max_leaves=6,
)


@settings(max_examples=200)
@given(payload=schemas, document=values)
def test_whatever_is_accepted_of_another_stack_can_be_validated_with(payload: Any, document: Any) -> None:
    schema = {
        "type": "object",
        "required": ["type"],
        "additionalProperties": False,
        "properties": {"type": {"const": "a"}},
    }
    action = ActionType(type="a", schema=json.dumps(schema), payload=json.dumps(payload))
    try:
        check(action)
    except Unsafe:
        return
    for field, problem, allowed in errors(payload, parse(json.dumps(document).encode())):
        assert isinstance(field, str)
        assert problem
        assert isinstance(allowed, str)


def test_the_longest_text_that_a_pattern_is_given_is_that_of_its_schema() -> None:
    """The limit of `foreign` holds for what the API does."""
    schema = {"type": "string", "pattern": "^.*$", "maxLength": LONGEST_MATCHED}
    assert errors(schema, "a" * LONGEST_MATCHED) == []
    assert [problem[:13] for _, problem, _ in errors(schema, "a" * (LONGEST_MATCHED + 1))] == ["out of bounds"]
