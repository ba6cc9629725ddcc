"""The schemas of other stacks are data: whatever they say, an error is a sentence, and shows no secret."""

import json
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from delayer.core.actions.action_type import ActionType
from delayer.core.actions.foreign import LONGEST_MATCHED, Unsafe, check
from delayer.core.api.field_errors import errors_of, validator_of
from delayer.core.api.json_body import parse


def errors(schema: Any, document: Any) -> list[tuple[str, str, str]]:
    found = errors_of(validator_of(json.dumps(schema)), document, "action")
    return [(one.field, one.problem, one.allowed) for one in found]


@pytest.mark.parametrize(
    ("schema", "document", "field", "allowed"),
    [
        ({"enum": [1, None, {"a": 2}]}, 5, "action", "1, None, {'a': 2}"),
        ({"required": ["it's"]}, {}, "action.it's", "required"),
        ({"required": ["a is b", "a"]}, {"a": 1}, "action.a is b", "required"),
        ({"additionalProperties": False}, {"x": 1}, "action.x", ""),
        ({"properties": {"x": False}}, {"x": 1}, "action", "nothing"),
        ({"anyOf": [{"const": "a" * 500}]}, 1, "action", f"anyOf {[{'const': 'a' * 500}]}"[:77] + "..."),
    ],
)
def test_each_error_is_a_sentence(schema: Any, document: Any, field: str, allowed: str) -> None:
    [(where, problem, rule)] = errors(schema, document)
    assert (where, rule) == (field, allowed)
    assert problem


def test_a_secret_is_not_shown() -> None:
    [(_, problem, _)] = errors({"properties": {"x": {"type": "integer", "writeOnly": True}}}, {"x": "hunter2"})
    assert "hunter2" not in problem


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
