"""Turns of a database with its store, its change feed and its counters."""

import random

from delayer.engines.memory import ManualClock
from delayer.engines.sqlite import counters, database, feed, queue
from delayer.engines.sqlite.counters import FeedCounters
from delayer.engines.sqlite.database import Database
from delayer.engines.sqlite.feed import SqliteFeed
from delayer.engines.sqlite.queue import Numbers
from delayer.engines.sqlite.store import SqliteStore
from delayer.engines.store.model import Delete, Put
from delayer.serve.turns.turn import Turn

LAYOUT = database.LAYOUT + queue.LAYOUT + feed.LAYOUT + counters.LAYOUT
TABLES = ("schedules", "waiting")


class World:
    def __init__(self, path: str) -> None:
        clock = ManualClock(1_000_000)
        self.database = Database(path=path, layout=LAYOUT)
        last = self.database.read("SELECT coalesce(max(upto), 0) FROM counters", ())[0][0]
        self.feed = SqliteFeed(
            database=self.database, clock=clock, numbers=Numbers(clock=clock, last=last), tables=(*TABLES, "ledger")
        )
        self.store = SqliteStore(database=self.database, noted=self.feed.note)
        self.counters = FeedCounters(database=self.database, feed=self.feed, tables=TABLES)
        self.turn = Turn(database=self.database)

    def right(self) -> None:
        for table in TABLES:
            [(found,)] = self.database.read("SELECT count(*) FROM items WHERE table_name = ?", (table,))
            assert self.counters.of(table) == found


def change(world: World, pick: random.Random) -> None:
    table, key = pick.choice([*TABLES, "ledger"]), {"bucket": "b", "due": str(pick.randrange(8))}
    world.store.write(Put(table, key, {"v": pick.randrange(3)}) if pick.random() < 0.6 else Delete(table, key))
    if pick.random() < 0.2:
        raise RuntimeError("undone, and nothing else")
