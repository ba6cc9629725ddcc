"""The engine's words for whoever operates it: lines on standard error, one each, and counts."""

import json
import sys
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from attrs import define, evolve, field

from delayer.engines.ports import Count, Lateness
from delayer.schedule.instants import SECOND, Millis

FIRINGS: Final = ("Lateness", "RelaxedLateness")
UP_TO: Final[tuple[Millis, ...]] = (10, 100, SECOND, 10 * SECOND)  # of lateness; the last class has no bound


@define(kw_only=True, eq=False)
class LogLines:
    """Port Observer. What is wrong is a line; what is as it should be is counted."""

    counts: Counter[str] = field(factory=Counter)
    late: list[int] = field(factory=lambda: [0] * (len(UP_TO) + 1))  # first attempts, in the classes of UP_TO
    write: Callable[[str], object] = field(default=lambda line: print(line, file=sys.stderr, flush=True))
    has_notes: bool = False

    @property
    def with_notes(self) -> "LogLines":
        """For what others have written: they say what is worth a line."""
        return evolve(self, has_notes=True)

    def note(self, event: str, schedule_id: str = "", **facts: object) -> None:
        """No line for what Delayer notes: the journal has it."""
        if self.has_notes:
            self._write("note", event, schedule_id, facts)

    def warn(self, event: str, schedule_id: str = "", **facts: object) -> None:
        """One line of JSON."""
        self._write("warning", event, schedule_id, facts)

    def _write(self, kind: str, event: str, schedule_id: str, facts: Mapping[str, object]) -> None:
        said: dict[str, Any] = {"at": datetime.now(UTC).isoformat(timespec="milliseconds"), kind: event}
        self.write(json.dumps({**said, **({"scheduleId": schedule_id} if schedule_id else {}), **facts}, default=str))

    def count(self, metric: Count, number: int = 1) -> None:
        self.counts[metric] += number

    def measure_lateness(self, lateness: Millis, metric: Lateness = "Lateness") -> None:
        """In classes; the history of each schedule has it exactly."""
        if metric in FIRINGS:
            self.late[bisect_left(UP_TO, lateness)] += 1

    def observed(self, handler: Callable[..., Any]) -> Callable[..., Any]:
        """Nothing is flushed, and nothing traced."""
        return handler
