"""How an engine is, for its operators: counted when somebody asks, so that it costs nothing else."""

import os
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

from attrs import field, frozen

from delayer.dead_letters.model import Prefix
from delayer.engines.sqlite.database import MEMORY, VERSION
from delayer.schedule.instants import SECOND, Millis, format_instant, minute_of
from delayer.schedule.schedule_id import Bucket
from delayer.schedule.tables import SCHEDULES
from delayer.serve.data.space import is_restricted
from delayer.serve.lines import UP_TO, LogLines
from delayer.serve.turns.fire import AFTER_ALL
from delayer.serve.turns.machine import Machine

PACKAGE: Final = "delayer-client"  # which has this code in it
ON_TIME: Final[Millis] = SECOND  # what has been due for longer waits
LATE: Final = "SELECT count(*) FROM items WHERE table_name = ? AND (partition, sort) <= (?, ?)"
LETTERS: Final = "SELECT count(*) FROM objects WHERE key >= ? AND key < ?"
QUEUES: Final = "SELECT queue, sum(visible_at <= ?), sum(visible_at > ?) FROM messages GROUP BY queue"


@frozen(kw_only=True)
class EngineStatus:
    """Any thread may ask for it: it has a connection of its own, and keeps no turn waiting."""

    machine: Machine
    lines: LogLines
    under_way: Callable[[], int]  # attempts
    free: Callable[[], int]  # bytes on the disk
    begun: Millis  # when this process has
    further: Callable[[], Mapping[str, Any]] = field(default=dict)  # what others know, such as the number of the life

    def __call__(self) -> dict[str, Any]:
        """Times are in RFC 3339, sizes in bytes. Raises sqlite3.Error, Unavailable."""
        now, free = self.machine.clock.now(), self.free()
        return {
            "version": self._version(),
            "layout": VERSION,
            "process": os.getpid(),
            "life": self.machine.lives.number,
            "startedAt": format_instant(self.begun),
            "now": format_instant(now),
            **self._counted(now),
            "underWay": self.under_way(),
            "lateness": [
                {**({"upToMs": bound} if bound else {}), "number": number}
                for bound, number in zip((*UP_TO, None), self.lines.late, strict=True)
            ],
            "counts": dict(self.lines.counts),
            "freeBytes": free,
            "restricted": is_restricted(free),
            **self._sizes(),
            **self.further(),
        }

    def _counted(self, now: Millis) -> dict[str, Any]:
        path = self.machine.database.path
        if path == MEMORY:
            return self._found(self.machine.database.read, now)
        with closing(sqlite3.connect(f"{Path(path).absolute().as_uri()}?mode=ro", uri=True)) as connection:
            return self._found(lambda sql, values: connection.execute(sql, values).fetchall(), now)

    def _found(self, read: Callable[[str, Sequence[Any]], list[tuple[Any, ...]]], now: Millis) -> dict[str, Any]:
        since = now - ON_TIME
        late = Bucket(minute=minute_of(since), shard=0).key, f"{since:013}{AFTER_ALL}"
        first = self.machine.items.first(SCHEDULES)
        letters = {one.value: read(LETTERS, (f"{one.value}/", f"{one.value}0"))[0][0] for one in Prefix}
        return {
            "waiting": self.machine.waiting(),
            "late": read(LATE, (SCHEDULES, *late))[0][0],
            **({"nextDue": format_instant(int(first.partition("#")[0]))} if first else {}),
            "queues": {name: {"ready": ready, "delayed": later} for name, ready, later in read(QUEUES, (now, now))},
            "deadLetters": letters,
        }

    def _sizes(self) -> dict[str, int]:
        """Looked up by their names: a file of the database that is opened and closed gives up its locks."""
        path = self.machine.database.path
        sizes = {"databaseBytes": "", "logBytes": "-wal"}
        return {name: _size(path + suffix) for name, suffix in sizes.items() if path != MEMORY}

    def _version(self) -> str:
        try:
            return version(PACKAGE)
        except PackageNotFoundError:  # a checkout that is not installed
            return ""


def _size(path: str) -> int:
    try:
        return Path(path).stat().st_size
    except FileNotFoundError:
        return 0
