"""How many items tables have, without a look at all of them: counted from the change feed (ADR 0185).

The number is written with the changes that it counts, once for a whole turn, and says up to which change it counts. So
it is right after a crash, too, and nothing is counted twice.
"""

from collections.abc import Collection
from typing import Final

from attrs import define, field

from delayer.engines.sqlite.database import Database
from delayer.engines.sqlite.feed import SqliteFeed

LAYOUT: Final = """
    CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL, upto INTEGER NOT NULL) WITHOUT ROWID;
"""
# All that was changed since: an item that was not there before is one more, one that is not there afterwards one less.
COUNT: Final = """
    UPDATE counters SET value = value + (
        SELECT coalesce(sum((new IS NOT NULL) - (old IS NOT NULL)), 0)
        FROM changes WHERE number > counters.upto AND table_name = counters.name
    ), upto = ?
"""
BEGIN: Final = "INSERT INTO counters SELECT ?, count(*), ? FROM items WHERE table_name = ?"


@define(kw_only=True, eq=False)
class FeedCounters:
    """Of some tables that the feed hears of."""

    database: Database
    feed: SqliteFeed
    tables: Collection[str]
    _upto: int = field(default=-1, init=False)  # what was counted is on the disk, or will be with this turn

    def __attrs_post_init__(self) -> None:
        known = {name for (name,) in self.database.read("SELECT name FROM counters", ())}
        for table in set(self.tables) - known:
            self.database.write(BEGIN, (table, self.feed.last, table))
        self.database.before_commit.append(self._count)
        self.database.undone.append(self._forget)

    def of(self, table: str) -> int:
        """How many items the table has, as far as it is committed. Raises Unavailable."""
        [(value,)] = self.database.read("SELECT value FROM counters WHERE name = ?", (table,))
        return int(value)

    def _count(self) -> None:
        if self.feed.last != self._upto:
            self.database.write(COUNT, (self.feed.last,))
            self._upto = self.feed.last

    def _forget(self) -> None:
        self._upto = -1
