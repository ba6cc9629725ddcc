"""Logs and metrics, to be looked at afterwards."""

from collections import Counter

from attrs import Factory, define

from delayer.core.schedule.instants import Millis
from delayer.ports.observer import Count, Lateness


@define
class MemoryObserver:
    """Port Observer."""

    lines: list[tuple[str, str, dict[str, object]]] = Factory(list)  # event, schedule id, facts
    warnings: list[str] = Factory(list)
    counts: Counter[Count] = Factory(Counter)
    lateness: list[Millis] = Factory(list)  # of the metric Lateness
    canaries: list[tuple[Lateness, Millis]] = Factory(list)  # and relaxed schedules: of all other metrics

    def note(self, event: str, schedule_id: str = "", **facts: object) -> None:
        self.lines.append((event, schedule_id, facts))

    def warn(self, event: str, schedule_id: str = "", **facts: object) -> None:
        self.note(event, schedule_id, **facts)
        self.warnings.append(event)

    def count(self, metric: Count, number: int = 1) -> None:
        self.counts[metric] += number

    def measure_lateness(self, lateness: Millis, metric: Lateness = "Lateness") -> None:
        if metric == "Lateness":
            self.lateness.append(lateness)
        else:
            self.canaries.append((metric, lateness))
