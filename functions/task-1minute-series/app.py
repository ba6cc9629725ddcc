"""Every minute: looks after the series that no event has stepped."""

from delayer.series.use_cases.tick import SeriesTick
from delayer.wiring.build import build
from delayer.wiring.environment import Environment

ports = Environment("task-1minute-series")
tick = build(SeriesTick, ports)


@ports.observer.observed
def handler(_event: object, _context: object) -> None:
    """One invocation."""
    tick()
