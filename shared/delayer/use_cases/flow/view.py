"""The blocks as one execution environment knows them: read at most once in two seconds."""

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


@define(kw_only=True)
class BlocksInView:
    """What it knows may be two seconds old. Messages of a batch share it, side by side."""

    clock: Clock
    store: ReadsBlocks
    observer: Observer
    _known: dict[str, Block] = field(factory=dict, init=False)
    _read_at: Millis | None = field(default=None, init=False)
    _lock: Lock = field(factory=Lock, init=False, repr=False, eq=False)

    def __call__(self) -> tuple[Block, ...]:
        """Never raises: if they cannot be read, those known before count, and what is to follow cannot be done."""
        with self._lock:
            now = self.clock.now()
            if self._read_at is None or not 0 <= now - self._read_at < FRESH_FOR:
                self._read_anew(now)
            return tuple(self._known.values())

    def note(self, block: Block) -> None:
        """What was written by this environment counts at once."""
        with self._lock:
            self._known[block.key] = block

    def forget(self, block: Block | None = None) -> None:
        """A block that is gone; without one, all is read anew the next time."""
        with self._lock:
            if block is None:
                self._read_at = None
            else:
                self._known.pop(block.key, None)

    def _read_anew(self, now: Millis) -> None:
        self._read_at = now
        try:
            self._known = {block.key: block for block in self.store.blocks()}
        except Unavailable as error:
            self.observer.warn("blocks not read", error=str(error))
