"""The blocks as one execution environment knows them, read at most once in two seconds; what a lookup says of them."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from threading import Lock
from typing import Final

from attrs import define, field, frozen

from delayer.actions.rules.model import ActionType
from delayer.engines.ports import Clock, Observer, Unavailable
from delayer.flow.ports import Blocks
from delayer.flow.rules.block import EVERY, Block, BlockKind, Party, Waiting, party_in, waiting_for
from delayer.flow.rules.limit import of_connection
from delayer.schedule.instants import SECOND, Malformed, Millis
from delayer.schedule.schedule import Definition

FRESH_FOR: Final[Millis] = 2 * SECOND
ROWS: Final = 100  # for each hundred more, what was read is used for two seconds longer: all read all of them
ALL_COUNT_FOR: Final[Millis] = 30 * SECOND  # while reads fail; after that, only suspensions do
PAUSE: Final[Millis] = SECOND  # after a read that failed


@define(kw_only=True)
class BlocksInView:
    """Its knowledge is two seconds old, or older while reads fail. The messages of a batch share it.

    While reads fail, suspensions count as they were known. What circuits and crowds were known says less and less, and
    after half a minute nothing: whatever keeps Delayer from reading must not keep it from working.
    """

    clock: Clock
    blocks: Blocks
    observer: Observer
    lock: AbstractContextManager[object] = field(factory=Lock, repr=False, eq=False)
    _known: dict[str, Block] = field(factory=dict, init=False)
    _read_at: Millis | None = field(default=None, init=False)
    _failed_at: Millis | None = field(default=None, init=False)
    _has_changed: bool = field(default=False, init=False)  # it is to be read before it is used again
    _was_written: bool = field(default=False, init=False)  # the next read must see what was written

    def __call__(self) -> tuple[Block, ...]:
        """Returns the blocks that make schedules wait now. Raises Unavailable if it was never read: nobody knows what
        is suspended.
        """
        blocks = self._blocks()
        if not blocks:
            return blocks
        now = self.clock.now()
        return tuple(block for block in blocks if not block.is_over(now))

    def row(self, kind: BlockKind, party: Party) -> Block | None:
        """Of exactly this party, also if it is over. Raises as the call does."""
        return next((block for block in self._blocks() if block.kind is kind and block.party == party), None)

    def _blocks(self) -> tuple[Block, ...]:
        with self.lock:
            if self._has_changed or not self._is_fresh():
                self._read_anew()
            known = tuple(self._known.values())
            if not known or self._is_younger(self._read_at, ALL_COUNT_FOR):
                return known
            return tuple(block for block in known if block.kind in (BlockKind.SUSPENSION, BlockKind.LIMIT))

    def note(self, block: Block) -> None:
        """A block that this environment has written counts at once."""
        with self.lock:
            self._known[block.key] = block
            self._was_written = True

    def forget(self, block: Block) -> None:
        """A block that is gone."""
        with self.lock:
            self._known.pop(block.key, None)
            self._was_written = True

    def read_again(self) -> None:
        """The next time: something has changed."""
        with self.lock:
            self._has_changed = self._was_written = True

    def _is_fresh(self) -> bool:
        return self._is_younger(self._read_at, FRESH_FOR * (1 + len(self._known) // ROWS))

    def _is_younger(self, instant: Millis | None, age: Millis) -> bool:
        return instant is not None and 0 <= self.clock.now() - instant < age

    def _read_anew(self) -> None:
        began = self.clock.now()
        if self._read_at is not None and self._is_younger(self._failed_at, PAUSE):
            return
        try:
            rows = self.blocks.rows(latest=self._was_written)
        except Unavailable as error:
            self._failed_at = began
            if self._read_at is None:
                raise
            self.observer.warn("blocks not read", error=str(error))
            return
        for key in rows.malformed:
            self.observer.warn("a block that cannot be read", block=key)
        self._known = {block.key: block for block in rows.blocks}
        self._read_at = began
        self._has_changed = self._was_written = False


@frozen(kw_only=True)
class Waits:
    """Part of a lookup. It reads for what is overdue or waits for an attempt, and for nothing else."""

    clock: Clock
    view: BlocksInView
    actions: Mapping[str, ActionType]  # by type
    observer: Observer

    def __call__(self, owner: str, definition: Definition | None, next_attempt_at: Millis = 0) -> Waiting | None:
        """Says what it waits for. Without its definition, only what concerns all schedules of its owner is known.

        If AWS does not answer, this is missing in the lookup, and nothing else.
        """
        try:
            blocks = [block for block in self.view() if block.party.owner in (EVERY, owner)]
            if not blocks:
                return None
            party = self._party(owner, definition, blocks)
            blocks = [of_connection(block, party, definition) for block in blocks]
            return waiting_for(blocks, party, next_attempt_at, self.clock.now())
        except Unavailable as error:
            self.observer.warn("blocks not read", error=str(error))
            return None

    def _party(self, owner: str, definition: Definition | None, blocks: list[Block]) -> Party:
        """Its target counts only if a block is about one."""
        if definition is None or all(block.party.target == EVERY for block in blocks):
            return Party(owner=owner, target=EVERY)
        try:
            action = self.actions.get(definition.action_type)
            return party_in(owner, definition, action.fair_by if action else "")
        except Malformed:
            return Party(owner=owner, target=EVERY)
