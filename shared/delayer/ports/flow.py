"""The rows of what waits although it is due (ADR 0110)."""

from typing import Protocol

from attrs import frozen

from delayer.core.flow.block import Block


@frozen(kw_only=True)
class Rows:
    """What the list has."""

    blocks: tuple[Block, ...] = ()
    malformed: tuple[str, ...] = ()  # the keys of rows that this code cannot read


class ReadsBlocks(Protocol):
    """Part of Blocks."""

    def rows(self, *, latest: bool) -> Rows:
        """All there are, in any order; `latest`: also what was written a moment ago. Raises Unavailable.

        Of a suspension that is written in a way that this code cannot read, all that it keeps back waits, as long as
        its party can be read. Any other row that cannot be read keeps back nothing.
        """
        ...


class ChangesBlocks(Protocol):
    """Part of Blocks."""

    def change(self, block: Block, over: Block | None = None) -> bool:
        """Whether it was written: over the row of the revision before, or as the first one. Raises Unavailable.

        `over` is that row if its `since` was another one. A row that was removed and written anew has another
        `since`: it is not the row of the revision before.
        True also if the very same row is there already, by an earlier try whose answer was lost.
        """
        ...


class RemovesBlocks(Protocol):
    """Part of Blocks."""

    def remove(self, block: Block) -> bool:
        """Whether it is gone: this revision was removed, or there was none. Raises Unavailable."""
        ...


class DiscardsRows(Protocol):
    """Part of Blocks."""

    def discard(self, key: str) -> bool:
        """Removes a row that cannot be read. Whether there was one, and it is gone. Raises Unavailable."""
        ...


class Blocks(ReadsBlocks, ChangesBlocks, RemovesBlocks, DiscardsRows, Protocol):
    """All of it."""
