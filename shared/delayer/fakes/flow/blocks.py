"""Suspensions and circuits, in memory."""

from attrs import Factory, define

from delayer.core.flow.block import Block
from delayer.ports.flow import Rows


@define
class MemoryBlocks:
    """Port Blocks."""

    stored: dict[str, Block] = Factory(dict)
    malformed: set[str] = Factory(set)

    def rows(self, *, latest: bool) -> Rows:  # noqa: ARG002 - a fake is never behind
        return Rows(blocks=tuple(self.stored.values()), malformed=tuple(sorted(self.malformed)))

    def discard(self, key: str) -> bool:
        is_there = key in self.malformed
        self.malformed.discard(key)
        return is_there

    def change(self, block: Block, over: Block | None = None) -> bool:
        current = self.stored.get(block.key)
        since = (over or block).since
        there = (current.since, current.revision) if current else (since, 0)
        if there == (since, block.revision - 1):
            self.stored[block.key] = block
            return True
        return current == block

    def remove(self, block: Block) -> bool:
        current = self.stored.get(block.key)
        if current and (current.since, current.revision) != (block.since, block.revision):
            return False
        self.stored.pop(block.key, None)
        return True
