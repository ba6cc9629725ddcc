"""Each rule of the circuit is taken out, one at a time. The search has to find what the rule prevents."""

from collections.abc import Iterable
from typing import Any, Final

from attrs import evolve

from delayer.engines.store.model import Put, entry_key
from delayer.flow.repository import LIST, StoredBlocks, to_item
from delayer.flow.rules.block import Block
from delayer.flow.rules.gate import Probe, decide_gate
from tests.model.circuit.state import Budget
from tests.model.circuit.steps import REAL, only
from tests.model.guard import Guard


class Unconditional(StoredBlocks):
    """Whoever writes last is right."""

    def change(self, block: Block, over: Block | None = None) -> bool:
        self.store.write(Put(self.table, entry_key(LIST, block.key), to_item(block)))
        return True


class ByRevisionAlone(StoredBlocks):
    """A row that was removed and written anew looks like the old one."""

    def change(self, block: Block, over: Block | None = None) -> bool:
        current = only(self)
        return super().change(block if current is None else evolve(block, since=current.since))

    def remove(self, block: Block) -> bool:
        current = only(self)
        return super().remove(block if current is None else evolve(block, since=current.since))


def _nobody_probes(*asked: Any) -> Any:
    decision = decide_gate(*asked)
    return "closed" if isinstance(decision, Probe) else decision


def _all_probe(*asked: Any) -> Any:
    decision = decide_gate(*asked)
    return None if isinstance(decision, Probe) else decision


def _for_ever(blocks: Iterable[Block], *asked: Any) -> Any:
    """A probe that does not come back keeps all away."""
    return "closed" if any(block.probe and not block.probe_until for block in blocks) else decide_gate(blocks, *asked)


def _after_its_time(blocks: Iterable[Block], party: Any, nonce: str, *rest: Any) -> Any:
    """A probe that comes late does not ask whether another one has taken its place."""
    if any(block.probe == nonce for block in blocks):
        return None
    return decide_gate(blocks, party, nonce, *rest)


GUARDS: Final = (
    Guard(
        name="one writes",
        what="two that have both read that the pause is over both probe",
        without=evolve(REAL, blocks=Unconditional),
        possible=Budget(failures=3),
    ),
    Guard(
        name="a circuit is not the one before",
        what="what is known of a circuit that was closed is written over the next one",
        without=evolve(REAL, blocks=ByRevisionAlone),
        possible=Budget(failures=4, commands=1),
    ),
    Guard(
        name="who is not told waits",
        what="an environment whose write got no answer takes itself for the probe",
        without=evolve(REAL, waits_if_lost=False),
        possible=Budget(failures=3, lost=1),
    ),
    Guard(
        name="one probes",
        what="when the pause is over, all reach the target",
        without=evolve(REAL, gate=_all_probe),
        possible=Budget(failures=3),
    ),
    Guard(
        name="somebody probes",
        what="when the pause is over, all wait on",
        without=evolve(REAL, gate=_nobody_probes),
        possible=Budget(failures=2),
    ),
    Guard(
        name="a probe lapses",
        what="a probe that does not come back is waited for",
        without=evolve(REAL, gate=_for_ever),
        possible=Budget(failures=2, crashes=1),
    ),
    Guard(
        name="a late probe asks again",
        what="a schedule that has probed once may probe whenever it comes again",
        without=evolve(REAL, gate=_after_its_time),
        possible=Budget(failures=3, crashes=1),
    ),
    Guard(
        name="an answer closes",
        what="a probe that is answered leaves the circuit as it is",
        without=evolve(REAL, success_closes=False),
        possible=Budget(failures=2),
    ),
    Guard(
        name="what has waited is paced",
        what="a probe that is answered closes the circuit, and all that has waited comes back at once",
        without=evolve(REAL, comes_back=False),
        possible=Budget(failures=2),
    ),
    Guard(
        name="the pace grows",
        what="what has waited comes back at the first pace, and the circuit is never closed",
        without=evolve(REAL, faster=lambda block, now: block),
        possible=Budget(failures=2),
    ),
)
