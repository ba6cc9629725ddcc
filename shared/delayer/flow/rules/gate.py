"""Whether a schedule that is due may reach its target now (ADR 0110), with a seat (0115) and a share (0113)."""

import zlib
from collections.abc import Iterable, Sequence
from typing import Final, Generic, TypeVar

from attrs import frozen

from delayer.flow.rules.block import CROWDED, Block, BlockKind, Party
from delayer.flow.rules.comeback import asks_from, second_look, spread_of
from delayer.schedule.instants import MAX_DELAY_SECONDS, MINUTE, SECOND, Millis
from delayer.schedule.messages import DelayerMessage, ExecutorMessage

SHORTEST_WAIT: Final = 5  # seconds
PROBED: Final[Millis] = 10 * SECOND  # a probe takes so long if it is not answered; to ask before is a hop for nothing
LONGEST_OF_CROWD: Final[Millis] = MINUTE  # so that what has waited for long is not overtaken by all that came later
VOLUNTEERS: Final = 8  # one in so many asks first, by chance: a schedule that always fails must not always probe
JITTER: Final = 64  # part of the spread: what fell due at the same moment does not ask at the same moment
_ORDER: Final = (BlockKind.SUSPENSION, BlockKind.CIRCUIT, BlockKind.CROWD)
NEEDED: Final[Millis] = 36 * SECOND  # the longest attempt, what it is left behind after, and clocks that differ
TERM: Final[Millis] = 60 * SECOND  # so long a seat is taken for: what dies with it keeps it from others until then
CLEARED: Final = 20  # holds that are over, by one write
SLOTS: Final = 20  # attempts at a time: what a batch brings, and as many again while some of them take long
OWNER: Final = 4  # times the free slots: all targets of one owner together have four fifths at most


Message = TypeVar("Message", DelayerMessage, ExecutorMessage)


@frozen(kw_only=True)
class Go(Generic[Message]):
    """Nothing is in its way."""

    message: Message  # with the turns that are booked for it, and its age
    at: Millis  # when its attempt may begin: its turn, or its due time; of `enter` up to PREPARE ahead
    is_probe: bool = False  # of `enter` alone: it is let through to see whether its target answers


@frozen(kw_only=True)
class Later(Generic[Message]):
    """Not now. It is held until then if that is near, else it is sent again with a delay."""

    message: Message  # as in Go
    at: Millis  # when it is to be looked at again
    why: Block | None  # None: it is only not due yet


@frozen(kw_only=True)
class Wait:
    """Not now."""

    block: Block
    seconds: int  # before it is to ask again; 1 to 900


@frozen
class Probe:
    """The process that changes the row so may reach the target; all others wait."""

    block: Block


