"""Every minute: deletes what has entered the delayer period."""

from delayer.wiring import use_cases
from delayer.wiring.environment import Environment

ports = Environment("task-1minute-enqueuer")
tick = use_cases.tick(ports)


@ports.observer.observed
def handler(_event: object, _context: object) -> None:
    """One invocation."""
    tick()
