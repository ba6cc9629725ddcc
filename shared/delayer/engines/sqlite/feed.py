"""The change feed: what was written to the tables that somebody reads changes of, with the write itself (ADR 0185)."""

import sqlite3
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from itertools import islice
from operator import attrgetter
from typing import Any, Final

from attrs import define, field, frozen

from delayer.engines.ports import Clock
from delayer.engines.sqlite.database import Database, for_all
from delayer.engines.sqlite.store import decode
from delayer.engines.store.model import ItemChange, TextChange
from delayer.schedule.instants import MINUTE, Millis

LAYOUT: Final = """
    CREATE TABLE changes (
        number INTEGER PRIMARY KEY,
        at INTEGER NOT NULL,
        table_name TEXT NOT NULL,
        old BLOB,
        new BLOB,
        is_expired INTEGER NOT NULL
    );
    CREATE TABLE readers (name TEXT PRIMARY KEY, number INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE again (
        reader TEXT NOT NULL,
        number INTEGER NOT NULL,
        since INTEGER NOT NULL,
        tries INTEGER NOT NULL,
        at INTEGER NOT NULL,
        why TEXT NOT NULL,
        PRIMARY KEY (reader, number)
    ) WITHOUT ROWID;
    CREATE INDEX again_by_time ON again (reader, at);
"""
RECENT: Final = 1_000
PASSED_BY: Final = MINUTE * 1_000  # of numbers, which are in the order of time
FORGOTTEN: Final = "forgotten"  # stands among the readers: up to there, changes are not kept any more
APPEND: Final = "INSERT INTO changes VALUES {}"
AFTER: Final = (
    "SELECT number, at, table_name, old, new, is_expired FROM changes WHERE number > ? ORDER BY number LIMIT ?"
)
ONE: Final = "SELECT number, at, table_name, old, new, is_expired FROM changes WHERE number = ?"
OLD: Final = "SELECT number, at FROM changes WHERE number <= ? ORDER BY number LIMIT ?"
FORGET: Final = "DELETE FROM changes WHERE number <= ? AND at < ?"
READERS: Final = "SELECT name, number FROM readers"
MOVE: Final = "INSERT INTO readers VALUES (?, ?) ON CONFLICT DO UPDATE SET number = excluded.number"


@frozen(kw_only=True, slots=False)
class FedChange:
    """One change, with its number and when it was made."""

    number: int
    at: Millis
    text: TextChange

    @cached_property
    def change(self) -> ItemChange:
        """As it was written."""
        old, new = (None if one is None else decode(one) for one in (self.text.old, self.text.new))
        return ItemChange(self.text.table, old, new, self.text.is_expired)


_number_of: Final = attrgetter("number")


