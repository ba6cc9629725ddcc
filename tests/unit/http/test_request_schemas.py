"""Request bodies are written so that generated clients get classes for them.

Generators make a class of an object with properties, and a union of a `oneOf` of references. Of an object that has a
`oneOf`, `anyOf` or `allOf` beside its properties they make "anything" (tried with openapi-python-client 0.29).
"""

from typing import Any

import pytest

from tests.openapi import openapi

OPENAPI = openapi()
SCHEMAS = OPENAPI["components"]["schemas"]
MIXED = {"oneOf", "anyOf", "allOf", "$ref"}
BODIES = {
    operation["operationId"]: operation["requestBody"]["content"]["application/json"]["schema"]
    for path in OPENAPI["paths"].values()
    for operation in path.values()
    if isinstance(operation, dict) and "requestBody" in operation
}


def referred(schema: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = SCHEMAS[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
    return found


def becomes_a_class(schema: dict[str, Any]) -> bool:
    """An object with named properties, and nothing beside them that is one thing or another."""
    return schema.get("type") == "object" and bool(schema.get("properties")) and not MIXED & set(schema)


def becomes_a_union_of_classes(schema: dict[str, Any]) -> bool:
    """Of references to objects that are told apart by a constant in one required property."""
    by = schema.get("discriminator", {}).get("propertyName")
    members = {one["$ref"]: referred(one) for one in schema.get("oneOf", []) if set(one) == {"$ref"}}
    distinct = [
        reference
        for kind, reference in schema.get("discriminator", {}).get("mapping", {}).items()
        if members.get(reference, {}).get("properties", {}).get(by) == {"const": kind}
        and by in members[reference]["required"]
        and becomes_a_class(members[reference])
    ]
    return bool(members) and distinct == list(members) and len(members) == len(schema["oneOf"])


@pytest.mark.parametrize("operation", sorted(BODIES))
def test_the_body_of_a_request_becomes_a_class(operation: str) -> None:
    body = referred(BODIES[operation])
    assert becomes_a_class(body) or becomes_a_union_of_classes(body)


def test_those_that_schedule_have_the_same_class() -> None:
    reference = {"$ref": "#/components/schemas/ScheduleRequest"}
    assert sorted(operation for operation, schema in BODIES.items() if schema == reference) == [
        "postSchedule",
        "putScheduleByName",
    ]


def test_the_action_of_a_schedule_becomes_a_union_of_classes() -> None:
    assert becomes_a_union_of_classes(referred(SCHEMAS["ScheduleRequest"]["properties"]["action"]))


def test_what_a_generator_cannot_type_is_seen() -> None:
    request = SCHEMAS["ScheduleRequest"]
    assert not becomes_a_class({**request, "oneOf": [{"required": ["pointInTime"]}, {"required": ["delaySeconds"]}]})
    action = SCHEMAS["Action"]
    assert not becomes_a_union_of_classes({**action, "oneOf": [*action["oneOf"], {"type": "object"}]})
    assert not becomes_a_union_of_classes({"oneOf": action["oneOf"]})
