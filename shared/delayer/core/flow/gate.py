"""Whether a schedule that is due may reach its target now (ADR 0110)."""

from collections.abc import Iterable
from typing import Final

from attrs import frozen

from delayer.core.flow.block import Block, Kind
from delayer.core.flow.party import Party
from delayer.core.schedule.instants import SECOND, Millis
from delayer.core.schedule.margins import MAX_DELAY_SECONDS

SHORTEST_WAIT: Final = 5  # seconds
PROBED: Final[Millis] = 5 * SECOND  # while a probe is under way, the others ask again after this


@frozen(kw_only=True)
class Wait:
    """Not now."""

    block: Block
    seconds: int  # before it is to ask again; 1 to 900


@frozen
class Probe:
    """Whoever changes the row so may reach the target; all others wait."""

    block: Block


def decide_gate(blocks: Iterable[Block], party: Party, nonce: str, due: Millis, now: Millis) -> Wait | Probe | None:
    """None: nothing is in its way. `due` is when it would have reached its target: it asks more and more rarely."""
    about = [block for block in blocks if block.party.covers(party)]
    for block in about:
        if block.kind is Kind.SUSPENSION:
            return Wait(block=block, seconds=within_a_delay(max(now - max(due, block.since), 0) // 2))
    for block in about:
        if block.probe == nonce and now < block.probe_until:
            continue  # when that is over another one may probe: so it asks as all others do
        if now < block.until:
            return Wait(block=block, seconds=within_a_delay(block.until - now))
        if block.probe and now < block.probe_until:
            return Wait(block=block, seconds=within_a_delay(PROBED))
        return Probe(block)
    return None


def within_a_delay(wait: Millis) -> int:
    """In whole seconds, as SQS can delay a message; never so short that asking is all that is done."""
    return min(max(-(-wait // SECOND), SHORTEST_WAIT), MAX_DELAY_SECONDS)
