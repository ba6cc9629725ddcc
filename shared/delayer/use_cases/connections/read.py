"""Shows connections: never a value (ADR 0105)."""

from typing import Final, Protocol

from attrs import frozen

from delayer.core.connections.admission import ConnectionListing
from delayer.core.connections.connection import Connection
from delayer.core.connections.deleting import Live
from delayer.ports.connections import ConnectionPage, ListsConnections, ReadsConnections
from delayer.use_cases.connections.delete import FindLive, NoConnection

LOOKED_AT: Final = 1  # pages: of the hundred that are due last it is said how many are live


class ConnectionsOfRead(ReadsConnections, ListsConnections, Protocol):
    """What it needs of the connections."""


@frozen(kw_only=True)
class ConnectionFound:
    """One, and what names it."""

    row: Connection
    live: Live


@frozen(kw_only=True)
class ReadConnections:
    """Calls of the API."""

    connections: ConnectionsOfRead
    find: FindLive

    def one(self, owner: str, name: str) -> ConnectionFound | NoConnection:
        """Raises Unavailable."""
        row = self.connections.read(owner, name)
        return ConnectionFound(row=row, live=self.find(owner, name, LOOKED_AT)) if row else NoConnection()

    def page(self, owner: str, listing: ConnectionListing) -> ConnectionPage:
        """Raises Unavailable."""
        return self.connections.listed(owner, listing.after, listing.limit)
