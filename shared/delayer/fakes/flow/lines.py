"""The lines of limits, in memory."""

from attrs import Factory, define

from delayer.core.limits.line import Micros
from delayer.core.schedule.instants import Millis
from delayer.ports.lines import Booked, Elsewhere


@define
class MemoryLines:
    """Port Lines."""

    rows: dict[str, Micros] = Factory(dict)
    writes: int = 0

    def begin_line(self, line: str, first: Micros, end: Micros, expires_at: Millis) -> Booked | Elsewhere:  # noqa: ARG002
        self.writes += 1
        current = self.rows.get(line, 0)
        if current > first:
            return Elsewhere(current)
        self.rows[line] = end
        return Booked(first)

    def extend_line(
        self,
        line: str,
        known: Micros,
        by: Micros,
        slack: Micros,
        expires_at: Millis,  # noqa: ARG002
    ) -> Booked | Elsewhere:
        self.writes += 1
        current = self.rows.get(line, 0)
        if not current or not known <= current <= known + slack:
            return Elsewhere(current)
        self.rows[line] = current + by
        return Booked(current)

    def line_ends(self) -> dict[str, Micros]:
        return dict(self.rows)
