"""Logs and metrics (ADR 0031)."""

from typing import Literal, Protocol

from delayer.core.schedule.instants import Millis

Count = Literal[
    "Accepted",
    "Announced",
    "Asked",
    "BroughtBack",
    "Cancelled",
    "CircuitOpened",
    "Claimed",
    "DeadLettered",
    "Decided",
    "Delivered",
    "Dropped",
    "Enqueued",
    "Executed",
    "Failed",
    "Journaled",
    "Late",
    "Refused",
    "Retried",
    "NotBroughtBack",
    "SeriesFailed",
    "SeriesHealed",
    "SeriesStepped",
    "NotDecided",
    "SetAside",
    "SweepHeld",
    "Swept",
    "TimeRefused",
    "Unannounced",
    "Uncounted",
    "Undelivered",
    "Unexpected",
]
Lateness = Literal["Lateness", "RelaxedLateness", "CanaryNearLateness", "CanaryFarLateness", "UndecidedAge"]
Metric = Literal[Count, Lateness]


class Observer(Protocol):
    """What an operator sees."""

    def note(self, event: str, schedule_id: str = "", **facts: object) -> None:
        """One structured log line."""
        ...

    def warn(self, event: str, schedule_id: str = "", **facts: object) -> None:
        """A line that somebody should look at."""
        ...

    def count(self, metric: Count, number: int = 1) -> None:
        """Adds to a counter."""
        ...

    def measure_lateness(self, lateness: Millis, metric: Lateness = "Lateness") -> None:
        """One observation in milliseconds. `Lateness`: of the users' precise schedules alone, once they have a time."""
        ...
