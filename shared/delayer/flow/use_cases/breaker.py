"""Opens and closes the circuits of targets, by what attempts came to (ADR 0111)."""

from collections import OrderedDict
from threading import Lock
from typing import Final

from attrs import field, frozen

from delayer.actions.rules.model import Done, Result, Retry
from delayer.engines.ports import Observer, Unavailable
from delayer.flow.ports import Blocks
from delayer.flow.rules.block import Block, BlockKind, Party, crowded, opened, opened_again
from delayer.flow.rules.comeback import Health, Seen, after_attempt, coming_back
from delayer.flow.use_cases.gate import Gate
from delayer.schedule.messages import ExecutorMessage

PARTIES: Final = 1_000  # whose health is kept; that of another one begins anew
MOST_IN_ALL: Final = 200  # circuits, and as many crowds: whatever fires reads all of them every few seconds
MOST: Final = 40  # of each, of one owner: who has more dead targets than this is bounded by its share of slots


@frozen(kw_only=True)
class Breaker:
    """An executor reports each attempt here. As long as no attempt fails it writes nothing and knows nothing."""

    gate: Gate
    blocks: Blocks
    observer: Observer
    _healths: "OrderedDict[Party, Health]" = field(factory=OrderedDict, init=False)
    _comebacks: "OrderedDict[Party, Seen]" = field(factory=OrderedDict, init=False)
    _lock: Lock = field(factory=Lock, init=False, repr=False, eq=False)

    def made(self, message: ExecutorMessage, result: Result, receipt: str = "") -> None:
        """An attempt was made. Never raises: what cannot be written now is written after the next one.

        What never came to its target says nothing about it: if it was the probe, another one is to be.
        """
        if not isinstance(result, Done) and not result.reached:
            self.gate.give_back(message.nonce, receipt)
            return
        is_outage = isinstance(result, Retry) and result.is_outage
        try:
            if not is_outage and not self._healths and not self.gate.view():
                return
            party = self.gate.party_of(message.schedule)
            circuit = self.gate.view.row(BlockKind.CIRCUIT, party)
            if circuit and not circuit.is_comeback and circuit.probe == message.nonce:
                self.probed(circuit, result)
            elif circuit and circuit.is_comeback and not circuit.is_over(self.gate.clock.now()):
                self._paced(circuit, result.detail, is_outage=is_outage)
            elif (not circuit or circuit.is_comeback) and self._is_dead(party, is_outage=is_outage):
                self._open(party, result.detail, circuit)
        except Unavailable as error:
            self.observer.warn("circuit not written", message.schedule.id, error=str(error))

    def crowded(self, party: Party) -> None:
        """There was no room for an attempt: all that is not claimed yet is to wait. Raises Unavailable."""
        now, over = self.gate.clock.now(), self.gate.view.row(BlockKind.CROWD, party)
        block = crowded(party, now, over)
        is_renewal = over is not None and not over.is_over(now)
        if block is None or not (is_renewal or self._has_room(BlockKind.CROWD, party)):
            return
        if self.blocks.change(block, over):
            self.gate.view.note(block)
        else:
            self.gate.view.read_again()

    def _has_room(self, kind: BlockKind, party: Party) -> bool:
        """For another row. What is over counts no more, and what is of another kind counts by itself."""
        known = [block for block in self.gate.view() if block.kind is kind]
        return len(known) < MOST_IN_ALL and sum(block.party.owner == party.owner for block in known) < MOST

    def _is_dead(self, party: Party, *, is_outage: bool) -> bool:
        """After this attempt. A target that has answered is not."""
        with self._lock:
            if not is_outage:
                self._healths.pop(party, None)
                return False
            health = self._healths.get(party, Health()).failed(self.gate.clock.now())
            self._healths[party] = health
            self._healths.move_to_end(party)
            if len(self._healths) > PARTIES:
                self._healths.popitem(last=False)
            return health.is_dead

    def _open(self, party: Party, reason: str, over: Block | None) -> None:
        """Unless another environment was faster. `over` is a comeback of which nothing was heard any more."""
        if not self._has_room(BlockKind.CIRCUIT, party):
            return
        block = opened(party, self.gate.clock.now(), reason, over)
        if self.blocks.change(block, over):
            self._changed(block, "circuit opened")
        else:
            self.gate.view.read_again()
        with self._lock:
            self._healths.pop(party, None)

    def probed(self, circuit: Block, result: Result) -> None:
        """Any answer but an outage ends the pauses: the target is there, and what has waited comes back."""
        now = self.gate.clock.now()
        if isinstance(result, Retry) and result.is_outage:
            self._written(opened_again(circuit, now, result.detail))
        else:
            self._written(coming_back(circuit, now))

    def _paced(self, circuit: Block, reason: str, *, is_outage: bool) -> None:
        """An attempt of a comeback: the pace grows, or falls, or is needed no more."""
        with self._lock:
            seen = self._comebacks.get(circuit.party, Seen()).after(circuit, is_outage=is_outage)
            self._comebacks[circuit.party] = seen
            self._comebacks.move_to_end(circuit.party)
            if len(self._comebacks) > MOST_IN_ALL:  # another environment has closed the circuit of the oldest
                self._comebacks.popitem(last=False)
        block = after_attempt(circuit, seen, self.gate.clock.now(), reason, is_outage=is_outage)
        if block is None:
            self._close(circuit)
        elif block != circuit:
            self._written(block)

    def _close(self, circuit: Block) -> None:
        if self.blocks.remove(circuit):
            self.gate.view.forget(circuit)
            with self._lock:
                self._comebacks.pop(circuit.party, None)
            self.observer.note("circuit closed", target=circuit.party.target, pauses=circuit.pauses)
        else:
            self.gate.view.read_again()

    def _written(self, block: Block) -> None:
        """Unless another environment was faster."""
        if not self.blocks.change(block):
            self.gate.view.read_again()
        elif block.is_comeback:
            self.gate.view.note(block)
            self.observer.note("circuit: paced", target=block.party.target, every=block.every)
        else:
            self._changed(block, "circuit opened again")

    def _changed(self, block: Block, what: str) -> None:
        self.gate.view.note(block)
        self.observer.count("CircuitOpened")
        self.observer.warn(what, target=block.party.target, until=block.until, reason=block.reason)
