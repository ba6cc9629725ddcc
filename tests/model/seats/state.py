"""All there is of the seats of one limit at one moment: the row, what environments have, and what is under way.

Time is counted from now on: what is over is PAST. So the same moment an hour later is the same state.
"""

from collections.abc import Sequence
from functools import cache
from typing import Final

from attrs import frozen

from delayer.flow.rules.block import Block, Party
from delayer.flow.rules.gate import NEEDED, TERM, Row, SeatHold
from delayer.flow.words import limited
from delayer.schedule.instants import SECOND, Millis
from tests.model.state import evolve

TICK: Final[Millis] = 20 * SECOND
LONGEST: Final = -(-NEEDED // TICK)  # ticks: an attempt is over then
NOW: Final[Millis] = 10 * TERM
ENDED: Final[Millis] = NOW - TICK  # the invocation of whoever has taken seats until then has ended, however it did
NOBODY: Final = -1  # the environment of an attempt whose own has died: the target works on it all the same


@frozen(kw_only=True, cache_hash=True)
class Budget:
    """What may still happen, and how often."""

    messages: int = 3
    seats: tuple[int, ...] = (2,)  # of the limit as it is, and after each change
    failures: int = 0  # attempts that are to be made again
    crashes: int = 0
    lost: int = 0  # answers to writes


@frozen(kw_only=True, cache_hash=True)
class Mine:
    """Seats that an environment has, as far as it knows."""

    hold: SeatHold
    generation: int  # of the limit when they were taken
    is_known: bool = True  # else nobody has told it whether they were taken


@frozen(kw_only=True, cache_hash=True)
class Attempt:
    """One that is under way."""

    name: str
    environment: int
    hold: str
    age: int = 0  # ticks


@frozen(kw_only=True, cache_hash=True)
class World:
    """One moment."""

    budget: Budget
    waiting: frozenset[str]
    row: tuple[str, Row] | None = None
    mine: tuple[tuple[Mine, ...], ...] = ((), ())  # of each of two environments
    running: tuple[Attempt, ...] = ()
    generation: int = 0
    broken: str = ""

    @property
    def is_done(self) -> bool:
        """Whether all were attempted."""
        return not self.waiting and not self.running

    @property
    def most(self) -> int:
        """Attempts at a time, as it is now."""
        return self.budget.seats[self.generation]

    def spend(self, what: str) -> "World":
        """One fewer may still happen."""
        return evolve(self, budget=evolve(self.budget, **{what: getattr(self.budget, what) - 1}))

    def having(self, environment: int, mine: Sequence[Mine]) -> "World":
        """With these seats of one environment."""
        all_of_them = list(self.mine)
        all_of_them[environment] = tuple(sorted(mine, key=lambda one: (one.hold.until, one.hold.id)))
        return evolve(self, mine=tuple(all_of_them))

    def with_running(self, running: Sequence[Attempt]) -> "World":
        """With these under way, in any order."""
        return evolve(self, running=tuple(sorted(running, key=lambda one: (one.environment, one.age, one.name))))


def limit_of(world: World) -> Block:
    """The limit as it is now."""
    return _limit(world.most, world.generation)


@cache
def _limit(most: int, generation: int) -> Block:
    party = Party(owner="o", target="http-request t")
    limit = limited(party, 0, 0, "", concurrency=most)
    return evolve(limit, revision=1 + generation)


def first(budget: Budget) -> World:
    """All are due, and nobody has a seat."""
    return World(budget=budget, waiting=frozenset("abcd"[: budget.messages]))


def later(world: World) -> World:
    """The same, when a tick has passed. What has taken its longest is over."""
    older = [evolve(one, age=one.age + 1) for one in world.running]
    held = tuple(
        tuple(evolve(one, hold=_aged(one.hold)) for one in mine if one.hold.until > ENDED) for mine in world.mine
    )
    row = world.row
    if row:
        row = (row[0], Row(taken=row[1].taken, holds=tuple(_aged(hold) for hold in row[1].holds)))
    return evolve(world.with_running([one for one in older if one.age < LONGEST]), mine=held, row=row)


def _aged(hold: SeatHold) -> SeatHold:
    return evolve(hold, until=max(hold.until - TICK, ENDED))
