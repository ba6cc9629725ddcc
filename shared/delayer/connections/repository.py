"""Connections in the registry: a list `connections#<owner>`, by name; `connection-secrets` has the notes (ADR 0105).

`connection-count#<owner>` says how many there are: so the transaction that makes one knows whether there is room.
"""

import zlib
from collections.abc import Iterator, Sequence
from typing import Final

from attrs import frozen

from delayer.connections.model import MOST, Connection, SecretNote, SeriesUse, Use
from delayer.connections.ports import ConnectionPage, Full, UsePage
from delayer.connections.rules import LONGEST, TokenRow
from delayer.engines.store.mapped import NUMBER, TEXT, Mapped, always
from delayer.engines.store.model import (
    All,
    Change,
    Check,
    Condition,
    Delete,
    Has,
    Is,
    Item,
    Key,
    KeyRange,
    Put,
    Query,
    Some,
    StoredItem,
    Write,
    entry_key,
    lacks,
)
from delayer.engines.store.store import Store, WriteRefused
from delayer.history.repository import entry_of, id_in, list_query, member_item
from delayer.schedule.instants import DAY, ROW_LIFETIME, SECOND, UNDECIDED_KEPT, Millis
from delayer.schedule.schedule import Schedule
from delayer.schedule.schedule_id import is_undecided

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
VERSION: Final = 1
TOKEN: Final[Mapped[TokenRow]] = Mapped(
    TokenRow,
    "a token",
    version=VERSION,
    kept=("revision",),
    without=("owner", "name"),
    names={"expires_at": "validUntil"},  # `expiresAt` is for the TTL
    fetched_at=always(NUMBER),
    fresh_until=always(NUMBER),
    expires_at=always(NUMBER),
)
GATES: Final = 8
SERIES: Final = "series#"  # sorts behind all instants
GATE: Final = "connection-gate#"


@frozen(kw_only=True)
class StoredConnections:
    """Keeps connections in lists of the registry."""

    store: Store
    table: str

    def read(self, owner: str, name: str) -> Connection | None:
        item = self.store.get(self.table, connection_key(owner, name))
        return connection_from(owner, item) if item else None

    def listed(self, owner: str, after: str, at_most: int) -> ConnectionPage:
        page = self.store.query(list_query(self.table, connections_list(owner), after, at_most))
        return ConnectionPage(connections=tuple(connection_from(owner, item) for item in page.items), more=page.more)

    def uses(self, owner: str, name: str, after: str, at_most: int) -> UsePage:
        query = list_query(self.table, uses_list(owner, name), after, at_most)
        page = self.store.query(query._replace(is_backward=True))
        return UsePage(uses=tuple(use_from(item) for item in page.items), more=page.more)

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
            *(Delete(self.table, key) for key in gate_keys(over.owner, over.name)),
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
        earlier = KeyRange("<", f"{before:015d}")
        page = self.store.query(Query(self.table, {"list": NOTES}, within=earlier, at_most=at_most))
        return tuple(_note_from(item) for item in page.items)

    def doom(self, note: SecretNote) -> bool:
        doomed = {**note_item(note), "doomed": True}
        try:
            self.store.write(Put(self.table, note_key(note), doomed, Has("entry")))
        except WriteRefused:
            return False
        return True

    def forget(self, note: SecretNote) -> None:
        self.store.write(Delete(self.table, note_key(note)))

    def _transact(self, writes: Sequence[Write]) -> Sequence[StoredItem | None] | None:
        """None if it was done; else the items whose conditions failed, empty ones for those that are not there."""
        try:
            self.store.transact(writes)
        except WriteRefused as refused:
            return refused.items
        return None

    def _gates(self, row: Connection, over: Connection | None) -> list[Write]:
        """They are there as long as it is open."""
        was_open, is_open = over is not None and not over.closing, not row.closing
        if was_open == is_open:
            return []
        write = Put if is_open else Delete
        return [write(self.table, key) for key in gate_keys(row.owner, row.name)]

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


