"""The change feed: what was written to the tables that somebody reads changes of, with the write itself (ADR 0185)."""

from collections import deque
from collections.abc import Callable, Collection, Sequence
from itertools import islice
from typing import Final

from attrs import define, field

from delayer.engines.ports import Clock
from delayer.engines.sqlite.database import Database
from delayer.engines.sqlite.store import decode, encode
from delayer.engines.store.model import ItemChange
from delayer.schedule.instants import Millis

LAYOUT: Final = """
    CREATE TABLE changes (
        number INTEGER PRIMARY KEY,
        at INTEGER NOT NULL,
        table_name TEXT NOT NULL,
        old BLOB,
        new BLOB
    );
    CREATE TABLE readers (name TEXT PRIMARY KEY, number INTEGER NOT NULL) WITHOUT ROWID;
"""
RECENT: Final = 1_000
APPEND: Final = "INSERT INTO changes VALUES (?, ?, ?, ?, ?)"
AFTER: Final = "SELECT number, at, table_name, old, new FROM changes WHERE number > ? ORDER BY number LIMIT ?"
READERS: Final = "SELECT name, number FROM readers"
MOVE: Final = "INSERT INTO readers VALUES (?, ?) ON CONFLICT DO UPDATE SET number = excluded.number"


@define(frozen=True)
class FedChange:
    """One change, with its number and when it was made."""

    number: int
    at: Millis
    change: ItemChange


@define(kw_only=True, eq=False)
class SqliteFeed:
    """Each reader has a cursor, which moves with what it writes."""

    database: Database
    clock: Clock
    numbers: Callable[[], int]
    tables: Collection[str]
    last: int = field(default=0, init=False)  # number of the newest
    cursors: dict[str, int] = field(factory=dict, init=False)
    _is_known: bool = field(default=True, init=False)  # the cursors are as on the disk
    _before_recent: int = field(default=0, init=False)
    # The newest of them, without a gap. They need not be read, nor decoded.
    _recent: deque[FedChange] = field(factory=lambda: deque(maxlen=RECENT), init=False)

    def __attrs_post_init__(self) -> None:
        with self.database.reading() as connection:
            [(last,)] = connection.execute("SELECT coalesce(max(number), 0) FROM changes").fetchall()
            self.cursors = dict(connection.execute(READERS).fetchall())
        self.last = last
        self.database.undone.append(self._forget_recent)

    def _forget_recent(self) -> None:
        """What was undone is not known here any more; all else is on the disk."""
        self._recent.clear()
        self._is_known = False

    def hear(self, changes: Sequence[ItemChange]) -> None:
        """Within the transaction that makes them."""
        now = self.clock.now()
        for one in changes:
            if one.table in self.tables:
                before, self.last = self.last, self.numbers()
                if not self._recent or len(self._recent) == RECENT:
                    self._before_recent = self._recent[0].number if self._recent else before
                old, new = (encode(item) if item is not None else None for item in (one.old, one.new))
                with self.database.writing() as connection:
                    connection.execute(APPEND, (self.last, now, one.table, old, new))
                self._recent.append(FedChange(self.last, now, one))

    def after(self, number: int, at_most: int) -> list[FedChange]:
        """Those behind a number, in order."""
        if number >= self.last:
            return []
        if self._recent and number >= self._before_recent:
            return list(islice((one for one in self._recent if one.number > number), at_most))
        with self.database.reading() as connection:
            rows = connection.execute(AFTER, (number, at_most)).fetchall()
        return [
            FedChange(number, at, ItemChange(table, old and decode(old), new and decode(new)))
            for number, at, table, old, new in rows
        ]

    def cursor(self, reader: str) -> int:
        """How far a reader has come."""
        if not self._is_known:
            with self.database.reading() as connection:
                self.cursors = dict(connection.execute(READERS).fetchall())
            self._is_known = True
        return self.cursors.get(reader, 0)

    def move(self, reader: str, number: int) -> None:
        """It has read up to there."""
        with self.database.writing() as connection:
            connection.execute(MOVE, (reader, number))
        self.cursors[reader] = number

    def forget(self, before: Millis, readers: Collection[str], at_most: int) -> int:
        """Deletes what all have read and what is older. The newest stays, so that numbers go on. Returns how many."""
        number = min([self.last - 1, *(self.cursor(one) for one in readers)])
        with self.database.writing() as connection:
            delete = (
                "DELETE FROM changes WHERE number IN (SELECT number FROM changes WHERE number <= ? AND at < ? LIMIT ?)"
            )
            return int(connection.execute(delete, (number, before, at_most)).rowcount)
