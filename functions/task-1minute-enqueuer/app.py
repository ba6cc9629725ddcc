"""Every minute: deletes what has entered the delayer period."""

from delayer.aws import wiring
from delayer.aws.runtime import SystemClock, Threads, number
from delayer.aws.telemetry import Telemetry
from delayer.core.instants import SECOND
from delayer.use_cases.sweep import Tick

telemetry = Telemetry("task-1minute-enqueuer")
tick = Tick(
    clock=SystemClock(),
    schedules=wiring.schedule_table(),
    control=wiring.control(),
    delayer_queue=wiring.queue("DELAYER_QUEUE"),
    sweep_queue=wiring.queue("SWEEP_QUEUE"),
    observer=telemetry,
    parallel=Threads(),
    period=number("DELAYER_PERIOD") * SECOND,
)


@telemetry.observed
def handler(_event: object, _context: object) -> None:
    """One invocation."""
    tick()
