"""One big bucket: deletes all that is in it, page by page."""

from typing import Any

from delayer.aws import wiring
from delayer.aws.queue import deliveries_of, partial_failure
from delayer.aws.runtime import SystemClock
from delayer.aws.telemetry import Telemetry
from delayer.use_cases.sweep_bucket import SweepBuckets

telemetry = Telemetry("sweep-bucket-enqueuer")
sweep = SweepBuckets(clock=SystemClock(), schedules=wiring.schedule_table(), observer=telemetry)


@telemetry.observed
def handler(event: dict[str, Any], _context: object) -> dict[str, Any]:
    """One invocation."""
    return partial_failure(sweep(deliveries_of(event)))
