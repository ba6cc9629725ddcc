"""The connection of what was accepted before, for whoever gives it another place (ADR 0105)."""

from attrs import frozen

from delayer.core.connections.connection import named_in
from delayer.core.schedule.definition import Definition
from delayer.ports.connections import ReadsConnections


@frozen(kw_only=True)
class StillNamed:
    """For calls that nobody waits for: there is nobody to be told that it is gone."""

    connections: ReadsConnections

    def __call__(self, owner: str, definition: Definition) -> str:
        """The connection that the action names; empty, too, if it was deleted by force. Raises Unavailable."""
        name = named_in(definition)
        return name if name and self.connections.read(owner, name) else ""
