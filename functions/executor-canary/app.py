"""The action canary, which no client can schedule."""

from delayer.core.firing.canary import Path
from delayer.extension.executor import Action, Done, Message, Result, executor
from delayer.targets.canary import LATENESS


class Canary(Action):
    """It reaches nothing. How late it arrives is measured."""

    path: Path


@executor("canary", internal=True, metrics=frozenset(LATENESS.values()))
def handler(message: Message[Canary]) -> Result:
    """Measures how late it arrived."""
    late = handler.ports.clock.now() - message.point_in_time
    handler.ports.observer.measure_lateness(late, LATENESS[message.action.path])
    return Done("arrived")
