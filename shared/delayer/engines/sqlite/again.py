"""Changes that a reader of the change feed could not handle: set aside by number, and given to it again (ADR 0188)."""

from typing import Final

from attrs import define, field, frozen

from delayer.engines.ports import Clock
from delayer.engines.sqlite.database import Database
from delayer.engines.sqlite.queue import pause_after
from delayer.schedule.instants import Millis

KNOWN: Final = "SELECT number, since, tries, why FROM again WHERE reader = ? AND number = ?"
DUE: Final = "SELECT number, since, tries, why FROM again WHERE reader = ? AND at <= ? ORDER BY at, number LIMIT ?"
FIRST: Final = "SELECT min(at) FROM again WHERE reader = ?"
KEEP: Final = "INSERT OR REPLACE INTO again (reader, number, since, tries, at, why) VALUES (?, ?, ?, ?, ?, ?)"
DONE: Final = "DELETE FROM again WHERE reader = ? AND number = ?"


@frozen(kw_only=True)
class Aside:
    """One change."""

    number: int
    since: Millis  # of its first failure
    tries: int  # that have failed
    why: str  # in our words: the text of an error may hold what a client sent


def _aside(number: int, since: Millis, tries: int, why: str) -> Aside:
    """As a row has it."""
    return Aside(number=number, since=since, tries=tries, why=why)


@define(kw_only=True, eq=False)
class SqliteAgain:
    """All that was set aside, for all readers."""

    database: Database
    clock: Clock
    _next: dict[str, Millis | None] = field(factory=dict, init=False)  # by reader, as far as it is known

    def __attrs_post_init__(self) -> None:
        self.database.undone.append(self._next.clear)

    def failed(self, reader: str, number: int, why: str) -> Aside:
        """Once more: it comes again, later each time."""
        now = self.clock.now()
        known = self.database.read(KNOWN, (reader, number))
        before = _aside(*known[0]) if known else Aside(number=number, since=now, tries=0, why="")
        self.database.write(
            KEEP, (reader, number, before.since, before.tries + 1, now + pause_after(before.tries), why)
        )
        self._next.pop(reader, None)
        return Aside(number=number, since=before.since, tries=before.tries + 1, why=why)

    def due(self, reader: str, at_most: int) -> list[Aside]:
        """Those that have waited long enough, the longest first."""
        return [_aside(*row) for row in self.database.read(DUE, (reader, self.clock.now(), at_most))]

    def done(self, reader: str, number: int) -> None:
        """It is not set aside any more."""
        self.database.write(DONE, (reader, number))
        self._next.pop(reader, None)

    def next_at(self, reader: str) -> Millis | None:
        """When the first comes again; None if there is none."""
        if reader not in self._next:
            [(self._next[reader],)] = self.database.read(FIRST, (reader,))
        return self._next[reader]
