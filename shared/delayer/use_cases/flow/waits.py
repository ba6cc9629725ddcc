"""Tells the owner of a schedule what it waits for although it is due (ADR 0110)."""

from collections.abc import Mapping

from attrs import frozen

from delayer.core.actions.action_type import ActionType
from delayer.core.flow.block import Block
from delayer.core.flow.party import EVERY, Party, party_in
from delayer.core.flow.waiting import Waiting, waiting_for
from delayer.core.limits.limit import of_connection
from delayer.core.schedule.definition import Definition
from delayer.core.schedule.instants import Millis
from delayer.core.schedule.malformed import Malformed
from delayer.ports.clock import Clock
from delayer.ports.observer import Observer
from delayer.ports.unavailable import Unavailable
from delayer.use_cases.flow.view import BlocksInView


@frozen(kw_only=True)
class Waits:
    """Part of a lookup. It reads for what is overdue or waits for an attempt, and for nothing else."""

    clock: Clock
    view: BlocksInView
    actions: Mapping[str, ActionType]  # by type
    observer: Observer

    def __call__(self, owner: str, definition: Definition | None, next_attempt_at: Millis = 0) -> Waiting | None:
        """What keeps it back. Without its definition, only what concerns all schedules of its owner is known.

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
