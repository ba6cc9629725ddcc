"""The check of whatever is created and names a connection. The transaction that stores it checks it again."""

from typing import Any, Final

import msgspec
from attrs import frozen

from delayer.core.api.problem import FieldError, Invalid
from delayer.core.connections.connection import Connection, named_in
from delayer.core.connections.hosts import wrong_host
from delayer.core.schedule.definition import Definition
from delayer.ports.connections import ReadsConnections

FIELD: Final = "action.connection"


@frozen(kw_only=True)
class Naming:
    """For calls that create something."""

    connections: ReadsConnections

    def __call__(self, owner: str, definition: Definition) -> str:
        """The connection that the action names; empty if it names none: then nothing is read.

        Raises Invalid if it cannot be named, Unavailable.
        """
        name = named_in(definition)
        if name and (errors := _faults(name, self.connections.read(owner, name), definition)):
            raise Invalid(errors)
        return name


def _faults(name: str, row: Connection | None, definition: Definition) -> list[FieldError]:
    if row is None:
        allowed = "the name of a connection of yours: PUT /connections/{name} makes one"
        return [FieldError(field=FIELD, problem=f"no such connection: {name}", allowed=allowed)]
    if row.closing:
        allowed = "another connection; or end the DELETE by another one, or undo it by a PUT"
        return [FieldError(field=FIELD, problem=f"it is being deleted: {name}", allowed=allowed)]
    action: dict[str, Any] = msgspec.json.decode(definition.action)
    if host := wrong_host(row, str(action.get("url", ""))):
        problem = f"the connection {name} is not for this host: {host}"
        return [
            FieldError(field="action.url", problem=problem, allowed=f"a host that it names: {', '.join(row.hosts)}")
        ]
    problem = f"the connection {name} sets it"
    allowed = "either the connection or the header"
    return [
        FieldError(field=f"action.headers.{header}", problem=problem, allowed=allowed)
        for header in action.get("headers", {})
        if header.lower() == row.header.lower()
    ]
