"""Every state of the net over one series, breadth first."""

from delayer.series.rules.series import SeriesState
from tests.model.net.rules import REAL, Rules
from tests.model.net.state import Budget, World, first
from tests.model.net.steps import steps
from tests.model.search import Found, explore


def broken(world: World) -> str:
    """What is wrong; empty if nothing is."""
    current = world.cursor.current
    if current and world.cursor.state is SeriesState.ACTIVE:
        if (world.address(current), current) not in world.filed:
            return "no event finds the series"
        if not any(minute >= world.watermark for minute, one in world.filed if one == current):
            return "the net will never look at what the series waits for"
    left = {one for minute, one in world.filed if minute < world.watermark and one != current}
    return "something is left behind the watermark" if left else ""


def search(budget: Budget, rules: Rules = REAL, limit: int = 10**9) -> Found[World]:
    """Visits every state, from the first occurrence on. Ends at the first that is wrong."""
    return explore(first(budget), lambda world: steps(world, rules), broken, lambda _: "", limit)
