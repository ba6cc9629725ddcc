"""What an owner is told about a schedule that waits although it is due (ADR 0110)."""

from collections.abc import Iterable
from typing import Final

from attrs import frozen

from delayer.core.flow.block import Block, Kind
from delayer.core.flow.comeback import LONGEST_SPREAD
from delayer.core.flow.party import Party
from delayer.core.schedule.instants import Millis

ASKED_SOON: Final[Millis] = 2 * LONGEST_SPREAD  # after the end of a pause, what it has kept back has asked again


@frozen(kw_only=True)
class Waiting:
    """Why, as far as its owner may know it."""

    kind: Kind
    reason: str
    since: Millis  # from then on, whoever is due waits
    until: Millis = 0  # of a circuit: when it is probed; of a crowd: when it is over; 0: not known, or any moment now


def waiting_for(blocks: Iterable[Block], party: Party, next_attempt_at: Millis, now: Millis) -> Waiting | None:
    """What keeps back a schedule that is due now, or waits for the attempt at `next_attempt_at`; None: nothing does.

    An attempt that is planned for later than the end of a pause waits for its own time, and not for the circuit. A
    crowd that is over keeps back nobody, though its row is still there.
    """
    about = sorted((block for block in blocks if block.party.covers(party)), key=_in_order)
    for block in about:
        if block.is_over(now):
            continue
        if block.kind is not Kind.SUSPENSION and next_attempt_at > max(block.until, now) + ASKED_SOON:
            continue
        until = block.until if block.until > now and not block.is_comeback else 0
        return Waiting(kind=block.kind, reason=block.reason, since=block.since, until=until)
    return None


def _in_order(block: Block) -> tuple[bool, bool, Millis]:
    """What lasts longest is said first, and a limit last: it keeps back only what has come too fast."""
    return block.kind is not Kind.SUSPENSION, block.kind is Kind.LIMIT, block.since
