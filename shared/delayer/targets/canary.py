"""What the action `canary` measures (ADR 0075)."""

from collections.abc import Mapping
from typing import Final

from delayer.core.firing.canary import Path
from delayer.ports.observer import Lateness

LATENESS: Final[Mapping[Path, Lateness]] = {Path.NEAR: "CanaryNearLateness", Path.FAR: "CanaryFarLateness"}
