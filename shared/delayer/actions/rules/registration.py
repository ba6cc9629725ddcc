"""Which stack an action type belongs to, and who does it (ADR 0088); and the request of CloudFormation that says so.

CloudFormation repeats commands, and it sends the deletion of what was replaced after the replacement was made, even
minutes later. When it rolls back, it deletes the replacement instead, and what was replaced must be in force again. So
the registrations of a type are a list: each has a token, a deletion takes out the one that it names, and the last one
is in force.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

import msgspec
from attrs import field, frozen

from delayer.actions.rules.model import ActionType, encode

MOST: Final = 8  # registrations of one type at a time; there is more than one only in the middle of a deployment
MOST_FOREIGN: Final = 30  # types of other stacks
LARGEST_ROW: Final = 400_000  # bytes: all registrations are one row, and DynamoDB takes 400 KB
KEPT_FREE: Final = 280_000  # bytes, for Delayer's own types: no other stack can keep them from being registered
MOST_BYTES: Final = LARGEST_ROW - KEPT_FREE  # of all that other stacks register; many read it
_OVERHEAD: Final = 200  # bytes of one registration: the names of its fields, and its type once more


class CannotRegister(ValueError):
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
class MadeResource:
    """The result, for other resources of the same template."""

    physical_id: str
    data: Mapping[str, str]  # what Fn::GetAtt gives


@frozen(kw_only=True)
class Registration:
    """An action type that a deployed stack has registered."""

    action: ActionType
    stack: str  # the ARN of the stack that it belongs to
    token: str  # names this registration
    resource: str = ""  # the name in the template of the resource that registered it
    queue: str = ""  # the URL of its executor's queue; empty: that of executor-remote
    function: str = ""  # the ARN of the function in another stack that executor-remote invokes

    @property
    def type(self) -> str:
        """The type of the action."""
        return self.action.type


@frozen
class RegistrationRefused:
    """A type that cannot be registered. CloudFormation shows the reason."""

    reason: str


Registrations = tuple[Registration, ...]  # of one type, the last one in force


def decide_registration(
    wanted: Registration, current: Sequence[Registration], *, own_stack: str, reserved_types: Collection[str]
) -> Registrations | RegistrationRefused:
    """The list after it, in place of `current`.

    `reserved_types` are those of Delayer's own stack: no other may have them, registered or not. A type belongs to the
    stack that registered it first, until that stack has taken out all of its registrations.

    An update keeps the place, so that a rollback leaves in force what was in force before. A resource has one
    registration of a type: if it has got another token, its type was changed, and changed back.
    """
    if wanted.stack != own_stack and wanted.type in reserved_types:
        return RegistrationRefused(reserved(wanted.type))
    if current and current[-1].stack != wanted.stack:
        return RegistrationRefused(f"the type {wanted.type!r} belongs to the stack {name_of(current[-1].stack)}")
    if any(one.token == wanted.token for one in current):
        return tuple(wanted if one.token == wanted.token else one for one in current)
    others = [one for one in current if not wanted.resource or one.resource != wanted.resource]
    return (*others, wanted)[-MOST:]


def reserved(kind: str) -> str:
    """Why no other stack may have a type of Delayer's own."""
    return f"the type {kind!r} is one of Delayer's own: choose another"


def without(current: Sequence[Registration], token: str, stack: str) -> Registrations:
    """The list after a deletion by this stack. What is unknown was taken out before."""
    return tuple(one for one in current if (one.token, one.stack) != (token, stack))


def has_room(registered: Mapping[str, Registrations], own_stack: str) -> bool:
    """Whether it is not too much, what other stacks have registered."""
    others = [known for known in registered.values() if known[-1].stack != own_stack]
    return len(others) <= MOST_FOREIGN and sum(map(most_bytes, others)) <= MOST_BYTES


def most_bytes(known: Registrations) -> int:
    """As they are stored, or a little more."""
    texts = [(one.stack, one.token, one.resource, one.queue, one.function) for one in known]
    return sum(len(encode(one.action).encode()) + _OVERHEAD for one in known) + len(msgspec.json.encode(texts))


def name_of(stack: str) -> str:
    """`arn:aws:cloudformation:eu-west-1:123456789012:stack/reports/0a1b…` is the stack `reports`."""
    return stack.split("/")[1] if stack.count("/") > 1 else stack
