"""Creates a connection, or gives it other values: a new secret first, then the row, then the old secret (ADR 0105)."""

from collections.abc import Callable
from typing import Final, Protocol

from attrs import frozen

from delayer.core.connections.admission import ConnectionRequest
from delayer.core.connections.connection import MOST, Connection, SecretNote, doomed, replaced
from delayer.core.connections.credentials import header_name, secret_text
from delayer.core.schedule.schedule import SYSTEM_OWNER
from delayer.ports.clock import Clock
from delayer.ports.connections import Full, ListsConnections, NotesSecrets, ReadsConnections, WritesConnections
from delayer.ports.observer import Observer
from delayer.ports.secrets import TOKEN_KEY, WritesSecrets
from delayer.ports.unavailable import Unavailable
from delayer.use_cases.connections.sweep import SweepSecrets
from delayer.use_cases.owners.reach import Reach

ROUNDS: Final = 5  # tries against others who change the same connection


class ConnectionsOfPut(ReadsConnections, ListsConnections, WritesConnections, NotesSecrets, Protocol):
    """What it needs of the connections."""


@frozen(kw_only=True)
class ConnectionPut:
    """It is stored."""

    row: Connection
    is_new: bool


@frozen
class TooMany:
    """The owner has as many as are allowed."""

    most: int = MOST


@frozen(kw_only=True)
class PutConnection:
    """One call of the API."""

    clock: Clock
    connections: ConnectionsOfPut
    secrets: WritesSecrets
    sweep: SweepSecrets
    reach: Reach
    observer: Observer
    new_id: Callable[[], str]
    new_key: Callable[[], str]  # behind the tokens of all connections (ADR 0106)

    def __call__(self, request: ConnectionRequest, owner: str, name: str) -> ConnectionPut | TooMany:
        """Raises NotAllowed; and Unavailable: then it was stored, or it was not, and the call may be repeated."""
        if token_url := request.values.fields.get("tokenUrl"):
            self.reach.permit(owner, token_url, "tokenUrl")
        self.sweep()
        over = self.connections.read(owner, name)
        if over is None and len(self.connections.listed(owner, "", MOST).connections) >= MOST:
            return TooMany()
        note = SecretNote(owner=owner, secret=self.new_id(), since=self.clock.now())
        self.connections.note(note)
        if token_url:  # the first one makes it; to make it again changes nothing
            self.secrets.create(SYSTEM_OWNER, TOKEN_KEY, self.new_key())
        self.secrets.create(owner, note.secret, secret_text(owner, name, request.values))
        for _ in range(ROUNDS):
            row = self._row(request, owner, name, note.secret, over)
            left = doomed(over, self.clock.now()) if over else None
            try:
                if self.connections.write(row, over, note, left):
                    return self._put(row, left)
            except Full:  # others were faster: nothing but the secret is left of this call
                self.sweep.away(note)
                return TooMany()
            over = self.connections.read(owner, name)
        self.sweep.away(note)
        raise Unavailable("others change this connection all the time; try again")

    def _row(
        self, request: ConnectionRequest, owner: str, name: str, secret: str, over: Connection | None
    ) -> Connection:
        now = self.clock.now()
        new = Connection(
            owner=owner,
            name=name,
            type=request.values.type,
            secret=secret,
            header=header_name(request.values),
            shown=request.shown,
            hosts=request.hosts,
            created_at=now,
            changed_at=now,
        )
        return replaced(over, new) if over else new

    def _put(self, row: Connection, left: SecretNote | None) -> ConnectionPut:
        if left:
            self.sweep.away(left)
        self.observer.note("connection put", connection=row.name, type=row.type, revision=row.revision)
        return ConnectionPut(row=row, is_new=left is None)
