"""The line of a limit: turns in time, one after the other, booked ahead (ADR 0114).

This is virtual scheduling, as ATM and GCRA have it: a line is nothing but the time of its next turn that is free.
"""

from collections.abc import Sequence
from typing import Final

from attrs import frozen

from delayer.core.flow.block import Block
from delayer.core.schedule.instants import Millis

MICROS: Final = 1_000  # in a millisecond
Micros = int  # since the epoch


@frozen(kw_only=True)
class Want:
    """A turn that is asked for."""

    earliest: Millis  # its schedule is not due before that
    latest: Millis  # after that it would be of no use


@frozen(kw_only=True)
class Plan:
    """Which turns those who ask would have, if the line's next free turn were `base`."""

    base: Micros
    turns: tuple[Micros | None, ...]  # None: the line is longer than that one can wait
    end: Micros  # the line's next free turn then
    slack: Micros  # by how much later the line may begin, and all turns are of use still

    @property
    def first(self) -> Micros | None:
        """The first turn; None if nobody has one."""
        return next((turn for turn in self.turns if turn is not None), None)

    @property
    def at(self) -> list[Millis | None]:
        """The turns in whole milliseconds, never earlier than they are."""
        return [None if turn is None else -(-turn // MICROS) for turn in self.turns]


def plan(base: Micros, every: Micros, wants: Sequence[Want]) -> Plan:
    """Each in order of `wants` takes the next turn that is not too early for it. Turns between them stay unused.

    If the line begins later than was thought, each turn comes later by at most that much. So whoever was refused
    nothing for an earlier `base` finds room in the same stretch of the line.
    """
    turns: list[Micros | None] = []
    cursor, slack = base, 10**18
    for want in wants:
        turn = max(cursor, want.earliest * MICROS)
        if turn > want.latest * MICROS:
            turns.append(None)
            continue
        turns.append(turn)
        slack = min(slack, want.latest * MICROS - turn)
        cursor = turn + every
    return Plan(base=base, turns=tuple(turns), end=cursor, slack=slack)


def line_of(limit: Block) -> str:
    """Names its line. A limit that was changed, or set anew, begins another one."""
    return f"{limit.key}#{limit.since}.{limit.revision}"
