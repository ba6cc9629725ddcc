"""Bugs of limits of rate."""

from collections.abc import Sequence
from typing import Any

from delayer.flow.ports import Booked
from delayer.flow.rules.block import Block
from delayer.flow.rules.gate import Go, Later
from delayer.flow.rules.limit import line_of
from delayer.flow.use_cases import turns
from delayer.flow.use_cases.turns import Booking, InLine, Turns
from delayer.relay import relay
from delayer.schedule.messages import Slot
from tests.simulation.bugs.bug import Bug
from tests.simulation.oracle.invariant import Invariant

_near, _missed = Turns.near, InLine.missed
_lined_up = relay.Relay.lined_up


def _whenever(slots: Sequence[Slot], about: Sequence[Block], _: Any) -> tuple[Slot, ...]:
    lines = {line_of(limit) for limit in about}
    return tuple(slot for slot in slots if slot.line in lines)


def _always(*_: Any) -> bool:
    return True


def _from_memory(self: Any, line: str, planned: Any, *, is_new: bool) -> Booked:
    return Booked(max(planned.base, planned.first))


def _near_for_the_first(self: Any, asking: Sequence[Any]) -> None:
    _near(self, [one for one in asking if one.message.attempt == 1])


def _missed_by_the_first(self: Any, now: Any) -> Block | None:
    return _missed(self, now) if self.message.attempt == 1 else None


def _without_a_line(self: Any, due: Any, now: Any) -> Any:
    decisions = _lined_up(self, due, now)
    waits = [key for key, one in decisions.items() if isinstance(one, Later) and one.why and one.why.every]
    return decisions | {key: Go(message=due[key], at=due[key].schedule.point_in_time) for key in waits}


BUGS = (
    Bug(
        name="missed-turn-is-used",
        what="an attempt that has missed its turn is made all the same",
        breaks=Invariant.LIMITED,
        swaps=((turns, "held", _whenever), (turns, "is_in_time", _always)),
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
        swaps=((Turns, "near", _near_for_the_first), (InLine, "missed", _missed_by_the_first)),
    ),
    Bug(
        name="claimed-in-line",
        what="the relay books no turns; what waits in line is claimed, so that nobody can cancel it",
        breaks=Invariant.WAITS,
        swaps=((relay.Relay, "lined_up", _without_a_line),),
    ),
)
