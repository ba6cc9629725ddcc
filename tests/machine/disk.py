"""The disk of a machine: a database in memory that outlives it, and can be full; and the moments at which it is killed.

Whoever looks at it sees each commit whole: triggers note what a transaction writes, and forget it with that.
"""

import sqlite3
from collections.abc import Callable, Sequence
from typing import Any, Final

from attrs import define, field, frozen

CHANGING: Final = ("INSERT", "UPDATE", "DELETE", "REPLACE")
PROBE: Final = "PRAGMA user_version ="
FULL: Final = "database or disk is full"
PATH: Final = "machine.db"  # nothing is ever opened there
EYE: Final = """
    CREATE TEMP TABLE seen (number INTEGER PRIMARY KEY, place TEXT, id TEXT, old BLOB, new BLOB);
    CREATE TEMP TRIGGER item_in AFTER INSERT ON main.items BEGIN
        INSERT INTO seen (place, id, new) VALUES (new.table_name, new.partition, new.item); END;
    CREATE TEMP TRIGGER item_new AFTER UPDATE ON main.items BEGIN
        INSERT INTO seen (place, id, old, new) VALUES (new.table_name, new.partition, old.item, new.item); END;
    CREATE TEMP TRIGGER item_out AFTER DELETE ON main.items BEGIN
        INSERT INTO seen (place, id, old) VALUES (old.table_name, old.partition, old.item); END;
    CREATE TEMP TRIGGER message_in AFTER INSERT ON main.messages BEGIN
        INSERT INTO seen (place, id, new) VALUES ('queue ' || new.queue, new.number, new.body); END;
    CREATE TEMP TRIGGER message_out AFTER DELETE ON main.messages BEGIN
        INSERT INTO seen (place, id, old) VALUES ('queue ' || old.queue, old.number, old.body); END;
    CREATE TEMP TRIGGER object_in AFTER INSERT ON main.objects BEGIN
        INSERT INTO seen (place, id, new) VALUES ('objects', new.key, ''); END;
    CREATE TEMP TRIGGER object_out AFTER DELETE ON main.objects BEGIN
        INSERT INTO seen (place, id, old) VALUES ('objects', old.key, ''); END;
"""


class Killed(BaseException):
    """The process is no more. Not an Exception: no code of Delayer's may catch it."""


@frozen
class Seen:
    """One row that a transaction has written: before it and after it."""

    place: str  # the table of the item, or `queue ` and the name of that
    id: str  # partition of the item, or number of the message
    old: bytes | str | None
    new: bytes | str | None


def in_memory() -> sqlite3.Connection:
    """A disk that is empty."""
    return sqlite3.connect(":memory:", isolation_level=None, cached_statements=512)