def decide_gate(blocks: Iterable[Block], party: Party, nonce: str, due: Millis, now: Millis) -> Wait | Probe | None:
    """None: nothing is in its way. `due` is when it would have reached its target: it asks more and more rarely."""
    about = sorted((block for block in blocks if block.party.covers(party)), key=lambda block: _ORDER.index(block.kind))
    waited = max(now - due, 0)
    for block in about:
        match block.kind:
            case BlockKind.SUSPENSION:
                longest = max(now - max(due, block.since), 0) // 2
                return Wait(block=block, seconds=within_a_delay(longest - _by_chance(block, nonce, longest // 4)))
            case BlockKind.CIRCUIT if block.is_comeback:
                if (early := asks_from(block, due) - now) > SHORTEST_WAIT * SECOND:
                    return Wait(block=block, seconds=within_a_delay(early))
            # When its probe is over, another one may: so it asks as all others do.
            case BlockKind.CIRCUIT if block.probe != nonce or now >= block.probe_until:
                return _of_circuit(block, nonce, due, now)
            case BlockKind.CROWD if not block.is_over(now):
                return Wait(block=block, seconds=_of_crowd(block, nonce, max(block.until - now, waited // 2)))
    return None


def _of_circuit(block: Block, nonce: str, due: Millis, now: Millis) -> Wait | Probe:
    """Those that wait ask after the pause in the order in which they fell due: so they come back oldest first.

    A few by chance ask before them, and one of these probes.
    """
    first = _by_chance(block, nonce, VOLUNTEERS) == 0
    spread = spread_of(block)
    ordered = asks_from(block, due) + _by_chance(block, nonce, spread // JITTER)
    if now < block.until:
        asks = block.until + _by_chance(block, nonce[::-1], spread // 4) if first else ordered
        return Wait(block=block, seconds=within_a_delay(asks - now))
    if block.probe and now < block.probe_until:
        return Wait(block=block, seconds=within_a_delay(max(ordered - now, PROBED)))
    return Probe(block)


def crowd_wait(party: Party, nonce: str, since: Millis, now: Millis) -> Wait:
    """Of what was claimed already, and has found no room. `since` is from when on it could have been attempted."""
    block = Block(kind=BlockKind.CROWD, party=party, revision=0, since=since, reason=CROWDED, until=now)
    return Wait(block=block, seconds=_of_crowd(block, nonce, max(now - since, 0) // 2))


def seat_wait(limit: Block, nonce: str, since: Millis, now: Millis) -> Wait:
    """Of what was claimed already, and has found no seat of a limit: it asks again as what is in a crowd does."""
    return Wait(block=limit, seconds=_of_crowd(limit, nonce, max(now - since, 0) // 2))


def comeback_wait(block: Block, nonce: str, due: Millis, now: Millis) -> Wait:
    """Of what has found no turn in a comeback: the oldest ask again first."""
    half = second_look(block, due, now) // 2
    wait = SHORTEST_WAIT * SECOND + half + _by_chance(block, nonce, max(half, PROBED))
    return Wait(block=block, seconds=within_a_delay(wait))


def _of_crowd(block: Block, nonce: str, wait: Millis) -> int:
    """A crowd is spread over as long as it has grown, up to a minute."""
    longest = min(wait, LONGEST_OF_CROWD)
    return within_a_delay(longest - _by_chance(block, nonce, longest // 2))


def _by_chance(block: Block, nonce: str, below: Millis) -> Millis:
    """From 0 up to `below`: another one for each schedule and each change of the row, and always the same for both."""
    return below * zlib.crc32(f"{nonce} {block.since} {block.revision}".encode()) >> 32


def within_a_delay(wait: Millis) -> int:
    """In whole seconds, as SQS can delay a message; never so short that asking is all that is done."""
    return min(max(-(-wait // SECOND), SHORTEST_WAIT), MAX_DELAY_SECONDS)


@frozen(kw_only=True)
class SeatHold:
    """Some seats that one execution environment has taken with one write."""

    id: str
    number: int
    until: Millis  # from then on they are others'

    @property
    def text(self) -> str:
        """The value in the row: only whoever knows all of it takes it away."""
        return f"{self.number} {self.until}"


@frozen(kw_only=True)
class Row:
    """The row of a limit says who has seats of it."""

    taken: int  # all that is in `holds`
    holds: tuple[SeatHold, ...]


@frozen(kw_only=True)
class Taking:
    """A write: `hold` for `gone`, if there are no more than `most` seats taken then, and nobody has removed `gone`."""

    hold: SeatHold
    gone: tuple[SeatHold, ...]
    most: int

    @property
    def by(self) -> int:
        """How many more seats are taken then. May be less than nothing."""
        return self.hold.number - sum(one.number for one in self.gone)


def take(row: Row | None, wanted: int, most: int, now: Millis, hold_id: str) -> Taking | None:
    """As many as are wanted and free; None: none is. Who does not know the row asks for all that could be."""
    gone = over(row, now)
    taken = row.taken - sum(one.number for one in gone) if row else 0
    number = min(wanted, most - taken)
    if number <= 0:
        return None
    return Taking(hold=SeatHold(id=hold_id, number=number, until=now + TERM), gone=gone, most=most)


def over(row: Row | None, now: Millis) -> tuple[SeatHold, ...]:
    """Returns the seats whose time is over: the function that had them has died, or has no more use for them."""
    return tuple(one for one in row.holds if one.until <= now)[:CLEARED] if row else ()


def is_usable(hold: SeatHold, now: Millis) -> bool:
    """Whether an attempt that begins now is over when these seats are others'."""
    return hold.until - now >= NEEDED


def seats_of(limit: Block) -> str:
    """Names its row: the same for the limit as it was and as it will be, so that what is under way counts."""
    return f"{limit.key}#seats"


def still_there(row: Row, holds: Sequence[SeatHold]) -> tuple[SeatHold, ...]:
    """Returns the seats that nobody has removed."""
    return tuple(one for one in holds if one in row.holds)


def has_room(of_party: int, of_owner: int, all_running: int, slots: int = SLOTS) -> bool:
    """Whether one more attempt may begin, given how many of its target, of its owner and of all are under way."""
    free = slots - all_running
    return of_party < free and of_owner < OWNER * free
