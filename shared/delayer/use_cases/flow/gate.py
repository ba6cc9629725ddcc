"""Keeps back what is due while its owner or its target is suspended, or the circuit of its target is open."""

from collections.abc import Mapping
from typing import Final

from attrs import frozen

from delayer.core.actions.action_type import ActionType
from delayer.core.flow.block import Block, Kind, probing, unprobed
from delayer.core.flow.gate import SHORTEST_WAIT, Probe, Wait, decide_gate
from delayer.core.flow.party import Party, party_of
from delayer.core.schedule.schedule import Schedule
from delayer.ports.clock import Clock
from delayer.ports.flow import ChangesBlocks
from delayer.ports.unavailable import Unavailable
from delayer.use_cases.flow.view import BlocksInView

ASKED: Final = 3  # times in a row: a row that was just written by another is read anew


@frozen(kw_only=True)
class Gate:
    """What the relay asks before a claim, and an executor before an attempt (ADR 0110).

    Without blocks it costs one read in two seconds, and nothing for a schedule.
    """

    clock: Clock
    blocks: ChangesBlocks
    view: BlocksInView
    actions: Mapping[str, ActionType]  # by type
    heeds: frozenset[Kind]

    def closed(self, schedule: Schedule, nonce: str) -> Wait | None:
        """Why it must wait, and how long; None if it may pass.

        Of a circuit whose pause is over, one schedule passes: the one whose nonce was written first. Raises
        Unavailable.
        """
        if not self._heeded():
            return None
        party = self.party_of(schedule)
        for _ in range(ASKED):
            decision = decide_gate(self._heeded(), party, nonce, schedule.point_in_time, self.clock.now())
            if not isinstance(decision, Probe):
                return decision
            wait = Wait(block=decision.block, seconds=SHORTEST_WAIT)
            if not self._probe(decision, nonce):
                self.view.read_again()
        return wait

    def keeps_back(self, schedule: Schedule, nonce: str) -> Wait | None:
        """Why it would have to wait now; nothing is written. Raises Unavailable."""
        blocks = self._heeded()
        if not blocks:
            return None
        decision = decide_gate(blocks, self.party_of(schedule), nonce, schedule.point_in_time, self.clock.now())
        return decision if isinstance(decision, Wait) else None

    def is_probe(self, schedule: Schedule, nonce: str) -> bool:
        """Whether it is let through only to see whether its target answers. Raises Unavailable."""
        if not any(block.probe == nonce for block in self.view()):
            return False
        circuit = self.view.row(Kind.CIRCUIT, self.party_of(schedule))
        return circuit is not None and circuit.probe == nonce

    def _heeded(self) -> tuple[Block, ...]:
        return tuple(block for block in self.view() if block.kind in self.heeds)

    def give_back(self, nonce: str) -> None:
        """It was to probe, and reaches no target: another one may at once. Without an answer, in a minute."""
        try:
            for block in self.view():
                if block.probe == nonce:
                    free = unprobed(block)
                    if self.blocks.change(free):
                        self.view.note(free)
        except Unavailable:
            return

    def party_of(self, schedule: Schedule) -> Party:
        """Its owner and its target."""
        action = self.actions.get(schedule.definition.action_type)
        return party_of(schedule, action.fair_by if action else "")

    def _probe(self, found: Probe, nonce: str) -> bool:
        """Whether it is the one. If another was faster, or this one itself before its claim, the row says so."""
        mine = probing(found.block, nonce, self.clock.now())
        try:
            is_mine = self.blocks.change(mine)
        except Unavailable:
            return False
        if is_mine:
            self.view.note(mine)
        return is_mine