@define(kw_only=True, eq=False)
class SqliteFeed:
    """Each reader has a cursor, which moves with what it writes."""

    database: Database
    clock: Clock
    numbers: Callable[[], int]
    tables: Collection[str]
    _last: int = field(default=0, init=False)
    cursors: dict[str, int] = field(factory=dict, init=False)
    _stored: dict[str, int] = field(factory=dict, init=False)  # the same, without what was passed by
    _is_known: bool = field(default=True, init=False)  # all of this is as on the disk
    _before_recent: int = field(default=0, init=False)
    _moment: Millis | None = field(default=None, init=False)
    _unwritten: list[tuple[Any, ...]] = field(factory=list, init=False, repr=False)  # rows of this part
    # The newest of them, without a gap. They need not be read, nor decoded.
    _recent: deque[FedChange] = field(factory=lambda: deque(maxlen=RECENT), init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        self._read()
        self.database.undone.append(self._forget_recent)
        self.database.before_end.append(self._append)

    def _read(self) -> None:
        [(self._last,)] = self.database.read("SELECT coalesce(max(number), 0) FROM changes", ())
        self.cursors = dict(self.database.read(READERS, ()))
        self._stored, self._is_known = dict(self.cursors), True

    @property
    def last(self) -> int:
        """Number of the newest."""
        if not self._is_known:
            self._read()
        return self._last

    def _forget_recent(self) -> None:
        """Forgets what was undone; all else is on the disk."""
        self._recent.clear()
        self._unwritten.clear()
        self._is_known = False

    def note(self, changes: Sequence[TextChange]) -> None:
        """Within the transaction that makes them."""
        now = self.clock.now() if self._moment is None else self._moment
        for one in changes:
            if one.table in self.tables:
                before, self._last = self.last, self.numbers()
                if not self._recent or len(self._recent) == RECENT:
                    self._before_recent = self._recent[0].number if self._recent else before
                self._unwritten.append((self._last, now, *one))
                self.database.bytes_written += one.size
                self._recent.append(FedChange(number=self._last, at=now, text=one))

    def _append(self, connection: sqlite3.Connection) -> None:
        """Writes what was noted, before the part ends that it belongs to."""
        rows, self._unwritten = self._unwritten, []
        for_all(connection, APPEND, rows)

    @contextmanager
    def at(self, moment: Millis) -> Iterator[None]:
        """Notes what is written meanwhile as made at one moment, whatever the clock says."""
        self._moment = moment
        try:
            yield
        finally:
            self._moment = None

    def after(self, number: int, at_most: int) -> list[FedChange]:
        """Those behind a number, in order."""
        if number >= self.last:
            return []
        if self._recent and number >= self._before_recent:
            first = bisect_right(self._recent, number, key=_number_of)
            return list(islice(self._recent, first, first + at_most))
        return self.stored_after(number, at_most)

    def stored_after(self, number: int, at_most: int) -> list[FedChange]:
        """The same, of what is on the disk: for any thread."""
        rows = self.database.read(AFTER, (number, at_most))
        return [FedChange(number=number, at=at, text=TextChange(*change)) for number, at, *change in rows]

    def change(self, number: int) -> FedChange | None:
        """The one of this number; None if it is not kept."""
        rows = self.database.read(ONE, (number,))
        return next((FedChange(number=number, at=at, text=TextChange(*change)) for number, at, *change in rows), None)

    def forgotten(self) -> int:
        """The number up to which changes are not kept any more: for any thread."""
        return int(dict(self.database.read(READERS, ())).get(FORGOTTEN, 0))

    def cursor(self, reader: str) -> int:
        """How far a reader has come."""
        if not self._is_known:
            self._read()
        return self.cursors.get(reader, 0)

    def pass_by(self, reader: str, number: int) -> bool:
        """Nothing up to there is for it: that is not written for itself. Whether it is to be moved there all the same,
        as it is once in a minute: otherwise a reader of little would look through days, when something was undone.
        """
        if number - self._stored.get(reader, 0) >= PASSED_BY:
            return True
        self.cursors[reader] = number
        return False

    def move(self, reader: str, number: int) -> None:
        """It has read up to there."""
        with self.database.writing() as connection:
            connection.execute(MOVE, (reader, number))
        self.cursors[reader] = self._stored[reader] = number

    def forget(self, before: Millis, readers: Collection[str], at_most: int) -> int:
        """Deletes what all have read and what is older, but nothing that was set aside, nor anything after that.

        The newest stays, so that numbers go on. It looks at no more rows than it may delete: numbers are in the order
        of time. Returns how many.
        """
        number = min([self.last - 1, *(self.cursor(one) for one in readers)])
        with self.database.writing() as connection:
            [(aside,)] = connection.execute("SELECT min(number) FROM again").fetchall()
            number = number if aside is None else min(number, aside - 1)
            rows = connection.execute(OLD, (number, at_most)).fetchall()
            old = [one for one, at in rows if at < before]
            if old:
                self.move(FORGOTTEN, max(old[-1], self.cursor(FORGOTTEN)))
                connection.execute(FORGET, (old[-1], before))
            return len(old)
