"""Books turns in the line of a limit: one write for all that a batch needs (ADR 0114)."""

from collections.abc import Sequence
from typing import Final

from attrs import define, field

from delayer.core.flow.block import Block
from delayer.core.limits.line import MICROS, Micros, Plan, Want, line_of, plan
from delayer.core.schedule.instants import DAY, Millis
from delayer.ports.lines import Booked, BooksTurns, Elsewhere
from delayer.ports.unavailable import Unavailable

ROUNDS: Final = 4
KEPT: Final = 1_000  # lines whose end is remembered
FORGOTTEN_AFTER: Final[Millis] = DAY  # the row of a line, after the last turn that may be booked by this write


@define(kw_only=True)
class Booking:
    """What this environment knows of each line: how far it is booked at least. A line never grows shorter."""

    lines: BooksTurns
    ends: dict[str, Micros] = field(factory=dict, init=False)

    def book(self, limit: Block, wants: Sequence[Want]) -> list[Millis | None]:
        """A turn for each; None if the line is longer than that one can wait: it gets none. Raises Unavailable.

        It is one write, whose form goes by what is known. If others have booked beyond that, the refusal says how far
        the line is, and a second write is made.
        """
        line, is_gone = line_of(limit), False
        for _ in range(ROUNDS):
            planned = plan(self.ends.get(line, 0), limit.every, wants)
            if planned.first is None:
                return planned.at
            answer = self.write(line, planned, is_new=is_gone or planned.base < planned.first)
            if isinstance(answer, Booked):
                final = plan(answer.base, limit.every, wants)
                self._note(line, max(final.end, answer.base + planned.end - planned.first))
                return final.at
            is_gone = not answer.next
            self._note(line, answer.next)
        raise Unavailable(f"others book the turns of {limit.key} all the time")

    def write(self, line: str, planned: Plan, *, is_new: bool) -> Booked | Elsewhere:
        """Begins the line there, or adds to its end. Raises Unavailable."""
        first, by = planned.first or 0, planned.end - (planned.first or 0)
        if is_new:
            return self.lines.begin_line(line, first, planned.end, planned.end // MICROS + FORGOTTEN_AFTER)
        expires_at = (planned.end + planned.slack) // MICROS + FORGOTTEN_AFTER
        return self.lines.extend_line(line, first, by, planned.slack, expires_at)

    def _note(self, line: str, end: Micros) -> None:
        self.ends[line] = max(end, self.ends.pop(line, 0))
        if len(self.ends) > KEPT:
            self.ends.pop(next(iter(self.ends)), None)
