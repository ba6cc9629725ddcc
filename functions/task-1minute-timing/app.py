"""Each minute: what still waits for its time is sent to the queue of its policy once more."""

from delayer.wiring import use_cases
from delayer.wiring.environment import Environment

ports = Environment("task-1minute-timing")
net = use_cases.timing_net(ports)


@ports.observer.observed
def handler(_event: object, _context: object) -> None:
    """One tick."""
    net()
