"""The seats of a limit: who makes an attempt has one, and there are no more than attempts at a time (ADR 0115)."""

from collections.abc import Sequence
from typing import Final

from attrs import frozen

from delayer.core.flow.block import Block
from delayer.core.schedule.instants import SECOND, Millis

NEEDED: Final[Millis] = 36 * SECOND  # the longest attempt, what it is left behind after, and clocks that differ
TERM: Final[Millis] = 60 * SECOND  # so long a seat is taken for: what dies with it keeps it from others until then
CLEARED: Final = 20  # holds that are over, by one write


@frozen(kw_only=True)
class Hold:
    """Some seats that one execution environment has taken with one write."""

    id: str
    number: int
    until: Millis  # from then on they are others'

    @property
    def text(self) -> str:
        """What the row says about it: only whoever knows it all takes it away."""
        return f"{self.number} {self.until}"


@frozen(kw_only=True)
class Row:
    """Who has seats of a limit."""

    taken: int  # all that is in `holds`
    holds: tuple[Hold, ...]


@frozen(kw_only=True)
class Taking:
    """A write: `hold` for `gone`, if there are no more than `most` seats taken then, and nobody has removed `gone`."""

    hold: Hold
    gone: tuple[Hold, ...]
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
    return Taking(hold=Hold(id=hold_id, number=number, until=now + TERM), gone=gone, most=most)


def over(row: Row | None, now: Millis) -> tuple[Hold, ...]:
    """Those whose time is over: whoever had them has died, or has no more use for them."""
    return tuple(one for one in row.holds if one.until <= now)[:CLEARED] if row else ()


def is_usable(hold: Hold, now: Millis) -> bool:
    """Whether an attempt that begins now is over when these seats are others'."""
    return hold.until - now >= NEEDED


def seats_of(limit: Block) -> str:
    """Names its row: the same for the limit as it was and as it will be, so that what is under way counts."""
    return f"{limit.key}#seats"


def still_there(row: Row, holds: Sequence[Hold]) -> tuple[Hold, ...]:
    """Those that nobody has removed."""
    return tuple(one for one in holds if one in row.holds)