@define(kw_only=True, eq=False)
class Disk:
    """`kill_in` and `kill_at_commit` count down: the process dies at that statement, or at that commit."""

    committed: Callable[[Sequence[Seen]], None]
    fails: Callable[[str], bool] = lambda _: False  # whether this statement finds the disk full
    undoes: Callable[[], bool] = lambda: False  # whether SQLite then undoes the whole transaction, as it may
    refused: Callable[[], None] = lambda: None  # told of each commit that fails
    kill_in: int = 0  # statements
    kill_at_commit: int = 0
    kills_after: bool = False  # that commit, and not before it
    base: Any = field(factory=in_memory)  # as `sqlite3.connect` makes it
    dirty_from: int = field(default=0, init=False)  # changes of rows, as they were at the last commit
    commits: int = field(default=0, init=False)
    _has_probed: bool = field(default=False, init=False)
    _life: int = field(default=0, init=False)

    def __attrs_post_init__(self) -> None:
        self.base.execute("PRAGMA temp_store = MEMORY")  # to change it later would drop what is temporary

    def open(self) -> None:
        """One that has tables already: tells of all that is there."""
        self.base.executescript(EYE)
        items = self.base.execute("SELECT table_name, partition, NULL, item FROM items").fetchall()
        messages = self.base.execute(
            "SELECT 'queue ' || queue, CAST(number AS TEXT), NULL, body FROM messages"
        ).fetchall()
        objects = self.base.execute("SELECT 'objects', key, NULL, '' FROM objects").fetchall()
        self.committed([Seen(*row) for row in (*objects, *items, *messages)])

    def connect(self, path: str) -> Any:
        """In the place of the engine's own, for the life that has begun."""
        return Plug(disk=self, life=self._life)

    def crash(self) -> None:
        """What was not committed never was, and nobody of the former life can do anything any more."""
        self._life += 1
        self.kill_in = self.kill_at_commit = 0
        if self.base.in_transaction:
            self.base.execute("ROLLBACK")
        self.dirty_from = self.base.total_changes

    @property
    def is_dirty(self) -> bool:
        """Whether anything was written that is not on the disk."""
        return bool(self.base.in_transaction and self.base.total_changes != self.dirty_from)

    def execute(self, life: int, statement: str, values: Sequence[Any], *, many: bool = False) -> Any:
        """One statement of one life."""
        if life != self._life:
            raise Killed
        self._count_down()
        if statement == "COMMIT":
            return self._commit()
        if statement.startswith("PRAGMA query_only"):  # the reader has the same connection
            statement = "PRAGMA query_only"
        if statement.lstrip()[:7].upper().startswith(CHANGING) and self.fails("write"):
            self._is_full()
        self._has_probed = self._has_probed or statement.startswith(PROBE)
        done = self.base.executemany(statement, values) if many else self.base.execute(statement, values)
        if statement.startswith(("BEGIN", "ROLLBACK")) and not statement.startswith("ROLLBACK TO"):
            self.dirty_from = self.base.total_changes
        return done

    def _count_down(self) -> None:
        if self.kill_in:
            self.kill_in -= 1
            if not self.kill_in:
                raise Killed

    def _commit(self) -> Any:
        is_last = self.kill_at_commit == 1
        self.kill_at_commit -= bool(self.kill_at_commit)
        if is_last and not self.kills_after:
            raise Killed
        is_written, self._has_probed = self.is_dirty or self._has_probed, False
        if is_written and self.fails("commit"):
            self.refused()
            self._is_full()
        done = self.base.execute("COMMIT")
        self.dirty_from = self.base.total_changes
        self.commits += 1
        if is_written:
            self.tell()
        if is_last:
            raise Killed
        return done

    def tell(self) -> None:
        """Of what was committed just now."""
        rows = self.base.execute("SELECT place, id, old, new FROM temp.seen ORDER BY number").fetchall()
        self.base.execute("DELETE FROM temp.seen")
        self.dirty_from = self.base.total_changes
        self.committed([Seen(*row) for row in rows])

    def _is_full(self) -> None:
        if self.undoes() and self.base.in_transaction:
            self.base.execute("ROLLBACK")
            self.dirty_from = self.base.total_changes
        error = sqlite3.OperationalError(FULL)
        error.sqlite_errorcode = sqlite3.SQLITE_FULL
        raise error

    def script(self, life: int, script: str) -> Any:
        """Makes the tables, whole or not at all: a file of which the beginning was made is no part of this."""
        if life != self._life:
            raise Killed
        done = self.base.executescript(script)
        if not script.startswith("PRAGMA"):
            self.base.executescript(EYE)
        return done


@define(kw_only=True, eq=False)
class Plug:
    """A connection, as long as its process lives."""

    disk: Disk
    life: int

    @property
    def in_transaction(self) -> bool:
        return bool(self.disk.base.in_transaction)

    @property
    def total_changes(self) -> int:
        return int(self.disk.base.total_changes)

    def execute(self, statement: str, values: Sequence[Any] = (), /) -> Any:
        return self.disk.execute(self.life, statement, values)

    def executemany(self, statement: str, values: Sequence[Sequence[Any]], /) -> Any:
        return self.disk.execute(self.life, statement, values, many=True)

    def executescript(self, script: str, /) -> Any:
        return self.disk.script(self.life, script)

    def close(self) -> None:
        """The disk goes on."""
