"""The calls about connections: put, read and deleted; and the values that nobody names any more (ADR 0105)."""

from collections.abc import Callable, Sequence
from typing import Final

from attrs import frozen

from delayer.connections.admission import ConnectionListing, ConnectionRequest
from delayer.connections.model import (
    MOST,
    SWEPT_AFTER,
    Connection,
    Live,
    SecretNote,
    Use,
    closed,
    doomed,
    live_of,
    replaced,
)
from delayer.connections.ports import ConnectionPage, Connections, Full
from delayer.connections.rules import header_name, secret_text
from delayer.engines.ports import TOKEN_KEY, Clock, Observer, Secrets, Unavailable
from delayer.ledger.ports import Ledger
from delayer.owners.known import Reach
from delayer.schedule.schedule import SYSTEM_OWNER

ROUNDS: Final = 5  # tries against others who change the same connection
SWEPT_AT_A_TIME: Final = 10
AT_A_TIME: Final = 100
PAGES: Final = 50  # that one call goes through: 5,000 schedules that have ended
LOOKED_AT: Final = 1  # pages: of the hundred that are due last it is said how many are live


@frozen(kw_only=True)
class SweepSecrets:
    """Part of each call that writes connections: what earlier ones have left behind, of whatever owner."""

    clock: Clock
    connections: Connections
    secrets: Secrets
    observer: Observer

    def __call__(self) -> None:
        """The call goes on, whatever happens."""
        try:
            for note in self.connections.notes(self.clock.now() - SWEPT_AFTER, SWEPT_AT_A_TIME):
                if self._deleted(note):
                    self.observer.note("secret swept", secret=note.secret)
        except Unavailable as error:
            self.observer.warn("secrets not swept", error=str(error))

    def away(self, note: SecretNote) -> None:
        """One at once. If that fails, a later sweep finds its note."""
        try:
            self._deleted(note)
        except Unavailable as error:
            self.observer.warn("secret not deleted yet", error=str(error))

    def _deleted(self, note: SecretNote) -> bool:
        """Whether it was: not before it is doomed, so that no row names it any more. Raises Unavailable."""
        if not (note.doomed or self.connections.doom(note)):
            return False
        self.secrets.delete(note.owner, note.secret)
        self.connections.forget(note)
        return True


@frozen(kw_only=True)
class ConnectionPut:
    """The connection is stored."""

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
    connections: Connections
    secrets: Secrets
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


@frozen
class ConnectionDeleted:
    """The connection is gone, and its secret with it."""


@frozen
class NoConnection:
    """This owner has none of this name."""


@frozen
class InUse:
    """Nothing was deleted."""

    live: Live


@frozen(kw_only=True)
class FindLive:
    """Finds the schedules and series that name a connection and may still reach a target."""

    clock: Clock
    connections: Connections
    ledger: Ledger

    def __call__(self, owner: str, name: str, pages: int = PAGES) -> Live:
        """Some of them. What is due last is looked at first: it is live most likely. Raises Unavailable."""
        after = ""
        for _ in range(pages):
            page = self.connections.uses(owner, name, after, AT_A_TIME)
            live = self._live_of(page.uses)
            if not live.is_free or not page.more:
                return live
            after = page.more
        return Live(is_complete=False)

    def _live_of(self, uses: Sequence[Use]) -> Live:
        ids = [one.schedule_id for one in uses if one.schedule_id]
        return live_of(uses, self.ledger.read_all(ids) if ids else {}, self.clock.now())


@frozen(kw_only=True)
class DeleteConnection:
    """One call of the API."""

    clock: Clock
    connections: Connections
    find: FindLive
    sweep: SweepSecrets
    observer: Observer

    def __call__(self, owner: str, name: str, *, force: bool = False) -> ConnectionDeleted | NoConnection | InUse:
        """Raises Unavailable: then it is deleted or not, or nothing new may name it until the call is repeated."""
        self.sweep()
        for _ in range(ROUNDS):
            row = self.connections.read(owner, name)
            if row is None:
                return NoConnection()
            answer = self._removed(row) if force else self._unless_in_use(row)
            if answer:
                return answer
        raise Unavailable("others change this connection all the time; try again")

    def _unless_in_use(self, row: Connection) -> ConnectionDeleted | InUse | None:
        """It is closed before the last look, so that nothing comes in behind that. None: it must be read again."""
        live = self.find(row.owner, row.name)
        if live.is_free and not row.closing:
            shut = closed(row)
            if not self.connections.write(shut, row):
                return None
            row, live = shut, self.find(row.owner, row.name)
        if live.is_free:
            return self._removed(row)
        if row.closing:
            self.connections.write(closed(row, closing=False), row)
        return InUse(live)

    def _removed(self, row: Connection) -> ConnectionDeleted | None:
        """None: it was changed meanwhile."""
        left = doomed(row, self.clock.now())
        if not self.connections.remove(row, left):
            return None
        self.sweep.away(left)
        self.observer.note("connection deleted", connection=row.name, revision=row.revision)
        return ConnectionDeleted()


@frozen(kw_only=True)
class ConnectionFound:
    """One, and what names it."""

    row: Connection
    live: Live


@frozen(kw_only=True)
class ReadConnections:
    """Calls of the API."""

    connections: Connections
    find: FindLive

    def one(self, owner: str, name: str) -> ConnectionFound | NoConnection:
        """Raises Unavailable."""
        row = self.connections.read(owner, name)
        return ConnectionFound(row=row, live=self.find(owner, name, LOOKED_AT)) if row else NoConnection()

    def page(self, owner: str, listing: ConnectionListing) -> ConnectionPage:
        """Raises Unavailable."""
        return self.connections.listed(owner, listing.after, listing.limit)
