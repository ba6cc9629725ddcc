"""A database of SQLite in memory, with the tables of what keeps objects and secrets."""

import sqlite3
from collections.abc import Sequence
from typing import Any

from attrs import field, frozen

from delayer.engines.ports import Unavailable
from delayer.engines.sqlite.objects import OBJECTS
from delayer.engines.sqlite.secrets import SECRETS
from delayer.engines.sqlite.statements import SqlValue


@frozen(eq=False)
class OneConnection:
    """Runs each statement by itself."""

    connection: sqlite3.Connection = field(factory=lambda: sqlite3.connect(":memory:", isolation_level=None))

    def __attrs_post_init__(self) -> None:
        self.connection.executescript(OBJECTS + SECRETS)

    def read(self, sql: str, args: Sequence[SqlValue]) -> list[tuple[Any, ...]]:
        try:
            return self.connection.execute(sql, args).fetchall()
        except (sqlite3.Error, UnicodeError) as error:
            raise Unavailable(str(error)) from None

    def write(self, sql: str, args: Sequence[SqlValue]) -> None:
        self.read(sql, args)
