"""Every minute: looks after the series that no event has stepped."""

from delayer.wiring import use_cases
from delayer.wiring.environment import Environment

ports = Environment("task-1minute-series")
tick = use_cases.series_tick(ports)


@ports.observer.observed
def handler(_event: object, _context: object) -> None:
    """One invocation."""
    tick()