@frozen(kw_only=True)
class StoredTokens:
    """Keeps the token of each connection in the registry."""

    store: Store
    table: str

    def read(self, owner: str, name: str) -> TokenRow | None:
        item = self.store.get(self.table, token_key(owner, name))
        return token_from(owner, name, item) if item else None

    def write(self, row: TokenRow, over: TokenRow | None) -> bool:
        item = token_item(row)
        condition = _as_read(over) if over else lacks("revision")
        try:
            self.store.write(Put(self.table, token_key(row.owner, row.name), item, condition))
        except WriteRefused as refused:
            return refused.item == item  # ours, by an earlier try
        return True


def _as_read(over: TokenRow) -> Condition:
    """A row that was removed with its connection, and made again, has the same revision soon.

    That of a later version is known by its instant alone.
    """
    secret = (Is("secret", over.secret),) if over.secret else ()
    return All((Is("revision", over.revision), Is("fetchedAt", over.fetched_at), *secret))


def token_key(owner: str, name: str) -> Key:
    """Where the token of a connection is."""
    return entry_key(f"connection-token#{owner}#{name}")


def token_item(row: TokenRow) -> Item:
    """A token as it is stored: sealed. The TTL removes it a day after the last that there can be."""
    expires = row.fetched_at + LONGEST + DAY
    return {**token_key(row.owner, row.name), **TOKEN.item(row), "expiresAt": expires // SECOND}


def token_from(owner: str, name: str, item: StoredItem) -> TokenRow:
    """The inverse of token_item. One of a later version is written over, if its minute is over."""
    if item.get("v", VERSION) == VERSION:
        return TOKEN.row(item, owner=owner, name=name)
    return TokenRow(
        owner=owner,
        name=name,
        secret="",
        fetched_at=_number(item, "fetchedAt"),
        revision=max(_number(item, "revision"), 1),
    )


def _number(item: StoredItem, name: str) -> int:
    """0 if it is left out; also if a later version has made something else of it."""
    value = item.get(name)
    return value if isinstance(value, int) else 0


def uses_list(owner: str, name: str) -> str:
    """The list of what names a connection. No name holds a `#`, so no two owners share a list."""
    return f"connection-uses#{owner}#{name}"


def gate_keys(owner: str, name: str) -> list[Key]:
    """All gates of a connection."""
    return [entry_key(f"{GATE}{owner}#{name}", str(number)) for number in range(GATES)]


def gate_check(table: str, owner: str, name: str, by: str) -> Check:
    """That the connection is there and open. `by` is an id: the same one checks the same gate."""
    return Check(table, gate_keys(owner, name)[zlib.crc32(by.encode()) % GATES], Has("entry"))


def schedule_use(schedule: Schedule, connection: str) -> Item:
    """A schedule as one that names a connection, for as long as its ledger row may be stored."""
    lifetime = UNDECIDED_KEPT if is_undecided(schedule.id) else ROW_LIFETIME
    entries = uses_list(schedule.owner, connection)
    return member_item(entries, schedule.id, schedule.created_at, schedule.address.due + lifetime)


def schedule_use_key(owner: str, connection: str, schedule_id: str) -> Key:
    """Where it is listed."""
    return entry_key(uses_list(owner, connection), entry_of(schedule_id))


def series_writes(table: str, owner: str, series: str, uses: Sequence[SeriesUse]) -> Iterator[Write]:
    """The writes by which a series changes the lists of the connections that it names, or named."""
    for one in uses:
        until = {"until": one.until, "expiresAt": (one.until + DAY) // SECOND} if one.until else {}
        yield Put(table, entry_key(uses_list(owner, one.connection), f"{SERIES}{series}"), until)
        if one.is_checked:
            yield gate_check(table, owner, one.connection, series)


def use_from(item: StoredItem) -> Use:
    """One of a list."""
    entry = item["entry"]
    if entry.startswith(SERIES):
        return Use(series=entry.removeprefix(SERIES), until=item.get("until", 0))
    return Use(schedule_id=id_in(item))


def is_closed(writes: Sequence[Write], refused: WriteRefused) -> bool:
    """Whether a transaction failed at a gate."""
    failed = zip(writes, refused.items, strict=False)
    return any(
        isinstance(write, Check) and write.key["list"].startswith(GATE) for write, item in failed if item is not None
    )
