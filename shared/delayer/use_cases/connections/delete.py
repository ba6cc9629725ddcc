"""Deletes a connection that no live schedule names, or any by force (ADR 0105)."""

from collections.abc import Sequence
from typing import Final, Protocol

from attrs import frozen

from delayer.core.connections.connection import Connection, Use, closed, doomed
from delayer.core.connections.deleting import Live, live_of
from delayer.ports.clock import Clock
from delayer.ports.connections import NotesSecrets, ReadsConnections, ReadsUses, WritesConnections
from delayer.ports.ledger import ReadsManyRows
from delayer.ports.observer import Observer
from delayer.ports.unavailable import Unavailable
from delayer.use_cases.connections.put import ROUNDS
from delayer.use_cases.connections.sweep import SweepSecrets

AT_A_TIME: Final = 100
PAGES: Final = 50  # that one call goes through: 5,000 schedules that have ended


class ConnectionsOfDelete(ReadsConnections, ReadsUses, WritesConnections, NotesSecrets, Protocol):
    """What it needs of the connections."""


@frozen
class ConnectionDeleted:
    """It is gone, and its secret with it."""


@frozen
class NoConnection:
    """This owner has none of this name."""


@frozen
class InUse:
    """Nothing was deleted."""

    live: Live


@frozen(kw_only=True)
class FindLive:
    """What names a connection and may still reach a target."""

    clock: Clock
    connections: ReadsUses
    ledger: ReadsManyRows

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
    connections: ConnectionsOfDelete
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
