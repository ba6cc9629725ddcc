"""Makes a due schedule wait while its owner or its target is suspended, or the circuit of its target is open."""

from collections.abc import Callable, Mapping
from typing import Final

from attrs import frozen

from delayer.actions.rules.model import ActionType
from delayer.engines.ports import Clock, Unavailable
from delayer.flow.ports import Blocks
from delayer.flow.rules.block import Block, BlockKind, Party, holder_of, party_of, probing, unprobed
from delayer.flow.rules.gate import PROBED, SHORTEST_WAIT, Probe, Wait, decide_gate, within_a_delay
from delayer.flow.rules.limit import limits_about, parties_of
from delayer.flow.use_cases.view import BlocksInView
from delayer.schedule.schedule import Schedule

ASKED: Final = 3  # times in a row: a row that was just written by another is read anew


def by_rate(block: Block) -> bool:
    """Whether it says how often: a limit, or a comeback."""
    return block.every > 0


def at_a_time(block: Block) -> bool:
    """Whether it says how many at a time."""
    return block.concurrency > 0


@frozen(kw_only=True)
class Gate:
    """The relay asks this before a claim, and an executor before an attempt (ADR 0110).

    Without blocks it costs one read in two seconds, and nothing for a schedule.
    """

    clock: Clock
    blocks: Blocks
    view: BlocksInView
    actions: Mapping[str, ActionType]  # by type
    heeds: frozenset[BlockKind]

    def closed(self, schedule: Schedule, nonce: str, receipt: str = "") -> Wait | None:
        """Why it must wait, and how long; None if it may pass.

        Of a circuit whose pause is over, one schedule passes: the one whose nonce was written first. An executor names
        the `receipt` of its message, and holds the probe for it from then on. Raises Unavailable.
        """
        if not self._heeded():
            return None
        party = self.party_of(schedule)
        for _ in range(ASKED):
            decision = decide_gate(self._heeded(), party, nonce, schedule.point_in_time, self.clock.now())
            decision = decision or self._held(party, nonce, receipt)
            if not isinstance(decision, Probe):
                return decision
            wait = Wait(block=decision.block, seconds=SHORTEST_WAIT)
            if self._probe(decision, nonce, holder_of(receipt)):
                return None
            self.view.read_again()
        return wait

    def _held(self, party: Party, nonce: str, receipt: str) -> Wait | Probe | None:
        """Of the probe that has this nonce: it is to be held, or is held for another delivery. A relay holds none."""
        circuit = self.view.row(BlockKind.CIRCUIT, party) if receipt else None
        if circuit is None or circuit.probe != nonce or circuit.held_by == holder_of(receipt):
            return None
        return Wait(block=circuit, seconds=within_a_delay(PROBED)) if circuit.held_by else Probe(circuit)

    def wait_for(self, schedule: Schedule, nonce: str) -> Wait | None:
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
        circuit = self.view.row(BlockKind.CIRCUIT, self.party_of(schedule))
        return circuit is not None and circuit.probe == nonce

    def _heeded(self) -> tuple[Block, ...]:
        return tuple(block for block in self.view() if block.kind in self.heeds)

    def limits(self, schedule: Schedule, counts: Callable[[Block], bool]) -> tuple[Block, ...]:
        """The limits that count its attempts, of rate or of the number at a time. Raises Unavailable."""
        limits = [block for block in self.view() if counts(block)]
        return limits_about(limits, parties_of(self.party_of(schedule), schedule)) if limits else ()

    def give_back(self, nonce: str, receipt: str = "") -> None:
        """Gives back the probe of a message that reaches no target: another one may probe at once.

        A message may be delivered twice, and both have the same nonce. So what an executor holds is given back for the
        same `receipt` alone: its copy may be at the target. If AWS does not answer, another one may in a minute.
        """
        try:
            for block in self.view():
                if block.probe == nonce and block.held_by in ("", holder_of(receipt)):
                    free = unprobed(block)
                    if self.blocks.change(free):
                        self.view.note(free)
                    else:
                        self.view.read_again()
        except Unavailable:
            return

    def party_of(self, schedule: Schedule) -> Party:
        """Its owner and its target."""
        action = self.actions.get(schedule.definition.action_type)
        return party_of(schedule, action.fair_by if action else "")

    def _probe(self, found: Probe, nonce: str, held_by: str) -> bool:
        """Whether it is the one. If another was faster, or this one itself before its claim, the row says so."""
        mine = probing(found.block, nonce, self.clock.now(), held_by)
        try:
            is_mine = self.blocks.change(mine)
        except Unavailable:
            return False
        if is_mine:
            self.view.note(mine)
        return is_mine
