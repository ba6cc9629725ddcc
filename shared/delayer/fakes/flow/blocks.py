"""Suspensions and circuits, in memory."""

from attrs import Factory, define

from delayer.core.flow.block import Block


@define
class MemoryBlocks:
    """Port Blocks."""

    rows: dict[str, Block] = Factory(dict)

    def blocks(self) -> tuple[Block, ...]:
        return tuple(self.rows.values())

    def change(self, block: Block) -> bool:
        current = self.rows.get(block.key)
        over = (current.since, current.revision) if current else (block.since, 0)
        if over == (block.since, block.revision - 1):
            self.rows[block.key] = block
            return True
        return current == block

    def remove(self, block: Block) -> bool:
        current = self.rows.get(block.key)
        if current and (current.since, current.revision) != (block.since, block.revision):
            return False
        self.rows.pop(block.key, None)
        return True
