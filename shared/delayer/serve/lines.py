"""What the engine tells whoever operates it: lines on standard error, one each, and counts."""

import json
import sys
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final

from attrs import define, field

from delayer.engines.ports import Count, Lateness
from delayer.schedule.instants import SECOND, Millis

FIRINGS: Final = ("Lateness", "RelaxedLateness")
UP_TO: Final[tuple[Millis, ...]] = (10, 100, SECOND, 10 * SECOND)  # of lateness; the last class has no bound


@define(eq=False)
class Lines:
    """Port Observer. What is wrong is a line; what is as it should be is counted."""

    counts: Counter[str] = field(factory=Counter)
    late: list[int] = field(factory=lambda: [0] * (len(UP_TO) + 1))  # first attempts, in the classes of UP_TO
    write: Callable[[str], object] = field(default=lambda line: print(line, file=sys.stderr, flush=True))

    def note(self, event: str, schedule_id: str = "", **facts: object) -> None:
        """No line: the journal has it."""

    def warn(self, event: str, schedule_id: str = "", **facts: object) -> None:
        """One line of JSON."""
        said: dict[str, Any] = {"at": datetime.now(UTC).isoformat(timespec="milliseconds"), "warning": event}
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
