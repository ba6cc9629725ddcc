"""The work is reckoned before it is done, and never too low."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, ValidationError, validators

from delayer.actions.rules.foreign import built_in
from delayer.schedule.json_text import MOST, levels_of, most_work

OF_A_KEYWORD = 7  # microseconds


@contextmanager
def counted() -> Iterator[tuple[Any, list[str]]]:
    """A validator, and the keywords that it has checked, each as often as it was."""
    checked: list[str] = []

    def counting(name: str, check: Any) -> Any:
        def counts(*given: Any) -> Iterator[ValidationError]:
            checked.append(name)
            yield from check(*given) or ()

        return counts

    checks = {name: counting(name, check) for name, check in Draft202012Validator.VALIDATORS.items()}
    extended: Any = validators.extend(Draft202012Validator, checks)  # type: ignore[no-untyped-call] # jsonschema
    yield extended, checked


names = st.sampled_from(["a", "b", "c"])
values = st.recursive(
    st.none() | st.integers(-1, 3) | st.text("ab", max_size=2),
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(names, inner, max_size=3),
    max_leaves=20,
)
schemas = st.recursive(
    st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(["string", "integer", "object", "array"]),
            "const": values,
            "minimum": st.integers(0, 2),
            "maxLength": st.integers(0, 2),
            "required": st.lists(names, max_size=2, unique=True),
            "title": st.just("a title"),
        },
    ),
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "properties": st.dictionaries(names, inner, max_size=2),
            "additionalProperties": st.booleans() | inner,
            "propertyNames": inner,
            "items": inner,
            "anyOf": st.lists(inner, min_size=1, max_size=4),
        },
    ),
    max_leaves=12,
)


@settings(max_examples=300)
@given(schema=schemas, value=values)
def test_no_more_keywords_are_checked_than_reckoned(schema: Any, value: Any) -> None:
    """It takes some seconds, for 300 schemas: what is counted wrongly is rare."""
    with counted() as (validator, checked):
        [*validator(schema).iter_errors(value)]
    assert len(checked) * OF_A_KEYWORD <= most_work(levels_of(json.dumps(schema)), value, 0)


@pytest.mark.parametrize(
    ("schema", "levels"),
    [
        (True, [7]),
        ({}, [0]),
        ({"title": "a", "description": "b", "default": [1] * 99}, [0]),
        ({"type": "string", "minLength": 1}, [14]),
        ({"items": {"type": "string"}}, [7, 7]),
        ({"properties": {"a": {"items": {"type": "string"}}, "b": {"minimum": 1, "maximum": 2}}}, [7.28, 14, 7]),
        ({"anyOf": [{"type": "string"}, {"items": {"minimum": 1}}, {"items": {"minimum": 2}}]}, [7 + 3 * 14, 28]),
        ({"propertyNames": {"maxLength": 3}, "additionalProperties": {"type": "string"}}, [14, 14.7]),
        ({"required": ["a", "b"]}, [7 * 1.6]),
        ({"enum": [1, [2, 3]]}, [7 * 1.75]),
    ],
    ids=str,
)
def test_the_worst_of_the_fields_and_all_of_the_branches(schema: Any, levels: list[float]) -> None:
    found = [*levels_of(json.dumps(schema))]
    assert found[: len(levels)] == pytest.approx(levels)
    assert not any(found[len(levels) :])


def test_values_count_as_deep_as_the_schema_goes() -> None:
    flat = levels_of('{"type":"array"}')
    assert most_work(flat, [[1] * 100] * 100, 0) == 7
    assert most_work(levels_of('{"items":{"type":"array"}}'), [[1] * 100] * 100, 0) == 7 + 100 * 7


def test_large_requests_for_actions_of_our_own_are_not_too_much_work() -> None:
    """A limit of the schema refuses them first, if it has one for them."""
    headers = {f"X-Header-{number}": "a" * 20 for number in range(1_000)}
    action = {"type": "http-request", "url": "https://example.com", "headers": headers}
    assert most_work(levels_of(built_in()["http-request"].schema), action, len(json.dumps(action))) < MOST
    payload = {f"field{number}": number for number in range(10_000)}
    assert most_work(levels_of(built_in()["event-put"].payload), payload, len(json.dumps(payload))) < MOST
