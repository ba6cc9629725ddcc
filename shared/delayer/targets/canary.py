"""The action `canary`: it reaches nothing, and measures how late it arrived (ADR 0075)."""

from collections.abc import Callable, Mapping
from typing import Final

import msgspec
from attrs import frozen

from delayer.core.firing.canary import Path
from delayer.core.firing.executing import Done, Result
from delayer.core.schedule.instants import Millis
from delayer.core.schedule.messages import ExecutorMessage
from delayer.ports.observer import Lateness

LATENESS: Final[Mapping[Path, Lateness]] = {Path.NEAR: "CanaryNearLateness", Path.FAR: "CanaryFarLateness"}


class CanaryAction(msgspec.Struct):
    """The fields of the action. It is not in openapi.yaml: no client may send it."""

    path: Path


@frozen(kw_only=True)
class CanaryTarget:
    """Port Target."""

    now: Callable[[], Millis]
    measure: Callable[[Millis, Lateness], None]  # the lateness, and the metric to which it belongs

    def __call__(self, message: ExecutorMessage) -> Result:
        path = msgspec.json.decode(message.schedule.definition.action, type=CanaryAction).path
        self.measure(self.now() - message.schedule.point_in_time, LATENESS[path])
        return Done("arrived")
