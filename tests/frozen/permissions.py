"""What the role of each function may do, as data: which action, on what, and on which rows alone."""

import json
from typing import Any, Final

from tests.cfn import denied, functions, listed, resource_name, statements
from tests.frozen.files import FOLDER, text_of

PERMISSIONS: Final = FOLDER / "permissions.json"


def of_function(function: str) -> list[list[Any]]:
    """Action, resource, and under what condition if there is one; `not` before what is denied whatever allows it."""
    both = [("", one) for one in statements(function)] + [("not ", one) for one in denied(function)]
    found = [
        [before + action, name_of(resource), *([statement["Condition"]] if "Condition" in statement else [])]
        for before, statement in both
        for action in listed(statement["Action"])
        for resource in listed(statement.get("Resource", "*"))
    ]
    return sorted(found, key=lambda one: json.dumps(one, sort_keys=True))


def name_of(resource: Any) -> str:
    """A text is an ARN already, or a pattern."""
    return resource if isinstance(resource, str) else resource_name(resource)


def text() -> str:
    """As it is on file."""
    return text_of({function: of_function(function) for function in functions()})
