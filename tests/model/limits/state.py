"""All there is of one line at one moment: its row, what environments know of it, and who has a turn.

Time is counted from now on: what is over is PAST. So the same moment an hour later is the same state.
"""

from typing import Any, Final

from attrs import evolve as changed
from attrs import frozen

from delayer.flow.rules.block import Block, Party
from delayer.flow.rules.limit import MICROS, TOLERANCE, Micros, line_of
from delayer.flow.words import limited
from delayer.schedule.instants import Millis
from delayer.schedule.messages import Slot
from tests.model.state import evolve

TICK: Final[Millis] = TOLERANCE
EVERY: Final = 2 * TICK * MICROS
NOW: Final[Millis] = 1_000_000
PAST: Final[Micros] = NOW * MICROS - 1
KEPT: Final[Millis] = 5 * TICK  # an attempt is remembered: three of them take longer
PATIENT: Final[Millis] = 1_000 * TICK  # it can wait for any turn
LIMIT: Final = limited(Party(owner="o", target="http-request t"), 0, EVERY, "")


def limit_of(generation: int) -> Block:
    """The limit, after it was changed so often."""
    return changed(LIMIT, revision=1 + generation)


@frozen(kw_only=True, cache_hash=True)
class Budget:
    """What may still happen, and how often."""

    messages: int = 3
    waits: Millis = PATIENT  # how long the last message can wait
    failures: int = 0  # attempts that are to be made again
    crashes: int = 0  # between a booking and its use
    lost: int = 0  # answers to bookings
    duplicates: int = 0  # deliveries
    changes: int = 0  # of the limit


@frozen(kw_only=True, cache_hash=True)
class Copy:
    """A message, one of those that are alike."""

    name: str
    slot: Slot | None = None
    left: Millis = PATIENT  # how long it can wait


@frozen(kw_only=True, cache_hash=True)
class World:
    """One moment."""

    budget: Budget
    copies: tuple[Copy, ...]
    rows: tuple[tuple[str, Micros], ...] = ()
    known: tuple[tuple[tuple[str, Micros], ...], ...] = ((), ())  # by each of two environments
    made: tuple[Millis, ...] = ()  # how long ago attempts were made under this limit
    generation: int = 0
    broken: str = ""

    def spend(self, what: str) -> "World":
        """One fewer may still happen."""
        return evolve(self, budget=evolve(self.budget, **{what: getattr(self.budget, what) - 1}))

    def having(self, copies: Any) -> "World":
        """With these, in any order."""
        order = sorted(copies, key=lambda one: (one.name, one.slot.at if one.slot else 0, one.left))
        return evolve(self, copies=tuple(order))

    @property
    def limit(self) -> Block:
        """As it is now."""
        return limit_of(self.generation)

    @property
    def line(self) -> str:
        """That of the limit as it is now."""
        return line_of(self.limit)


def first(budget: Budget) -> World:
    """All are due, and nobody has a turn."""
    names = "abcd"[: budget.messages]
    copies = tuple(Copy(name=name, left=budget.waits if name == names[-1] else PATIENT) for name in names)
    return World(budget=budget, copies=copies)


def later(world: World) -> World:
    """The same, when a tick has passed."""
    copies = [_older(one) for one in world.copies]
    return evolve(
        world.having([one for one in copies if one.left >= 0]),
        rows=_earlier(world.rows),
        known=tuple(_earlier(one) for one in world.known),
        made=tuple(age + TICK for age in world.made if age < KEPT),
    )


def _older(copy: Copy) -> Copy:
    slot = copy.slot and Slot(line=copy.slot.line, at=max(copy.slot.at - TICK, NOW - 2 * TICK))
    return evolve(copy, slot=slot, left=copy.left if copy.left == PATIENT else copy.left - TICK)


def _earlier(ends: tuple[tuple[str, Micros], ...]) -> tuple[tuple[str, Micros], ...]:
    return tuple((line, max(end - TICK * MICROS, PAST)) for line, end in ends)
