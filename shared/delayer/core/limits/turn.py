"""What a schedule does whose attempts are limited: books a turn, waits for it, or goes on (ADR 0114).

Of several limits about it, one is booked ahead. The others are booked when that turn has come: a turn on a line that
nobody waits in is there at once, and one that was booked far ahead on a second line would keep all others from it.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from attrs import frozen

from delayer.core.flow.block import Block
from delayer.core.limits.line import line_of
from delayer.core.schedule.instants import SECOND, Millis
from delayer.core.schedule.margins import MAX_DELAY_SECONDS
from delayer.core.schedule.messages import Slot

TOLERANCE: Final[Millis] = 100  # after its turn an attempt may begin so much later, and no more
PREPARE: Final[Millis] = 100  # before its turn: room in the function, and its row
MARGIN: Final[Millis] = SECOND  # by which a message that SQS delays is to come before its turn


@frozen(kw_only=True)
class Come:
    """Come again then: its turn is then, or nothing can be booked before."""

    at: Millis
    limit: Block
    has_turn: bool


@frozen(kw_only=True)
class Book:
    """Turns are to be booked on these, not before `earliest`."""

    limits: tuple[Block, ...]
    earliest: Millis


@frozen(kw_only=True)
class Near:
    """It is its turn, on all lines."""


def held(slots: Sequence[Slot], limits: Sequence[Block], now: Millis) -> tuple[Slot, ...]:
    """The turns that may still be used: those of other limits, and those that were missed, are void."""
    lines = {line_of(limit) for limit in limits}
    return tuple(slot for slot in slots if slot.line in lines and slot.at + TOLERANCE >= now)


def turn_of(slots: Sequence[Slot], due: Millis) -> Millis:
    """When its attempt may be made, by the turns that it has."""
    return max([due, *(slot.at for slot in slots)])


def decide_turn(
    slots: Sequence[Slot], limits: Sequence[Block], ends: Mapping[str, int], due: Millis, now: Millis
) -> Come | Book | Near:
    """What is next. `slots` are those that are held, `due` is when its attempt is due without any limit.

    `ends` are the ends of lines, as far as they are known.
    """
    turn = turn_of(slots, due)
    if slots and turn - now > PREPARE:
        return Come(at=turn, limit=_last(slots, limits), has_turn=True)
    fitting = {slot.line for slot in slots if slot.at + TOLERANCE >= turn}
    missing = tuple(limit for limit in limits if line_of(limit) not in fitting)
    if missing:
        return Book(limits=missing if fitting else (lead_of(limits, ends),), earliest=max(turn, now))
    return Near()


def lead_of(limits: Sequence[Block], ends: Mapping[str, int]) -> Block:
    """The one that is booked ahead: whose line is the longest as far as it is known, else the slowest."""
    return max(limits, key=lambda limit: (ends.get(line_of(limit), 0), limit.every))


def is_in_time(slots: Sequence[Slot], limits: Sequence[Block], now: Millis) -> bool:
    """Whether an attempt may begin now."""
    at = {slot.line: slot.at for slot in slots}
    return all(0 <= now - at.get(line_of(limit), now + 1) <= TOLERANCE for limit in limits)


def seconds_before(turn: Millis, now: Millis) -> int:
    """How long SQS is to delay the message of a turn: it comes before it, and waits for the rest."""
    return min(max((turn - now - MARGIN) // SECOND, 0), MAX_DELAY_SECONDS)


def _last(slots: Sequence[Slot], limits: Sequence[Block]) -> Block:
    line = max(slots, key=lambda slot: slot.at).line
    return next(limit for limit in limits if line_of(limit) == line)
