"""Deliberate bugs, in the order of the flow. Each is switched in on its own, and has to be found.

A simulation that finds nothing proves nothing until it is shown to find what is there.
"""

from tests.simulation.bugs import (
    client,
    enqueuer,
    executor,
    history,
    minute_task,
    recovery,
    relay,
    wishes,
)
from tests.simulation.bugs.bug import Bug
from tests.simulation.bugs.kinds import flow, limits, relaxed, series, timing

BUGS: tuple[Bug, ...] = (
    *enqueuer.BUGS,
    *minute_task.BUGS,
    *relay.BUGS,
    *executor.BUGS,
    *recovery.BUGS,
    *client.BUGS,
    *wishes.BUGS,
    *series.BUGS,
    *relaxed.BUGS,
    *timing.BUGS,
    *flow.BUGS,
    *limits.BUGS,
    *history.BUGS,
)
BY_NAME = {bug.name: bug for bug in BUGS}
