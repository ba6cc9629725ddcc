"""Every minute: deletes what has entered the delayer period."""

from delayer.enqueue.sweep import Tick
from delayer.wiring.build import build
from delayer.wiring.environment import Environment

ports = Environment("task-1minute-enqueuer")
tick = build(Tick, ports)


@ports.observer.observed
def handler(_event: object, _context: object) -> None:
    """One invocation."""
    tick()
