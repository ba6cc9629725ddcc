"""What another stack may register."""

import json
from typing import Any

import pytest
from attrs import evolve

from delayer.actions.rules.foreign import DEEPEST, LARGEST, Unsafe, check
from delayer.actions.rules.model import LARGEST_PAYLOAD, ActionType

FIELDS: dict[str, Any] = {
    "type": {"const": "slack-post"},
    "channel": {"type": "string", "pattern": "^#[a-z0-9_-]{1,80}$", "maxLength": 81, "x-allowed": "a channel"},
    "token": {"type": "string", "writeOnly": True, "description": "A secret."},
    "to": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "maxItems": 9}]},
}


def an_action(schema: Any = None, **changes: Any) -> ActionType:
    text = json.dumps(a_schema() if schema is None else schema)
    return evolve(ActionType(type="slack-post", schema=text, fair_by="channel"), **changes)


def a_schema(**fields: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "required": ["type", "channel"],
        "additionalProperties": False,
        "properties": FIELDS | fields,
    }


def nested(levels: int) -> Any:
    return {"inner": nested(levels - 1)} if levels else 1


def test_an_ordinary_class_is_accepted() -> None:
    check(an_action())
    check(an_action(fair_by="host:to", payload='{"type":"object"}', largest_payload=1_000))
    check(an_action(fair_by=""))
    check(an_action(a_schema(steps={"type": "integer", "multipleOf": 5})))
    check(an_action(a_schema(country={"enum": [f"c{number}" for number in range(250)]})))


@pytest.mark.parametrize(
    "kind", ["", "Slack", "slack_post", "-slack", "slack--post", "slack-", "a" * 41, "é", "a b", "a\n"]
)
def test_a_type_has_an_ordinary_name(kind: str) -> None:
    with pytest.raises(Unsafe, match="small letters"):
        check(an_action(a_schema(type={"const": kind}), type=kind))


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ([], "no JSON object"),
        (True, "no JSON object"),
        ({}, "requires a field"),
        (a_schema(type={"const": "other"}), "requires a field"),
        (a_schema() | {"required": ["channel"]}, "requires a field"),
        (a_schema() | {"additionalProperties": True}, "without additional"),
        (a_schema() | {"type": "array"}, "without additional"),
        (a_schema(x={"$ref": "https://example.com/schema"}), r"not allowed: \$ref"),
        (a_schema(x={"$dynamicRef": "#x"}), "not allowed"),
        (a_schema(x={"uniqueItems": True}), "not allowed"),
        (a_schema(x={"multipleOf": 0}), "no JSON Schema"),
        (a_schema(x={"if": True}), "not allowed"),
        (a_schema(x={"patternProperties": {}}), "not allowed"),
        (a_schema(x={"items": {"properties": {"y": {"allOf": []}}}}), r"schema.x.items.y has a keyword"),
        (a_schema(x={"type": "text"}), "no JSON Schema"),
        (a_schema(x={"minimum": "1"}), "no JSON Schema"),
        (a_schema(x={"enum": 1}), "no JSON Schema"),
        (a_schema(x={"anyOf": {}}), "no JSON Schema"),
        (a_schema(x={"properties": []}), "no JSON Schema"),
        (a_schema(x={"maxLength": -1}), "no JSON Schema"),
        (a_schema(x={"x-allowed": ["a"]}), "x-allowed is no text"),
        (a_schema(x=1), "schema.x is no schema"),
        (a_schema(x={"default": nested(DEEPEST)}), "levels deep"),
        (a_schema(x={"description": "a" * LARGEST}), "bytes"),
        (a_schema(x={"pattern": "^a"}), "needs a maxLength"),
        (a_schema(x={"pattern": "^a", "maxLength": 2_049}), "needs a maxLength"),
        (a_schema(x={"pattern": "^a", "maxLength": 10.5}), "no JSON Schema"),
        (a_schema(x={"pattern": "^(a|aa)+$", "maxLength": 40}), "more than one way"),
        (a_schema(x={"pattern": "^a*a*a*b", "maxLength": 2_000}), "could take too long"),
        (a_schema(x={"items": {"anyOf": [{"minimum": number} for number in range(60)]}}), "too much of one value"),
        (a_schema(x={"items": {"anyOf": [{"required": ["a", "b", "c"] + [str(n) for n in range(200)]}]}}), "too much"),
        (a_schema(x={"items": {"enum": [*range(800)]}}), "too much"),
        (a_schema(x={"anyOf": [{"items": {"anyOf": [{"minimum": n} for n in range(9)]}}] * 6}), "too much"),
        (a_schema(x={"anyOf": [{"pattern": "^[a-z]*[a-y]*!", "maxLength": 15}] * 20}), "together"),
    ],
    ids=lambda one: json.dumps(one)[-60:],
)
def test_what_could_harm_those_who_validate_is_refused(schema: Any, reason: str) -> None:
    with pytest.raises(Unsafe, match=reason):
        check(an_action(schema))


@pytest.mark.parametrize("text", ["", "{", "NaN", '{"minimum": 1e999}', '{"a": "\udc00"}', "[" * 5_000, "1" * 5_000])
def test_a_schema_is_json(text: str) -> None:
    with pytest.raises(Unsafe):
        check(an_action(schema=None, payload="").__class__(type="slack-post", schema=text))
    if text:
        with pytest.raises(Unsafe):
            check(an_action(payload=text))


@pytest.mark.parametrize(
    "changes",
    [
        {"internal": True},
        {"largest_payload": -1},
        {"largest_payload": LARGEST_PAYLOAD + 1},
        {"fair_by": "nothing"},
        {"fair_by": "host:nothing"},
        {"fair_by": "other:channel"},
        {"payload": '{"$ref": "#"}'},
        {"payload": "[]"},
    ],
    ids=str,
)
def test_so_is_the_rest_of_what_a_class_says(changes: dict[str, Any]) -> None:
    with pytest.raises(Unsafe):
        check(an_action(**changes))
