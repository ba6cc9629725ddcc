"""Each minute: what still waits for its time is sent to the queue of its policy once more."""

from delayer.timing.ask import TimingNet
from delayer.wiring.build import build
from delayer.wiring.environment import Environment

ports = Environment("task-1minute-timing")
net = build(TimingNet, ports)


@ports.observer.observed
def handler(_event: object, _context: object) -> None:
    """One tick."""
    net()
