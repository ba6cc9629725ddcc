"""The check of whatever is created and names a connection. The transaction that stores it checks it again."""

from typing import Any, Final

import msgspec
from attrs import frozen

from delayer.connections.model import Connection, named_in, wrong_host
from delayer.connections.ports import Connections
from delayer.http.problem import FieldError, Invalid
from delayer.schedule.schedule import Definition

FIELD: Final = "action.connection"


@frozen(kw_only=True)
class Naming:
    """For calls that create something."""

    connections: Connections

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


@frozen(kw_only=True)
class StillNamed:
    """For calls that nobody waits for: there is nobody to be told that it is gone."""

    connections: Connections

    def __call__(self, owner: str, definition: Definition) -> str:
        """The connection that the action names; empty, too, if it was deleted by force. Raises Unavailable."""
        name = named_in(definition)
        return name if name and self.connections.read(owner, name) else ""
