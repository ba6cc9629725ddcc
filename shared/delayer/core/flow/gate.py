"""Whether a schedule that is due may reach its target now (ADR 0110)."""

from collections.abc import Iterable
from typing import Final

from attrs import frozen

from delayer.core.flow.block import CROWDED, Block, Kind
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
    about = sorted((block for block in blocks if block.party.covers(party)), key=lambda block: _ORDER.index(block.kind))
    for block in about:
        match block.kind:
            case Kind.SUSPENSION:
                return Wait(block=block, seconds=within_a_delay(max(now - max(due, block.since), 0) // 2))
            # When its probe is over, another one may: so it asks as all others do.
            case Kind.CIRCUIT if block.probe != nonce or now >= block.probe_until:
                return _of_circuit(block, now)
            case Kind.CROWD if now < block.until:
                # What has waited longer comes back later: so a crowd is spread over as long as it has grown.
                return Wait(block=block, seconds=within_a_delay(max(block.until - now, (now - due) // 2)))
    return None


_ORDER: Final = (Kind.SUSPENSION, Kind.CIRCUIT, Kind.CROWD)


def _of_circuit(block: Block, now: Millis) -> Wait | Probe:
    if now < block.until:
        return Wait(block=block, seconds=within_a_delay(block.until - now))
    if block.probe and now < block.probe_until:
        return Wait(block=block, seconds=within_a_delay(PROBED))
    return Probe(block)


def crowd_wait(party: Party, waited: Millis, now: Millis) -> Wait:
    """Of what was claimed already, and found no room."""
    block = Block(kind=Kind.CROWD, party=party, revision=0, since=now, reason=CROWDED, until=now)
    return Wait(block=block, seconds=within_a_delay(waited // 2))


def within_a_delay(wait: Millis) -> int:
    """In whole seconds, as SQS can delay a message; never so short that asking is all that is done."""
    return min(max(-(-wait // SECOND), SHORTEST_WAIT), MAX_DELAY_SECONDS)
