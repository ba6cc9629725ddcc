"""Bugs of limits of rate."""

from collections.abc import Mapping, Sequence
from typing import Any

from delayer.flow.ports import Booked
from delayer.flow.rules.block import Block
from delayer.flow.rules.limit import line_of
from delayer.flow.use_cases import limits
from delayer.flow.use_cases.limits import Booking, Limits
from delayer.flow.use_cases.turns import Turns
from delayer.schedule.messages import ExecutorMessage, Slot
from tests.simulation.bugs.bug import Bug
from tests.simulation.oracle.invariant import Invariant

_turn, _begin = Limits.turn, Limits.begin


def _whenever(slots: Sequence[Slot], about: Sequence[Block], _: Any) -> tuple[Slot, ...]:
    lines = {line_of(limit) for limit in about}
    return tuple(slot for slot in slots if slot.line in lines)


def _always(*_: Any) -> bool:
    return True


def _from_memory(self: Any, line: str, planned: Any, *, is_new: bool) -> Booked:
    return Booked(max(planned.base, planned.first))


def _only_the_first(self: Any, message: ExecutorMessage) -> Any:
    return _turn(self, message) if message.attempt == 1 else (message, None)


def _begin_the_first(self: Any, message: ExecutorMessage) -> None:
    if message.attempt == 1:
        _begin(self, message)


def _without_a_line(self: Any, asking: Mapping[str, Any], ready: Any) -> dict[str, Any]:
    return dict(asking)


BUGS = (
    Bug(
        name="missed-turn-is-used",
        what="an attempt that has missed its turn is made all the same",
        breaks=Invariant.LIMITED,
        swaps=((limits, "held", _whenever), (limits, "is_in_time", _always)),
    ),
    Bug(
        name="line-in-memory",
        what="each environment books turns by what it remembers of a line, and nobody compares",
        breaks=Invariant.LIMITED,
        swaps=((Booking, "write", _from_memory),),
    ),
    Bug(
        name="retry-without-a-turn",
        what="only first attempts book turns, retries do not",
        breaks=Invariant.LIMITED,
        swaps=((Limits, "turn", _only_the_first), (Limits, "begin", _begin_the_first)),
    ),
    Bug(
        name="claimed-in-line",
        what="the relay books no turns; what waits in line is claimed, so that nobody can cancel it",
        breaks=Invariant.WAITS,
        swaps=((Turns, "ahead", _without_a_line),),
    ),
)
