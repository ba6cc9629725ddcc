"""The smallest story: SqliteStore takes transactions. Each one that was answered is whole after a power cut.

The engine of `delayer serve` has a longer one. This one shows that the recorder finds what it must find.
"""

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, Final

from attrs import define, field, frozen

from delayer.engines.sqlite import database
from delayer.engines.sqlite.database import Database
from delayer.engines.sqlite.store import SqliteStore
from delayer.engines.store.model import Delete, Item, Put, entry_key
from tests.crashes.images import CrashPoint
from tests.crashes.recorder import Recorder
from tests.crashes.trying import Broken

FILE: Final = "items.sqlite"
TABLE: Final = "items"
ENTRIES: Final = 12
SHORT_LOG: Final = 8  # pages of the log after which it is written back: several times in a short story


@frozen
class Asked:
    """From now on this transaction may be on the disk."""

    number: int


@frozen
class Answered:
    """From now on it must be."""

    number: int


def open_store(path: Path, connect: Callable[[str], Any] = database.connect) -> tuple[SqliteStore, Any]:
    """A store on connections of another kind, and the one that writes. The settings are those of the database."""
    opened: list[Any] = []

    def connected(name: str) -> Any:
        opened.append(connect(name))
        return opened[-1]

    return SqliteStore(database=Database(path=str(path), connect=connected)), opened[0]


@define(kw_only=True)
class StoreStory:
    """Transactions of one to four writes; some items are larger than a page. `setting` is a pragma that spoils it."""

    name: str = "store"
    transactions: int = 60
    setting: str = ""
    seed: int = 0
    states: list[list[Item]] = field(factory=list)  # after no transaction, one, two …

    def play(self, recorder: Recorder) -> None:
        chance = Random(self.seed)
        store, connection = open_store(recorder.folder / FILE, recorder.connect)
        connection.execute(f"PRAGMA wal_autocheckpoint = {SHORT_LOG}")
        if self.setting:
            connection.execute(f"PRAGMA {self.setting}")
        self.states = [[]]
        for number in range(1, self.transactions + 1):
            recorder.mark(Asked(number))
            store.transact(self._writes(number, chance))
            recorder.mark(Answered(number))
            self.states.append(store.rows(TABLE))
        connection.close()

    def _writes(self, number: int, chance: Random) -> list[Put | Delete]:
        places = chance.sample(range(ENTRIES), chance.randint(1, 4))
        writes: list[Put | Delete] = []
        for place in places:
            key = entry_key("list", f"{place:02}")
            if chance.random() < 0.2:
                writes.append(Delete(TABLE, key))
            else:
                writes.append(Put(TABLE, key, {"number": number, "text": "x" * chance.choice((5, 500, 6_000))}))
        return writes

    def check(self, folder: Path, point: CrashPoint) -> None:
        """There is what some number of transactions made: all that were answered, none that was not asked for."""
        answered = max((one.number for one in point.marks if isinstance(one, Answered)), default=0)
        asked = max((one.number for one in point.marks if isinstance(one, Asked)), default=0)
        store, connection = open_store(folder / FILE)
        try:
            sound = connection.execute("PRAGMA integrity_check").fetchone()[0]
            if sound != "ok":
                raise Broken(f"the database is damaged: {sound}")
            rows = store.rows(TABLE)
            if rows not in self.states[answered : asked + 1]:
                there = [number for number, state in enumerate(self.states) if state == rows]
                raise Broken(f"{answered} answered, {asked} asked for, and there is the state after {there or 'none'}")
            store.write(Put(TABLE, entry_key("after", "the power cut")))
        finally:
            connection.close()
