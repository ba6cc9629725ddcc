"""The rows of what waits although it is due (ADR 0110)."""

from typing import Protocol

from delayer.core.flow.block import Block


class ReadsBlocks(Protocol):
    """Part of Blocks."""

    def blocks(self) -> tuple[Block, ...]:
        """All there are, strongly consistent, in any order. Raises Unavailable."""
        ...


class ChangesBlocks(Protocol):
    """Part of Blocks."""

    def change(self, block: Block) -> bool:
        """Whether it was written: over the row of the revision before, or as the first one. Raises Unavailable.

        A row that was removed and written anew has another `since`: it is not the row of the revision before.
        True also if the very same row is there already, by an earlier try whose answer was lost.
        """
        ...


class RemovesBlocks(Protocol):
    """Part of Blocks."""

    def remove(self, block: Block) -> bool:
        """Whether it is gone: this revision was removed, or there was none. Raises Unavailable."""
        ...


class Blocks(ReadsBlocks, ChangesBlocks, RemovesBlocks, Protocol):
    """All of it."""
