"""The action canary, which no client can schedule."""

from typing import Final

from delayer.extension.executor import Action, Done, Message, Result, executor
from delayer.recovery.rules import Path

NEAR: Final = "CanaryNearLateness"
FAR: Final = "CanaryFarLateness"


class Canary(Action):
    """It reaches nothing. How late it arrives is measured."""

    path: Path


@executor("canary", internal=True, metrics=frozenset((NEAR, FAR)))
def handler(message: Message[Canary]) -> Result:
    """Measures how late it arrived."""
    late = handler.ports.clock.now() - message.point_in_time
    handler.ports.observer.measure_lateness(late, NEAR if message.action.path is Path.NEAR else FAR)
    return Done("arrived")
