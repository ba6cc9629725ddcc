"""The rows about parties that wait: blocks (ADR 0110), lines (0114), seats (0115)."""

from collections.abc import Sequence
from typing import Protocol

from attrs import frozen

from delayer.flow.rules.block import Block
from delayer.flow.rules.gate import Row, SeatHold, Taking
from delayer.flow.rules.limit import Micros
from delayer.schedule.instants import Millis


@frozen(kw_only=True)
class Rows:
    """The rows of the list `flow`: those that can be read, and the keys of the others."""

    blocks: tuple[Block, ...] = ()
    malformed: tuple[str, ...] = ()  # the keys of rows that this code cannot read


class Blocks(Protocol):
    """Keeps the rows by which parties wait: suspensions and circuits."""

    def rows(self, *, latest: bool) -> Rows:
        """All there are, in any order; `latest`: also what was written a moment ago. Raises Unavailable.

        Of a suspension that is written in a way that this code cannot read, all that it is about waits, as long as
        its party can be read. For any other row that cannot be read, nothing waits.
        """
        ...

    def change(self, block: Block, over: Block | None = None) -> bool:
        """Whether it was written: over the row of the revision before, or as the first one. Raises Unavailable.

        `over` is that row if its `since` was another one. A row that was removed and written anew has another
        `since`: it is not the row of the revision before.
        True also if the very same row is there already, by an earlier try whose answer was lost.
        """
        ...

    def remove(self, block: Block) -> bool:
        """Whether it is gone: this revision was removed, or there was none. Raises Unavailable."""
        ...

    def discard(self, key: str) -> bool:
        """Removes a row that cannot be read. Whether there was one, and it is gone. Raises Unavailable."""
        ...


@frozen
class Booked:
    """The turns from `base` on are the caller's."""

    base: Micros


@frozen
class Elsewhere:
    """Nothing was booked: the next free turn is another one; 0 if there is no row."""

    next: Micros


class Lines(Protocol):
    """Keeps the turns that are booked on limits."""

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

    def line_ends(self) -> dict[str, Micros]:
        """The next free turn of each line, about. Raises Unavailable."""
        ...


class KeepsSeats(Protocol):
    """Rows that say who has seats."""

    def take_seats(self, seats: str, taking: Taking) -> Row | None:
        """None: they are taken. Else nothing was, and this is the row. Raises Unavailable: nobody knows.

        To repeat it does no harm: what was taken by the same write before is taken.
        """
        ...

    def return_seats(self, seats: str, holds: Sequence[SeatHold]) -> Row | None:
        """None: all are given back. Else nothing is, as some are not there any more; this is the row.

        Raises Unavailable.
        """
        ...
