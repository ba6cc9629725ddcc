"""Keeps back what is due while its owner or its target is suspended, or the circuit of its target is open."""

from collections.abc import Mapping

from attrs import frozen

from delayer.core.actions.action_type import ActionType
from delayer.core.flow.block import probing, unprobed
from delayer.core.flow.gate import SHORTEST_WAIT, Probe, Wait, decide_gate
from delayer.core.flow.party import Party, party_of
from delayer.core.schedule.instants import Millis
from delayer.core.schedule.schedule import Schedule
from delayer.ports.clock import Clock
from delayer.ports.flow import ChangesBlocks
from delayer.ports.unavailable import Unavailable
from delayer.use_cases.flow.view import BlocksInView


@frozen(kw_only=True)
class Gate:
    """What the relay asks before a claim, and an executor before an attempt (ADR 0110).

    Without blocks it costs one read in two seconds, and nothing for a schedule.
    """

    clock: Clock
    blocks: ChangesBlocks
    view: BlocksInView
    actions: Mapping[str, ActionType]  # by type

    def closed(self, schedule: Schedule, nonce: str, due: Millis = 0) -> Wait | None:
        """Why it must wait, and how long; None if it may pass. `due` is when it would, if not at its point in time.

        Of a circuit whose pause is over, one schedule passes: the one whose nonce was written first. Raises
        Unavailable.
        """
        known = self.view()
        if not known:
            return None
        party = self.party_of(schedule)
        for _ in range(len(known) + 1):
            decision = decide_gate(self.view(), party, nonce, due or schedule.point_in_time, self.clock.now())
            if not isinstance(decision, Probe):
                return decision
            if waits := self._probe(decision, nonce):
                return waits
        return None

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

    def _probe(self, found: Probe, nonce: str) -> Wait | None:
        """Another one may be faster: then this one waits. The relay may have written the same for it before."""
        mine = probing(found.block, nonce, self.clock.now())
        try:
            is_mine = self.blocks.change(mine)
        except Unavailable:
            is_mine = False
        if is_mine:
            self.view.note(mine)
            return None
        self.view.read_again()
        if any(block.key == mine.key and block.probe == nonce for block in self.view()):
            return None
        return Wait(block=found.block, seconds=SHORTEST_WAIT)
