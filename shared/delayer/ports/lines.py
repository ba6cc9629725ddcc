"""The lines of limits (ADR 0114)."""

from typing import Protocol

from attrs import frozen

from delayer.core.limits.line import Micros
from delayer.core.schedule.instants import Millis


@frozen
class Booked:
    """The turns from `base` on are the caller's."""

    base: Micros


@frozen
class Elsewhere:
    """Nothing was booked: the next free turn is another one; 0 if there is no row."""

    next: Micros


class BooksTurns(Protocol):
    """Part of Lines."""

    def begin_line(self, line: str, first: Micros, end: Micros, expires_at: Millis) -> Booked | Elsewhere:
        """Books from `first` to `end`, if nobody has booked a turn after `first`. Raises Unavailable."""
        ...

    def extend_line(
        self, line: str, known: Micros, by: Micros, slack: Micros, expires_at: Millis
    ) -> Booked | Elsewhere:
        """Books as much behind the last one, if that is not before `known`, nor later than `slack` after it.

        Raises Unavailable. After a lost answer, what is booked again was booked twice, and nobody uses it.
        """
        ...


class ReadsLines(Protocol):
    """Part of Lines."""

    def line_ends(self) -> dict[str, Micros]:
        """The next free turn of each line, about. Raises Unavailable."""
        ...


class Lines(BooksTurns, ReadsLines, Protocol):
    """All of it."""
