"""A request to DynamoDB by what it means: its expressions with the names and values that they stand for.

Which placeholders an expression has, and in which order the parts of a change come, says nothing to DynamoDB.
"""

import json
import re
from collections.abc import Mapping
from typing import Any, Final

NAMES, VALUES = "ExpressionAttributeNames", "ExpressionAttributeValues"
SAID_FOR_NOTHING: Final = (("ConsistentRead", False),)  # it is the default
PLACEHOLDER: Final = re.compile(r"[#:]\w+")
VERB: Final = re.compile(r"\b(SET|ADD|DELETE|REMOVE) ")
COMMA: Final = re.compile(r", (?![^(]*\))")  # between parts, not within a call


def meaning_of(request: Any) -> Any:
    """The same request, and whatever is in it, without placeholders."""
    if isinstance(request, list):
        return [meaning_of(one) for one in request]
    if not isinstance(request, Mapping):
        return request
    stands = {**request.get(NAMES, {}), **{name: _shown(value) for name, value in request.get(VALUES, {}).items()}}
    return {
        name: _expression(name, value, stands) if name.endswith("Expression") else meaning_of(value)
        for name, value in request.items()
        if name not in (NAMES, VALUES) and (name, value) not in SAID_FOR_NOTHING
    }


def _shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _expression(name: str, text: str, stands: Mapping[str, str]) -> Any:
    def filled(part: str) -> str:
        return PLACEHOLDER.sub(lambda found: stands.get(found[0], found[0]), part)

    if name == "ProjectionExpression":
        return sorted(map(filled, text.split(", ")))
    if name != "UpdateExpression":
        return filled(text)
    _, *parts = VERB.split(text)  # before it is filled: a value may have commas
    clauses = zip(parts[::2], parts[1::2], strict=True)
    return {verb: sorted(map(filled, COMMA.split(clause.strip()))) for verb, clause in clauses}
