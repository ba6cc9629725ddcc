"""Connections in the registry: a list `connections#<owner>`, by name; `connection-secrets` has the notes (ADR 0105).

`connection-count#<owner>` says how many there are: so the transaction that makes one knows whether there is room.
"""

from collections.abc import Sequence
from typing import Final

from attrs import frozen

from delayer.core.connections.connection import MOST, Connection, SecretNote
from delayer.core.schedule.instants import Millis
from delayer.ports.connections import ConnectionPage, Full, UsePage
from delayer.repositories.connections.tokens import token_key
from delayer.repositories.registry import uses
from delayer.repositories.registry.lists import list_query
from delayer.store.conditions import All, Condition, Has, Is, Some, lacks
from delayer.store.items import Item, Key, StoredItem, entry_key
from delayer.store.mapped import NUMBER, TEXT, Mapped, always
from delayer.store.queries import Query, Range
from delayer.store.store import Refused, Store
from delayer.store.writes import Change, Delete, Put, Write

NOTES: Final = "connection-secrets"
CONNECTION: Final[Mapped[Connection]] = Mapped(
    Connection,
    "a connection",
    kept=("type", "secret", "header", "revision"),
    without=("owner", "name"),
    shown=always(TEXT),
    created_at=always(NUMBER),
    changed_at=always(NUMBER),
)
NOTE: Final[Mapped[SecretNote]] = Mapped(
    SecretNote, "a note of a secret", version=None, kept=("owner",), without=("secret", "since")
)


@frozen(kw_only=True)
class StoredConnections:
    """Port Connections."""

    store: Store
    table: str

    def read(self, owner: str, name: str) -> Connection | None:
        item = self.store.get(self.table, connection_key(owner, name))
        return connection_from(owner, item) if item else None

    def listed(self, owner: str, after: str, at_most: int) -> ConnectionPage:
        page = self.store.query(list_query(self.table, connections_list(owner), after, at_most))
        return ConnectionPage(connections=tuple(connection_from(owner, item) for item in page.items), more=page.more)

    def uses(self, owner: str, name: str, after: str, at_most: int) -> UsePage:
        query = list_query(self.table, uses.uses_list(owner, name), after, at_most)
        page = self.store.query(query._replace(is_backward=True))
        return UsePage(uses=tuple(uses.use_from(item) for item in page.items), more=page.more)

    def write(
        self,
        row: Connection,
        over: Connection | None,
        named: SecretNote | None = None,
        left: SecretNote | None = None,
    ) -> bool:
        put = Put(self.table, connection_key(row.owner, row.name), connection_item(row), _over(over))
        writes: list[Write] = [put, *self._gates(row, over)]
        if named:
            writes.append(Delete(self.table, note_key(named), All((Has("entry"), lacks("doomed")))))
        if left:
            writes.append(self._noted(left))
        if over is None:
            writes.append(self._counted(row.owner, 1))
        failed = self._transact(writes)
        if failed and over is None and failed[-1] is not None and failed[0] is None:
            raise Full
        return failed is None or failed[0] == put.item  # our own item: an earlier try went through

    def remove(self, over: Connection, left: SecretNote) -> bool:
        writes: list[Write] = [
            Delete(self.table, connection_key(over.owner, over.name), _over(over)),
            *(Delete(self.table, key) for key in uses.gate_keys(over.owner, over.name)),
            Delete(self.table, token_key(over.owner, over.name)),
            self._noted(left),
        ]
        failed = self._transact([*writes, self._counted(over.owner, -1)])
        if failed and failed[0] is None and failed[-1] is not None:  # there is no count, or it is too low
            failed = self._transact(writes)
        return failed is None or failed[0] == {}  # it is gone: an earlier try went through, or another call's

    def note(self, note: SecretNote) -> None:
        self.store.write(self._noted(note))

    def notes(self, before: Millis, at_most: int) -> tuple[SecretNote, ...]:
        earlier = Range("<", f"{before:015d}")
        page = self.store.query(Query(self.table, {"list": NOTES}, within=earlier, at_most=at_most))
        return tuple(_note_from(item) for item in page.items)

    def doom(self, note: SecretNote) -> bool:
        doomed = {**note_item(note), "doomed": True}
        try:
            self.store.write(Put(self.table, note_key(note), doomed, Has("entry")))
        except Refused:
            return False
        return True

    def forget(self, note: SecretNote) -> None:
        self.store.write(Delete(self.table, note_key(note)))

    def _transact(self, writes: Sequence[Write]) -> Sequence[StoredItem | None] | None:
        """None if it was done; else the items whose conditions failed, empty ones for those that are not there."""
        try:
            self.store.transact(writes)
        except Refused as refused:
            return refused.items
        return None

    def _gates(self, row: Connection, over: Connection | None) -> list[Write]:
        """They are there as long as it is open."""
        was_open, is_open = over is not None and not over.closing, not row.closing
        if was_open == is_open:
            return []
        write = Put if is_open else Delete
        return [write(self.table, key) for key in uses.gate_keys(row.owner, row.name)]

    def _noted(self, note: SecretNote) -> Put:
        return Put(self.table, note_key(note), note_item(note))

    def _counted(self, owner: str, more: int) -> Change:
        """A first one has no count to be compared with. No count falls below nought: it would let in too many."""
        has_room = Some((lacks("count"), Is("count", MOST, "<"))) if more > 0 else Is("count", 0, ">")
        return Change(self.table, count_key(owner), add={"count": more}, when=has_room)


def _over(over: Connection | None) -> Condition:
    if over is None:
        return lacks("revision")
    # A row that was removed and made again has the same revision soon, but each PUT has a secret of its own.
    return All((Is("revision", over.revision), Is("secret", over.secret)))


def connections_list(owner: str) -> str:
    """The list of the connections of an owner."""
    return f"connections#{owner}"


def connection_key(owner: str, name: str) -> Key:
    """Where a connection is."""
    return entry_key(connections_list(owner), name)


def count_key(owner: str) -> Key:
    """Where it is said how many connections an owner has."""
    return entry_key(f"connection-count#{owner}")


def connection_item(row: Connection) -> Item:
    """A connection as it is stored. Nothing in it is a secret."""
    return {**connection_key(row.owner, row.name), **CONNECTION.item(row)}


def connection_from(owner: str, item: StoredItem) -> Connection:
    """The inverse of connection_item. One that this code cannot read says nothing: Unavailable."""
    return CONNECTION.row(item, owner=owner, name=item["entry"])


def note_key(note: SecretNote) -> Key:
    """Where a secret is noted."""
    return entry_key(NOTES, f"{note.since:015d}#{note.secret}")


def note_item(note: SecretNote) -> Item:
    """A note as it is stored."""
    return {**note_key(note), **NOTE.item(note)}


def _note_from(item: StoredItem) -> SecretNote:
    since, _, secret = item["entry"].partition("#")
    return NOTE.row(item, secret=secret, since=int(since))
