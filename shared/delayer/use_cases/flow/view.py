"""The blocks as one execution environment knows them: read at most once in two seconds."""

from contextlib import AbstractContextManager
from threading import Lock
from typing import Final

from attrs import define, field

from delayer.core.flow.block import Block
from delayer.core.schedule.instants import SECOND, Millis
from delayer.ports.clock import Clock
from delayer.ports.flow import ReadsBlocks
from delayer.ports.observer import Observer
from delayer.ports.unavailable import Unavailable

FRESH_FOR: Final[Millis] = 2 * SECOND
USABLE_FOR: Final[Millis] = 30 * SECOND  # if reads fail; then what is due waits, as without an answer of the ledger


@define(kw_only=True)
class BlocksInView:
    """What it knows is two seconds old at most, or thirty while reads fail. The messages of a batch share it."""

    clock: Clock
    store: ReadsBlocks
    observer: Observer
    lock: AbstractContextManager[object] = field(factory=Lock, repr=False, eq=False)
    _known: dict[str, Block] = field(factory=dict, init=False)
    _read_at: Millis | None = field(default=None, init=False)

    def __call__(self) -> tuple[Block, ...]:
        """All blocks. Raises Unavailable if they were not read for so long that nobody knows what is suspended."""
        with self.lock:
            if not self._is_younger_than(FRESH_FOR):
                self._read_anew()
            return tuple(self._known.values())

    def note(self, block: Block) -> None:
        """What was written by this environment counts at once."""
        with self.lock:
            self._known[block.key] = block

    def forget(self, block: Block) -> None:
        """A block that is gone."""
        with self.lock:
            self._known.pop(block.key, None)

    def read_again(self) -> None:
        """The next time: something has changed."""
        with self.lock:
            if self._read_at is not None:
                self._read_at -= FRESH_FOR

    def _is_younger_than(self, age: Millis) -> bool:
        return self._read_at is not None and 0 <= self.clock.now() - self._read_at < age

    def _read_anew(self) -> None:
        began = self.clock.now()
        try:
            self._known = {block.key: block for block in self.store.blocks()}
        except Unavailable as error:
            if not self._is_younger_than(USABLE_FOR):
                raise
            self.observer.warn("blocks not read", error=str(error))
        else:
            self._read_at = began
