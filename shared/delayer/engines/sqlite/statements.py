"""The seam below what keeps objects and secrets: one statement at a time."""

from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias

SqlValue: TypeAlias = str | bytes | int | None


class Statements(Protocol):
    """Runs statements of SQL in a database. Each method raises Unavailable, also for text that is no Unicode."""

    def read(self, sql: str, args: Sequence[SqlValue]) -> list[tuple[Any, ...]]:
        """All rows that the statement selects."""
        ...

    def write(self, sql: str, args: Sequence[SqlValue]) -> None:
        """Changes rows. The change is on the disk before anybody is answered."""
        ...
