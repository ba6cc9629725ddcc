"""What CloudFormation asks of a custom resource."""

from collections.abc import Mapping
from typing import Any

from attrs import field, frozen


class Impossible(ValueError):
    """The command fails; CloudFormation shows the text."""


@frozen(kw_only=True)
class Command:
    """One request of CloudFormation."""

    request: str  # Create, Update or Delete
    request_id: str
    stack: str  # the ARN of the stack that asks
    resource: str  # the name of the resource in its template
    physical_id: str = ""  # what an earlier answer named the resource; empty for Create
    properties: Mapping[str, Any] = field(factory=dict)

    def text(self, name: str) -> str:
        """A property; empty if it is missing, or no text."""
        value = self.properties.get(name, "")
        return value if isinstance(value, str) else ""


@frozen(kw_only=True)
class Made:
    """What came of it, for other resources of the same template."""

    physical_id: str
    data: Mapping[str, str]  # what Fn::GetAtt gives
